#include "feasibility/solve/formula.h"

#include <boost/unordered/unordered_flat_map.hpp>

namespace cleave {

void Formula::collect(const ExpressionPool& pool, ExpressionId id) {
  boost::unordered_flat_map<uint32_t, uint32_t> places;
  std::vector<ExpressionId> open{id};
  while (!open.empty()) {
    ExpressionId next = open.back();
    if (places.contains(raw(next))) {
      open.pop_back();
      continue;
    }
    const Expression& e = pool[next];
    bool ready = true;
    for (ExpressionId child : {e.a, e.b, e.c}) {
      if (child != kNone<ExpressionId> && !places.contains(raw(child))) {
        open.push_back(child);
        ready = false;
      }
    }
    if (!ready) continue;
    open.pop_back();
    auto place = [&](ExpressionId child) { return child == kNone<ExpressionId> ? 0 : places.at(raw(child)); };
    places.emplace(raw(next), static_cast<uint32_t>(nodes_.size()));
    nodes_.push_back(
        {e, place(e.a), place(e.b), place(e.c), e.a == kNone<ExpressionId> ? e.width : pool[e.a].width});
  }
  results_.resize(nodes_.size());
}

uint64_t Formula::evaluate(const uint64_t* values) const {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    results_[i] = node.expression.op == Op::Symbol
                      ? truncate(values[node.expression.value], node.expression.width)
                      : apply(node.expression, results_[node.a], results_[node.b], results_[node.c],
                              node.operand_width);
  }
  return results_.back();
}

}  // namespace cleave
