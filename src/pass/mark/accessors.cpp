#include "pass/mark/accessors.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <optional>
#include <set>

#include "pass/name/debug_names.h"
#include "pass/record/weight.h"

namespace cleave {

using namespace llvm;

bool is_own_object(const Value* value) {
  const auto* load = dyn_cast<LoadInst>(value);
  const auto* local = load != nullptr ? dyn_cast<AllocaInst>(load->getPointerOperand()) : nullptr;
  if (local == nullptr) return false;
  for (const User* user : local->users()) {
    const auto* store = dyn_cast<StoreInst>(user);
    const auto* given = store != nullptr ? dyn_cast<Argument>(store->getValueOperand()) : nullptr;
    if (given == nullptr || store->getPointerOperand() != local) continue;
    return given->getArgNo() == (given->getParent()->getArg(0)->hasStructRetAttr() ? 1u : 0u);
  }
  return false;
}

bool only_locks(const CallBase& call) {
  const Function* callee = call.getCalledFunction();
  if (callee == nullptr) return false;
  StringRef name = callee->getName();
  if (name.starts_with("pthread_mutex_") || name.starts_with("pthread_rwlock_") ||
      name.starts_with("pthread_spin_") || name.starts_with("mtx_"))
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

namespace {

// What a pointer is computed from, in unoptimised code.
const Value* base_of(const Value* pointer) { return getUnderlyingObject(pointer, 0); }

// Reached through a pointer or reference that the object of this method holds.
bool is_pointed_to(const Value* base) {
  const auto* load = dyn_cast<LoadInst>(base);
  return load != nullptr && is_own_object(base_of(load->getPointerOperand()));
}

// Where in its own object a pointer points to; nothing: not there, or not at a place that is known.
std::optional<int64_t> own_field(const Value* pointer, const DataLayout& layout) {
  APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
  const Value* base = pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
  if (!is_own_object(base)) return std::nullopt;
  return offset.getSExtValue();
}

// Fields of the own object that an address was computed from.
void collect_fields(const Value* address, const DataLayout& layout, std::set<int64_t>& fields,
                    unsigned depth = 0) {
  constexpr unsigned kDeepest = 8;
  const auto* instruction = dyn_cast<Instruction>(address);
  if (instruction == nullptr || depth > kDeepest) return;
  if (const auto* load = dyn_cast<LoadInst>(instruction)) {
    if (std::optional<int64_t> field = own_field(load->getPointerOperand(), layout)) fields.insert(*field);
    return;
  }
  if (instruction->mayReadOrWriteMemory()) return;
  for (const Value* operand : instruction->operands()) collect_fields(operand, layout, fields, depth + 1);
}

// Accesses to memory that is not local to a call.
struct Accesses {
  explicit Accesses(const DataLayout& layout) : layout(layout) {}

  const DataLayout& layout;
  unsigned reads = 0, writes = 0, own = 0, pointed_to = 0;
  bool locks_itself = false;    // takes a lock that is part of its own object
  std::set<int64_t> led_there;  // fields by which what is pointed to was found
  std::set<int64_t> changed;    // fields that were written

  void add(const Value* pointer, bool write) {
    if (is_local(pointer)) return;
    ++(write ? writes : reads);
    if (is_own_object(base_of(pointer))) {
      ++own;
      if (std::optional<int64_t> field = own_field(pointer, layout); field && write) changed.insert(*field);
    }
    if (is_pointed_to(base_of(pointer))) {
      ++pointed_to;
      collect_fields(pointer, layout, led_there);
    }
  }
  void lock(const CallBase& call) {
    locks_itself |=
        any_of(call.args(), [](const Use& argument) { return is_own_object(base_of(argument.get())); });
  }
  bool moves_on() const {
    return std::any_of(led_there.begin(), led_there.end(),
                       [&](int64_t field) { return changed.contains(field); });
  }
};

}  // namespace

Accessor accessor_kind(const Function& function) {
  Accesses made(function.getParent()->getDataLayout());
  for (const Instruction& instruction : instructions(function)) {
    if (const auto* load = dyn_cast<LoadInst>(&instruction)) {
      made.add(load->getPointerOperand(), false);
    } else if (const auto* store = dyn_cast<StoreInst>(&instruction)) {
      made.add(store->getPointerOperand(), true);
    } else if (const auto* call = dyn_cast<CallBase>(&instruction)) {
      if (only_locks(*call)) {
        made.lock(*call);
      } else if (!isa<IntrinsicInst>(call) || isa<AnyMemIntrinsic>(call)) {
        return Accessor::None;
      }
    } else if (instruction.mayReadOrWriteMemory()) {
      return Accessor::None;
    }
  }
  if (has_loop(function)) return Accessor::None;
  if (made.reads + made.writes == 1) return made.reads == 1 ? Accessor::Getter : Accessor::Setter;
  // Who guards what its own pointers lead to is no cursor over somebody else's, but a container:
  // buffer_[tail_++] = item.
  bool steps =
      made.pointed_to == 1 && made.own + made.pointed_to == made.reads + made.writes && !made.locks_itself;
  if (!steps) return Accessor::None;
  return made.moves_on() ? Accessor::Advance : Accessor::Step;
}

bool Lockers::locks(const CallBase& call) {
  if (only_locks(call)) return true;
  const auto* callee = dyn_cast<Function>(call.getCalledOperand()->stripPointerCasts());
  return callee != nullptr && !callee->isDeclaration() && locks(*callee);
}

bool Lockers::locks(const Function& function) {
  auto [known, fresh] =
      known_.try_emplace(&function, false);  // while it is looked at: a recursive call adds nothing
  if (!fresh) return known->second;
  const bool found = any_of(instructions(function), [&](const Instruction& instruction) {
    const auto* call = dyn_cast<CallBase>(&instruction);
    return call != nullptr && locks(*call);
  });
  return known_[&function] = found;
}

bool may_access(const CallBase& call) {
  const auto* callee = dyn_cast<Function>(call.getCalledOperand()->stripPointerCasts());
  if (callee == nullptr) return !call.isInlineAsm();
  if (callee->isIntrinsic() || callee->getName().starts_with("__cleave")) return false;
  const DISubprogram* debug = callee->getSubprogram();
  if (debug != nullptr && is_system(debug->getFile())) return false;
  if (!callee->isDeclaration()) return debug != nullptr && accessor_kind(*callee) != Accessor::None;
  // Without debug information of its own, which declarations only have when optimising, the name must do.
  StringRef name = callee->getName();
  return debug != nullptr ||
         (name.starts_with("_Z") && !name.starts_with("_ZNSt") && !name.starts_with("_ZNKSt") &&
          !name.starts_with("_ZSt") && !name.starts_with("_Zn") && !name.starts_with("_Zd"));
}

}  // namespace cleave
