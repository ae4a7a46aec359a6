// Names of accesses. Part one of the pass finds them while address computations still show struct types and
// local variables still stand in memory; part two asks for them after optimisation: by the metadata that an
// access has kept, else by its place in the source, else by its TBAA tag, else by the global it touches.
#pragma once

#include <llvm/IR/Instructions.h>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "pass/mark/through_own.h"
#include "pass/name/places.h"
#include "pass/name/tables.h"

namespace cleave {

// CLEAVE_SET, CLEAVE_OWNED: seen where a field is used.
struct FieldAnnotation {
  const llvm::DICompositeType* type;
  uint64_t offset;
  std::string text;
};

// The metadata that keeps a name; null when there is none to keep.
llvm::MDNode* place_metadata(llvm::LLVMContext& context, const AccessName& name);
// Says that there is no name, so that nobody looks for one.
llvm::MDNode* unnamed_place(llvm::LLVMContext& context);

class Names {
 public:
  // Part one: attaches metadata to every access of the module.
  void find(llvm::Module& module);
  // Part two. `write` tells the two accesses of `x++` from those of `x = y`, and the two ends of a copy.
  AccessName of(const llvm::Instruction& access, const llvm::Value* pointer, bool write) const;
  // The piece of a named access that starts `offset` bytes further on.
  static AccessName part(llvm::LLVMContext& context, AccessName whole, uint64_t offset, uint64_t bytes);

  std::vector<FieldAnnotation> annotations;
  std::vector<const llvm::DILocation*>
      calls_through_own;  // of calls on what the caller's own object leads to

 private:
  void find(llvm::Instruction& instruction, ThroughOwn& own);
  void attach(llvm::Instruction& access, const llvm::Value* pointer, uint64_t bytes, bool write,
              ThroughOwn& own);
  void attach_call(const llvm::CallBase& call, ThroughOwn& own);
  void take_annotation(llvm::Instruction& call);
  AccessName guessed(const llvm::Instruction& access, const llvm::Value* pointer, bool write) const;
  AccessName by_caller(const llvm::Instruction& access, AccessName name) const;
  AccessName by_tag(const llvm::Instruction& access) const;

  using Position = std::tuple<const void*, unsigned, unsigned, bool>;  // scope, line, column, write
  std::map<Position, const llvm::MDNode*> by_position_;
  // Variables whose system-library methods are called: `hits` for hits.fetch_add(1), by the place of the
  // call.
  std::map<Position, const llvm::MDNode*> by_call_;
  std::shared_ptr<Places> places_;
};

}  // namespace cleave
