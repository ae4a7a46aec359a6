#include "pass/record/initial_bytes.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Module.h>

namespace cleave {

using namespace llvm;

namespace {

void put_integer(const APInt& value, uint64_t bytes, uint8_t* out) {
  for (uint64_t i = 0; i < bytes && i * 8 < value.getBitWidth(); ++i) {
    unsigned bits = std::min<unsigned>(8, value.getBitWidth() - static_cast<unsigned>(i) * 8);
    out[i] = static_cast<uint8_t>(value.extractBitsAsZExtValue(bits, static_cast<unsigned>(i) * 8));
  }
}

bool put(const Constant* value, const DataLayout& layout, uint8_t* out) {
  if (value->isZeroValue() || isa<UndefValue>(value)) return true;
  uint64_t bytes = layout.getTypeStoreSize(value->getType());
  if (const auto* number = dyn_cast<ConstantInt>(value))
    return put_integer(number->getValue(), bytes, out), true;
  if (const auto* number = dyn_cast<ConstantFP>(value)) {
    return put_integer(number->getValueAPF().bitcastToAPInt(), bytes, out), true;
  }
  auto* type = dyn_cast<StructType>(value->getType());
  uint64_t count = type != nullptr                    ? type->getNumElements()
                   : isa<ArrayType>(value->getType()) ? cast<ArrayType>(value->getType())->getNumElements()
                   : isa<FixedVectorType>(value->getType())
                       ? cast<FixedVectorType>(value->getType())->getNumElements()
                       : 0;
  if (count == 0) return false;  // an address, or an expression of one
  for (uint64_t i = 0; i < count; ++i) {
    const Constant* element = value->getAggregateElement(static_cast<unsigned>(i));
    if (element == nullptr) return false;
    uint64_t offset =
        type != nullptr
            ? layout.getStructLayout(type)->getElementOffset(static_cast<unsigned>(i)).getFixedValue()
            : i * layout.getTypeAllocSize(element->getType()).getFixedValue();
    if (!put(element, layout, out + offset)) return false;
  }
  return true;
}

}  // namespace

std::vector<uint8_t> initial_bytes(const GlobalVariable& variable, uint64_t largest) {
  const DataLayout& layout = variable.getParent()->getDataLayout();
  uint64_t size = layout.getTypeAllocSize(variable.getValueType());
  if (!variable.hasInitializer() || size > largest) return {};
  std::vector<uint8_t> bytes(size);
  if (!put(variable.getInitializer(), layout, bytes.data())) return {};
  return bytes;
}

}  // namespace cleave
