// An expression made ready for evaluating it many times: its nodes in order, children first.
#pragma once

#include <vector>

#include "feasibility/lift/expression.h"

namespace cleave {

class Formula {
 public:
  Formula() = default;
  // `number` gives the place of a symbol's value in what evaluate takes.
  template <typename Number>
  Formula(const ExpressionPool& pool, ExpressionId id, Number number) {
    collect(pool, id);
    for (Node& node : nodes_) {
      if (node.expression.op == Op::Symbol)
        node.expression.value = number(SymbolId{static_cast<uint32_t>(node.expression.value)});
    }
  }

  bool empty() const { return nodes_.empty(); }
  // O(nodes). Not for two threads at once.
  uint64_t evaluate(const uint64_t* values) const;

 private:
  struct Node {
    Expression expression;
    uint32_t a, b, c;  // places of children in nodes_
    uint8_t operand_width;
  };
  void collect(const ExpressionPool& pool, ExpressionId id);
  std::vector<Node> nodes_;
  mutable std::vector<uint64_t> results_;
};

}  // namespace cleave
