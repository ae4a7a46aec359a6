// Values as the trace holds them: pieces of at most eight bytes, each an unsigned integer.
#pragma once

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/IRBuilder.h>

#include <optional>

namespace cleave {

struct Piece {
  llvm::SmallVector<unsigned, 2> path;  // of the element within an aggregate
  uint64_t offset = 0;                  // in memory, from the start of the whole
  uint64_t within = 0;                  // of that, from the start of the element
  unsigned width = 0;                   // bytes, 1 to 8
};

// Pieces of a type in memory order; nothing for types that have no bytes of their own to show (scalable
// vectors, opaque target types).
std::optional<llvm::SmallVector<Piece, 4>> pieces_of(llvm::Type* type, const llvm::DataLayout& layout);

// The piece of `value` as an i64.
llvm::Value* piece_value(llvm::IRBuilderBase& builder, llvm::Value* value, const Piece& piece,
                         const llvm::DataLayout& layout);

}  // namespace cleave
