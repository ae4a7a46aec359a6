#include "cli/constraints.h"

#include <filesystem>

#include "cli/findings_output.h"
#include "trace/core/load.h"

namespace cleave::cli {

Status add_constraints(const std::string& file, exec::RunRequest& request,
                       std::optional<TemporaryFile>& sites) {
  if (file.empty()) return Done{};
  if (request.policy != Policy::Rf) return Error{"--constraints", "are of --schedule rf: say that too"};
  Result<std::string> text = read_text_file(file);
  if (!text) return text.error();
  Result<std::vector<Constraint>> constraints = parse_constraints(text.value(), file);
  if (!constraints) return constraints.error();
  if (constraints.value().empty()) return Error{file, "has no constraints"};
  Result<TemporaryFile> made = TemporaryFile::make("sites");
  if (!made) return made.error();
  sites = std::move(made).value();
  exec::RunRequest serial = request;
  serial.policy = Policy::Serial;
  serial.trace = sites->path();
  serial.quiet = true;
  Result<exec::RunOutcome> run = exec::run(serial);
  if (!run) return run.error();
  if (Status known = exec::check_constraints(constraints.value(), sites->path()); !known) return known;
  request.constraints = std::move(constraints).value();
  request.sites = sites->path();
  return Done{};
}

void ConstraintSource::before(exec::RunRequest& request) {
  if (!samples_ || !sites_) return;
  Random random(request.seed);
  request.constraints = reads_from_.sample(random);
  request.sites = sites_->path();
}

void ConstraintSource::after(const exec::RunRequest& request) {
  if (!samples_) return;
  Result<Trace> trace = load_trace(request.trace);
  if (!trace) return;  // this run teaches nothing
  if (reads_from_.add(trace.value()) != 0) reads_from_.reward(request.constraints);
  if (sites_) return;
  Result<TemporaryFile> made = TemporaryFile::make("sites");
  if (!made) return;
  std::error_code failed;
  std::filesystem::copy_file(request.trace, made.value().path(),
                             std::filesystem::copy_options::overwrite_existing, failed);
  if (!failed) sites_ = std::move(made).value();
}

}  // namespace cleave::cli
