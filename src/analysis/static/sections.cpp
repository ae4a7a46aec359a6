#include "analysis/static/sections.h"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>

#include <algorithm>
#include <deque>

namespace cleave::static_analysis {

using namespace llvm;

namespace {

bool overlap(const std::vector<Location>& a, const std::vector<Location>& b) {
  std::vector<Location> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return !both.empty();
}

// What both states hold, in the order of the first.
std::vector<SectionId> meet(const std::vector<SectionId>& a, const std::vector<SectionId>& b) {
  std::vector<SectionId> result;
  for (SectionId id : a) {
    if (std::find(b.begin(), b.end(), id) != b.end()) result.push_back(id);
  }
  return result;
}

const Value* lock_pointer(const CallBase& call, int operand) {
  return call.getArgOperand(static_cast<unsigned>(operand))->stripPointerCasts();
}

}  // namespace

Sections::Sections(const WholeProgram& whole, const PointsTo& points_to, const Processes& processes)
    : whole_(whole), points_to_(points_to), processes_(processes) {
  const Module& module = whole.module();
  // Effects of functions on their callers first; twice, for those that call one another.
  for (int round = 0; round < 2; ++round) {
    for (const Function& function : module) {
      if (function.isDeclaration()) continue;
      Summary summary;
      analyze(function, {}, &summary, false);
      summaries_[&function] = std::move(summary);
    }
  }
  spread(module);
  find_claims();
  name_owners();
}

// std::condition_variable::wait gets a std::unique_lock, whose first field points to the mutex.
std::vector<Location> Sections::lock_of(const CallBase& call, int operand) const {
  std::vector<Location> lock = points_to_.pointees(lock_pointer(call, operand));
  const Function* callee = call.getCalledFunction();
  if (callee == nullptr || !callee->getName().starts_with("_ZNSt18condition_variable4wait")) return lock;
  std::vector<Location> held;
  for (const Location& at : lock) {
    for (const Location& mutex : points_to_.contents(at)) held.push_back(mutex);
  }
  std::sort(held.begin(), held.end());
  held.erase(std::unique(held.begin(), held.end()), held.end());
  return held;
}

// Copies of one call that the optimizer has made are one section: ways through different copies meet again.
SectionId Sections::section_at(const Instruction* at) {
  auto known = ids_.find(at);
  if (known != ids_.end()) return known->second;
  const auto& call = cast<CallBase>(*at);
  const KnownCall what = known_call(call);
  std::vector<Location> lock;
  if (what.kind != CallKind::UnitBegin) lock = lock_of(call, what.operand);
  const void* place =
      at->getDebugLoc().get() != nullptr ? static_cast<const void*>(at->getDebugLoc().get()) : at;
  auto [it, fresh] = origins_.try_emplace(Origin(place, call.getCalledOperand(), lock),
                                          static_cast<SectionId>(sections_.size()));
  ids_[at] = it->second;
  if (!fresh) {
    sections_[it->second].begins.push_back(at);
    return it->second;
  }
  Section section;
  section.begin = at;
  section.begins = {at};
  section.lock = std::move(lock);
  section.shared = what.kind == CallKind::AcquireShared;
  if (what.kind == CallKind::UnitBegin) {
    section.annotated = true;
    section.unit = whole_.unit(call).name;
  }
  sections_.push_back(std::move(section));
  return it->second;
}

void Sections::release(const Instruction& at, const std::vector<Location>& lock, const Value* pointer,
                       State& state, Summary* summary) {
  for (size_t i = state.size(); i-- > 0;) {
    Section& section = sections_[state[i]];
    if (section.annotated) continue;
    const bool same_pointer = lock_pointer(cast<CallBase>(*section.begin),
                                           known_call(cast<CallBase>(*section.begin)).operand) == pointer;
    if (!same_pointer && !lock.empty() && !section.lock.empty() && !overlap(lock, section.lock)) continue;
    if (std::find(section.ends.begin(), section.ends.end(), &at) == section.ends.end())
      section.ends.push_back(&at);
    state.erase(state.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
  if (summary != nullptr) summary->released.push_back(&at);
}

void Sections::marks(const CallBase& call, bool begin, State& state) {
  const MarkedUnit unit = whole_.unit(call);
  if (!unit.annotated) return;
  has_annotations_ = true;
  if (begin) {
    state.push_back(section_at(&call));
    return;
  }
  for (size_t i = state.size(); i-- > 0;) {
    Section& section = sections_[state[i]];
    if (!section.annotated || section.unit != unit.name) continue;
    if (std::find(section.ends.begin(), section.ends.end(), &call) == section.ends.end())
      section.ends.push_back(&call);
    state.erase(state.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

void Sections::step(const Instruction& at, State& state, Summary* summary, bool record) {
  const auto* call = dyn_cast<CallBase>(&at);
  if (call == nullptr) return;
  const KnownCall known = known_call(*call);
  switch (known.kind) {
    case CallKind::Acquire:
    case CallKind::AcquireShared:
    case CallKind::Wait: {
      if (known.kind == CallKind::Wait)
        release(at, lock_of(*call, known.operand), lock_pointer(*call, known.operand), state, nullptr);
      for (SectionId around : state) {
        if (sections_[around].annotated) disturbed_.insert(around);
      }
      state.push_back(section_at(&at));
      return;
    }
    case CallKind::Release:
      return release(at, lock_of(*call, known.operand), lock_pointer(*call, known.operand), state, summary);
    case CallKind::UnitBegin:
    case CallKind::UnitEnd:
      return marks(*call, known.kind == CallKind::UnitBegin, state);
    default:
      break;
  }
  const std::vector<const Function*> callees = points_to_.callees(*call);
  for (const Function* callee : callees) {
    if (record) {
      auto [it, first] = entries_.try_emplace(callee, state);
      const State met = first ? state : meet(it->second, state);
      if (first || met != it->second) {
        it->second = met;
        changed_.push_back(callee);
      }
    }
    const Summary& effect = summaries_[callee];
    for (const Instruction* end : effect.released) {
      const auto& given_back = cast<CallBase>(*end);
      const int operand = known_call(given_back).operand;
      release(*end, lock_of(given_back, operand), lock_pointer(given_back, operand), state, summary);
    }
    if (callees.size() == 1) state.insert(state.end(), effect.acquired.begin(), effect.acquired.end());
  }
}

// Behind `if (pthread_mutex_trylock(m) == 0)` the lock is held on one way only.
Sections::State Sections::on_way(const BasicBlock& from, const BasicBlock& to, const State& state) {
  const auto* branch = dyn_cast<BranchInst>(from.getTerminator());
  if (branch == nullptr || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1))
    return state;
  const auto* compare = dyn_cast<ICmpInst>(branch->getCondition());
  if (compare == nullptr || !compare->isEquality()) return state;
  const auto* call = dyn_cast<CallBase>(compare->getOperand(0));
  const auto* zero = dyn_cast<ConstantInt>(compare->getOperand(1));
  if (call == nullptr || zero == nullptr || !zero->isZero() || known_call(*call).kind != CallKind::TryAcquire)
    return state;
  const bool when_equal = (&to == branch->getSuccessor(0)) == (compare->getPredicate() == CmpInst::ICMP_EQ);
  if (when_equal != known_call(*call).success_is_zero) return state;
  State held = state;
  for (SectionId around : state) {
    if (sections_[around].annotated) disturbed_.insert(around);
  }
  held.push_back(section_at(call));
  return held;
}

void Sections::analyze(const Function& function, const State& entry, Summary* summary, bool record) {
  std::map<const BasicBlock*, State> begins{{&function.getEntryBlock(), entry}};
  std::deque<const BasicBlock*> work{&function.getEntryBlock()};
  while (!work.empty()) {
    const BasicBlock* block = work.front();
    work.pop_front();
    State state = begins[block];
    for (const Instruction& instruction : *block) step(instruction, state, nullptr, false);
    for (const BasicBlock* next : successors(block)) {
      const State passed = on_way(*block, *next, state);
      auto [it, first] = begins.try_emplace(next, passed);
      const State met = first ? passed : meet(it->second, passed);
      if (!first && met == it->second) continue;
      it->second = met;
      work.push_back(next);
    }
  }
  bool returned = false;
  for (const auto& [block, begin] : begins) {
    State state = begin;
    for (const Instruction& instruction : *block) {
      if (record) at_[&instruction] = intern(state);
      step(instruction, state, summary, record);
    }
    if (summary == nullptr || !isa<ReturnInst>(block->getTerminator())) continue;
    summary->acquired = returned ? meet(summary->acquired, state) : state;
    returned = true;
  }
}

// From the entries of threads down to what they call: what surrounds every call of a function surrounds it.
void Sections::spread(const Module& module) {
  for (const Process& process : processes_.all()) {
    if (process.entry != nullptr) entries_[process.entry] = {}, changed_.push_back(process.entry);
  }
  for (const Function& function : module) {
    if (!function.isDeclaration() && processes_.callers(&function).empty())
      entries_[&function] = {}, changed_.push_back(&function);
  }
  while (!changed_.empty()) {
    const Function* next = changed_.back();
    changed_.pop_back();
    const State entry = entries_[next];
    analyze(*next, entry, nullptr, true);
  }
}

uint32_t Sections::intern(const State& state) {
  auto [it, fresh] = state_ids_.try_emplace(state, static_cast<uint32_t>(states_.size()));
  if (fresh) states_.push_back(state);
  return it->second;
}

const std::vector<SectionId>& Sections::around(const Instruction* at) const {
  static const State nothing;
  auto found = at_.find(at);
  return found == at_.end() ? nothing : states_[found->second];
}

std::vector<SectionId> Sections::holding(const Instruction* at) const {
  State result;
  for (SectionId id : around(at)) {
    if (!sections_[id].claim) result.push_back(id);
  }
  return result;
}

// An annotated unit that takes a lock, or runs with one held, is protected by that lock or not at all: the
// annotation is what the program wishes. Only where the annotation stands alone is it the paper's atomic
// method.
void Sections::find_claims() {
  std::set<std::string> claimed;
  for (SectionId id : disturbed_) claimed.insert(sections_[id].unit);
  for (const State& state : states_) {
    bool locked = false;
    for (SectionId id : state) locked |= !sections_[id].annotated;
    for (SectionId id : state) {
      if (locked && sections_[id].annotated) claimed.insert(sections_[id].unit);
    }
  }
  for (Section& section : sections_) section.claim = section.annotated && claimed.count(section.unit) != 0;
}

void Sections::name_owners() {
  // A frame is known by the call that it was expanded at; the outermost by null.
  auto instances = [](const Instruction* at) {
    std::vector<const DILocation*> result;
    for (const DILocation* place = at->getDebugLoc().get(); place != nullptr; place = place->getInlinedAt())
      result.push_back(place->getInlinedAt());
    return result;
  };
  for (Section& section : sections_) {
    const std::vector<Frame> frames = WholeProgram::frames(*section.begin);
    const std::vector<const DILocation*> begin = instances(section.begin);
    size_t level = 0;
    for (const Instruction* end : section.ends) {
      if (end->getFunction() != section.begin->getFunction()) continue;
      if (known_call(cast<CallBase>(*end)).kind == CallKind::Wait && section.ends.size() > 1) continue;
      const std::vector<const DILocation*> other = instances(end);
      for (; level + 1 < begin.size(); ++level) {
        if (std::find(other.begin(), other.end(), begin[level]) != other.end()) break;
      }
      break;  // the ordinary end; others are those of exceptions
    }
    while (level + 1 < frames.size() && frames[level].system) ++level;
    section.owner = frames[std::min(level, frames.size() - 1)];
    if (section.annotated) section.owner.function = section.unit;
  }
}

bool Sections::common_unit(const Instruction* a, const Instruction* b, SectionId* unit) const {
  const State& other = around(b);
  for (SectionId id : around(a)) {
    if (!sections_[id].annotated || std::find(other.begin(), other.end(), id) == other.end()) continue;
    *unit = id;
    return true;
  }
  return false;
}

bool Sections::exclude(SectionId a, SectionId b) const {
  const Section &one = sections_[a], &two = sections_[b];
  if (one.claim || two.claim || (one.shared && two.shared)) return false;
  if (one.annotated || two.annotated) return one.annotated && two.annotated;
  return overlap(one.lock, two.lock);
}

}  // namespace cleave::static_analysis
