#include "pass/accessors.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "pass/debug_names.h"
#include "pass/weight.h"

namespace cleave {

using namespace llvm;

namespace {

// Takes or gives back a lock, and touches nothing of the user's.
bool only_locks(const CallBase& call) {
  const Function* callee = call.getCalledFunction();
  if (callee == nullptr) return false;
  StringRef name = callee->getName();
  if (name.starts_with("pthread_mutex_") || name.starts_with("pthread_rwlock_") ||
      name.starts_with("pthread_spin_"))
    return name.ends_with("lock");
  const DISubprogram* debug = callee->getSubprogram();
  if (debug == nullptr || !is_system(debug->getFile())) return false;
  StringRef method = debug->getName().split('<').first;
  method.consume_front("~");
  return StringSwitch<bool>(method)
      .Cases("lock_guard", "unique_lock", "scoped_lock", "shared_lock", true)
      .Cases("lock", "unlock", "lock_shared", "unlock_shared", true)
      .Default(false);
}

}  // namespace

Accessor accessor_kind(const Function& function) {
  unsigned reads = 0, writes = 0;
  for (const Instruction& instruction : instructions(function)) {
    if (const auto* load = dyn_cast<LoadInst>(&instruction)) {
      reads += !is_local(load->getPointerOperand());
    } else if (const auto* store = dyn_cast<StoreInst>(&instruction)) {
      writes += !is_local(store->getPointerOperand());
    } else if (const auto* call = dyn_cast<CallBase>(&instruction)) {
      bool harmless = isa<IntrinsicInst>(call) && !isa<AnyMemIntrinsic>(call);
      if (!harmless && !only_locks(*call)) return Accessor::None;
    } else if (instruction.mayReadOrWriteMemory()) {
      return Accessor::None;
    }
  }
  if (reads + writes != 1 || has_loop(function)) return Accessor::None;
  return reads == 1 ? Accessor::Getter : Accessor::Setter;
}

}  // namespace cleave
