// What a pointer points to, as far as the source's types tell: a walk back over the unoptimised address
// computation.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

#include <optional>
#include <string>

namespace cleave {

struct Place {
  const llvm::DIType* type = nullptr;  // of the variable, or of what the pointer points to
  uint64_t offset = 0;                 // from its start
  std::string variable;                // empty when it was reached through a pointer
};

// A place down to the field. Account::balance, total, slots[], Table::rows[].
struct FieldName {
  std::string text;                              // empty: no better name than the address
  const llvm::DIType* type = nullptr;            // of the field
  const llvm::DICompositeType* outer = nullptr;  // outermost class, and where in it
  uint64_t outer_offset = 0;
  const llvm::DICompositeType* owner = nullptr;  // class that declares the field, and where in it
  uint64_t owner_offset = 0;
};

// `bytes` chooses among the members of a union.
FieldName field_name(const Place& place, uint64_t bytes);

class Places {
 public:
  explicit Places(const llvm::Module& module);
  // Only for pointers of unoptimised code: local variables in memory, address computations with struct types.
  std::optional<Place> of(const llvm::Value* pointer) const { return resolve(pointer, 12); }
  // The class that debug information has under a mangled name, or in C under its plain one.
  const llvm::DICompositeType* class_named(llvm::StringRef name) const;

 private:
  std::optional<Place> resolve(const llvm::Value* pointer, int depth) const;
  std::optional<Place> through_pointer(const llvm::Value* address, int depth) const;
  std::optional<Place> of_computation(const llvm::Value* pointer, int depth) const;
  std::optional<Place> of_call(const llvm::Value* pointer, int depth) const;

  const llvm::DataLayout& layout_;
  llvm::DenseMap<const llvm::Value*, const llvm::DILocalVariable*> locals_;
  llvm::StringMap<const llvm::DICompositeType*> classes_;
};

}  // namespace cleave
