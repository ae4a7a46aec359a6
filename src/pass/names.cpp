#include "pass/names.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>

#include "pass/marks.h"

namespace cleave {

using namespace llvm;

namespace {

AccessName from_metadata(const MDNode& node) {
  AccessName name;
  if (const auto* text = dyn_cast_or_null<MDString>(node.getOperand(0))) name.variable = text->getString();
  if (const auto* text = dyn_cast_or_null<MDString>(node.getOperand(1))) name.type = text->getString();
  name.object = dyn_cast_or_null<DICompositeType>(node.getOperand(2));
  name.offset = mdconst::extract<ConstantInt>(node.getOperand(3))->getZExtValue();
  return name;
}

}  // namespace

void Names::find(Module&) {}

AccessName Names::of(const Instruction& access, const Value* pointer, bool write) const {
  if (const MDNode* node = access.getMetadata(kPlaceMetadata)) return from_metadata(*node);
  if (const DILocation* location = access.getDebugLoc().get()) {
    auto known = by_position_.find({location->getScope(), location->getLine(), location->getColumn(), write});
    if (known != by_position_.end() && known->second != nullptr) return from_metadata(*known->second);
  }
  if (const auto* variable = dyn_cast<GlobalVariable>(getUnderlyingObject(pointer))) {
    SmallVector<DIGlobalVariableExpression*, 1> debug;
    variable->getDebugInfo(debug);
    if (!debug.empty()) return {debug[0]->getVariable()->getName(), {}, nullptr, 0};
  }
  return {};
}

}  // namespace cleave
