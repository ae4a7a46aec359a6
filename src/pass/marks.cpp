#include "pass/marks.h"

namespace cleave {

using namespace llvm;

namespace {

bool calls(const CallBase& call, StringRef name) {
  const auto* callee = dyn_cast_or_null<Function>(call.getCalledOperand());
  return callee != nullptr && callee->getName() == name;
}

}  // namespace

bool is_unit_begin(const CallBase& call) { return calls(call, kUnitBeginMark); }
bool is_unit_end(const CallBase& call) { return calls(call, kUnitEndMark); }

}  // namespace cleave
