// Expressions as solver terms. Width 1 is Bool, 0 is Int, everything else a bit-vector.
#pragma once

#include <z3++.h>

#include <map>
#include <stdexcept>

#include "feasibility/lift/symbolic_trace.h"

namespace cleave {

// The trace does not say what a formula would need.
struct NotModelled : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Z3Terms {
 public:
  Z3Terms(z3::context& context, const SymbolicTrace& trace) : context_(context), trace_(trace) {}

  // Linear in the part of the DAG not yet converted. Throws NotModelled where there is no expression.
  z3::expr term(ExpressionId id);
  z3::expr symbol(SymbolId id);
  z3::expr fresh(const char* prefix, uint8_t width);

 private:
  z3::expr convert(const Expression& e);
  z3::expr bits(ExpressionId id);  // Bool as a bit-vector of one bit
  z3::sort sort(uint8_t width);
  z3::context& context_;
  const SymbolicTrace& trace_;
  std::map<uint32_t, z3::expr> terms_, symbols_;
  unsigned fresh_ = 0;
};

}  // namespace cleave
