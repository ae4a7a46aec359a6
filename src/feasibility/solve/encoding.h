// One slice and one triple as a formula (CTP's Φ with the cut of docs/predict-symbolic.md).
#pragma once

#include <z3++.h>

#include <map>
#include <optional>
#include <vector>

#include "feasibility/solve/cone.h"
#include "feasibility/solve/feasibility.h"
#include "feasibility/solve/slice.h"
#include "feasibility/solve/z3_terms.h"

namespace cleave {

enum class Closing : uint8_t {
  Open,    // what needs an event outside the slice is free: unsatisfiable is final
  Closed,  // nothing outside happens before the cut: satisfiable is final
};

// Making a formula took longer than there is time for all questions.
struct OutOfTime {};

class Encoding {
 public:
  // Throws OutOfTime and NotModelled.
  Encoding(z3::context& context, SymbolicTrace& trace, const SliceIndex& index, const Slice& slice,
           const Cone& cone, const std::vector<std::vector<Section>>& derived, const FeasibilityQuery& query,
           const FeasibilityOptions& options, Closing closing);

  z3::check_result check(uint64_t effort);
  std::string reason() const { return solver_.reason_unknown(); }

  // After satisfiable: events before the cut, in order.
  std::vector<EventIndex> order(const z3::model& model) const;
  z3::model model() const { return solver_.get_model(); }
  std::map<std::string, uint64_t> inputs(const z3::model& model);
  // Open only: events outside the slice that could serve what the model left unserved.
  std::vector<uint32_t> missing(const z3::model& model);

 private:
  struct Free {  // a read, wake or down that the slice may not serve
    uint32_t event;
    std::vector<uint32_t> outside;
  };

  void program_order();
  void reads_and_conditions();
  void locks();
  void exclude(std::span<const Section> sections);
  void condition_variables();
  void semaphores();
  void violation();

  bool useful(uint32_t at, uint32_t server) const;
  z3::expr position(uint32_t event) const { return positions_.at(event); }
  z3::expr before(uint32_t a, uint32_t b) { return position(a) < position(b); }
  z3::expr happens(uint32_t event) { return position(event) < cut_; }
  // `value` is what the variable holds just before `event`.
  std::optional<z3::expr> last_value(uint32_t event, VariableId variable, const z3::expr& value,
                                     uint8_t width);
  // A store that moves: whether it goes to the variable. Nothing for one that always does.
  std::optional<z3::expr> goes_to(uint32_t write, VariableId variable);
  z3::expr value_before(uint32_t event, VariableId variable, uint8_t width);
  std::vector<uint32_t> outside_writers(uint32_t event, VariableId variable) const;
  const Event& event(uint32_t i) const { return index_.trace().events()[i]; }

  z3::context& context_;
  SymbolicTrace& trace_;
  const SliceIndex& index_;
  const Slice& slice_;
  const Cone& cone_;
  const std::vector<std::vector<Section>>& derived_;  // locks made by hand
  const FeasibilityQuery& query_;
  const FeasibilityOptions& options_;
  const Closing closing_;
  Z3Terms terms_;
  z3::solver solver_;
  z3::expr cut_;
  std::map<uint32_t, z3::expr> positions_;
  std::vector<Free> free_;
};

}  // namespace cleave
