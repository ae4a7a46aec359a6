#include "pass/record/pieces.h"

namespace cleave {

using namespace llvm;

namespace {

constexpr unsigned kLargestAggregate = 64;  // pieces; nothing that a compiler loads as one value comes near

bool collect(Type* type, const DataLayout& layout, uint64_t offset, SmallVectorImpl<unsigned>& path,
             SmallVectorImpl<Piece>& pieces) {
  if (pieces.size() > kLargestAggregate) return false;
  if (auto* structure = dyn_cast<StructType>(type)) {
    for (unsigned i = 0; i < structure->getNumElements(); ++i) {
      path.push_back(i);
      uint64_t at = offset + layout.getStructLayout(structure)->getElementOffset(i).getFixedValue();
      if (!collect(structure->getElementType(i), layout, at, path, pieces)) return false;
      path.pop_back();
    }
    return true;
  }
  if (auto* array = dyn_cast<ArrayType>(type)) {
    uint64_t size = layout.getTypeAllocSize(array->getElementType());
    for (unsigned i = 0; i < array->getNumElements(); ++i) {
      path.push_back(i);
      if (!collect(array->getElementType(), layout, offset + i * size, path, pieces)) return false;
      path.pop_back();
    }
    return true;
  }
  bool vector = isa<FixedVectorType>(type);
  Type* scalar = type->getScalarType();
  if (isa<ScalableVectorType>(type) || (vector && scalar->isX86_FP80Ty())) return false;
  if (!scalar->isIntegerTy() && !scalar->isFloatingPointTy() && !scalar->isPointerTy()) return false;
  if (scalar->isPointerTy() && scalar->getPointerAddressSpace() != 0) return false;
  uint64_t bytes = layout.getTypeStoreSize(type);
  for (uint64_t at = 0; at < bytes; at += 8) {
    Piece& piece = pieces.emplace_back();
    piece.path.assign(path.begin(), path.end());
    piece.offset = offset + at;
    piece.within = at;
    piece.width = static_cast<unsigned>(std::min<uint64_t>(8, bytes - at));
  }
  return true;
}

}  // namespace

std::optional<SmallVector<Piece, 4>> pieces_of(Type* type, const DataLayout& layout) {
  SmallVector<Piece, 4> pieces;
  SmallVector<unsigned, 2> path;
  if (!type->isSized() || !collect(type, layout, 0, path, pieces)) return std::nullopt;
  return pieces;
}

Value* piece_value(IRBuilderBase& builder, Value* value, const Piece& piece, const DataLayout& layout) {
  if (!piece.path.empty()) value = builder.CreateExtractValue(value, piece.path);
  Type* type = value->getType();
  if (type->isPtrOrPtrVectorTy()) {
    value = builder.CreatePtrToInt(value, layout.getIntPtrType(type));
    type = value->getType();
  }
  uint64_t bits = type->getPrimitiveSizeInBits();
  Type* word = builder.getInt64Ty();
  if (isa<FixedVectorType>(type) && bits % 64 == 0 && bits > 64) {
    value = builder.CreateBitCast(value, FixedVectorType::get(word, static_cast<unsigned>(bits / 64)));
    return builder.CreateExtractElement(value, builder.getInt64(piece.within / 8));
  }
  if (!type->isIntegerTy())
    value = builder.CreateBitCast(value, builder.getIntNTy(static_cast<unsigned>(bits)));
  if (piece.within != 0) value = builder.CreateLShr(value, piece.within * 8);
  return builder.CreateZExtOrTrunc(value, word);
}

}  // namespace cleave
