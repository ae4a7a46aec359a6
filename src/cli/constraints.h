// Constraints of the policy `rf`: from --constraints, or sampled from what earlier runs did.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/temporary.h"
#include "exec/run.h"
#include "hunt/reads_from.h"

namespace cleave::cli {

// Puts the constraints of the file (empty: none) into a request of the policy rf. Where its places are is
// known from a trace: a serial run makes one, which lasts as long as `sites`.
Status add_constraints(const std::string& file, exec::RunRequest& request,
                       std::optional<TemporaryFile>& sites);

// Runs under rf without a file: the first has no constraints, each later one those that ask for what no run
// before it did. For other policies nothing happens.
class ConstraintSource {
 public:
  explicit ConstraintSource(const exec::RunRequest& request)
      : samples_(request.policy == Policy::Rf && request.constraints.empty()) {}
  void before(exec::RunRequest& request);
  void after(const exec::RunRequest& request);  // the run is over; its trace is there

 private:
  bool samples_;
  hunt::ReadsFrom reads_from_;
  std::optional<TemporaryFile> sites_;  // a copy of the first trace
};

}  // namespace cleave::cli
