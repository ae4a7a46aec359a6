#include "analysis/static/dependences.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <set>

namespace cleave::static_analysis {

using namespace llvm;

namespace {

constexpr size_t kMostReached = 5'000;  // of one read; beyond, the search is cut
constexpr size_t kMostSteps = 400'000;  // of all reads together
constexpr size_t kMostTargets = 8;      // a store with more possible targets is not followed

}  // namespace

struct DependenceFinder::Search {
  Dependences result;
  const Instruction* read;
  DenseSet<const Argument*> arguments;  // that were followed: functions may call themselves
  DenseMap<const Instruction*, std::pair<uint32_t, uint8_t>> best;  // sections that last, and flags, so far
};

DependenceFinder::DependenceFinder(const Accesses& accesses, const PointsTo& points_to,
                                   const Processes& processes, const Sections& sections, ControlFlows& flows,
                                   const Module& module)
    : accesses_(accesses), points_to_(points_to), processes_(processes), sections_(sections), flows_(flows) {
  index(module);
}

void DependenceFinder::index(const Module& module) {
  for (const Function& function : module) {
    if (processes_.running(&function).empty()) continue;
    for (const Instruction& instruction : instructions(function)) {
      const Value* pointer = nullptr;
      if (const auto* load = dyn_cast<LoadInst>(&instruction)) pointer = load->getPointerOperand();
      if (const auto* call = dyn_cast<CallBase>(&instruction);
          call != nullptr && known_call(*call).kind == CallKind::Copy)
        pointer = call->getArgOperand(1);
      if (pointer == nullptr) continue;
      const std::vector<Location> sources = points_to_.pointees(pointer);
      if (sources.size() > kMostTargets) continue;
      for (const Location& source : sources) {
        if (accesses_.is_private(source.object)) loads_[source].push_back(&instruction);
      }
    }
  }
}

// Whether the section is not left between the two, on ways that do not come to `limits` in between.
bool DependenceFinder::lasts(const Section& section, const Instruction& from, const Instruction& to,
                             ArrayRef<const Instruction*> limits) const {
  const bool one_function =
      from.getFunction() == to.getFunction() && section.begin->getFunction() == to.getFunction();
  if (!one_function) return true;
  const ControlFlow& flow = flows_.of(*to.getFunction());
  std::vector<const Instruction*> avoiding(limits.begin(), limits.end());
  // What must be atomic is one execution of the unit: it counts if some way stays in it.
  if (section.claim) {
    avoiding.push_back(section.begin);
    return flow.reaches(&from, &to, avoiding);
  }
  // A lock has to be held on every way that does not come back to `from`.
  for (const Instruction* begin : section.begins) {
    if (flow.dominates(&from, &to) && !flow.dominates(&from, begin)) continue;
    if (!flow.reaches(&from, begin, avoiding)) continue;
    avoiding.push_back(&from);
    if (flow.reaches(begin, &to, avoiding)) return false;
    avoiding.pop_back();
  }
  return true;
}

// Which sections around the read are certainly not left between the two instructions, on any way that does
// not go through the first again, nor through `meet` (may be null).
uint32_t DependenceFinder::still_held(const Search& search, uint32_t before, const Instruction& from,
                                      const Instruction& to, const Instruction* meet) const {
  uint32_t held = 0;
  const std::vector<SectionId>& around = sections_.around(&to);
  auto still = [&](size_t i) {
    return (before >> i & 1) != 0 &&
           std::find(around.begin(), around.end(), search.result.around[i]) != around.end();
  };
  const size_t count = std::min<size_t>(search.result.around.size(), 31);
  // Within one execution of an annotated unit, only ways that stay in it count.
  const Instruction* unit = nullptr;
  for (size_t i = 0; i < count && unit == nullptr; ++i) {
    const Section& section = sections_[search.result.around[i]];
    if (section.claim && still(i) && lasts(section, from, to, {meet})) unit = section.begin;
  }
  for (size_t i = 0; i < count; ++i) {
    if (still(i) && lasts(sections_[search.result.around[i]], from, to, {meet, unit}))
      held |= uint32_t{1} << i;
  }
  return held;
}

// Whether the read looks at one location however often it runs.
bool DependenceFinder::fixed_address(const Instruction& read) const {
  const Value* pointer = getLoadStorePointerOperand(&read);
  if (pointer == nullptr) return true;  // an atomic update
  const Loop* loop = flows_.of(*read.getFunction()).loop_of(&read);
  for (int depth = 0; depth < 16; ++depth) {
    pointer = pointer->stripPointerCasts();
    const auto* step = dyn_cast<GetElementPtrInst>(pointer);
    if (step == nullptr) break;
    for (const Use& index : step->indices()) {
      const auto* value = dyn_cast<Instruction>(index.get());
      if (value != nullptr && loop != nullptr && loop->contains(value)) return false;
    }
    pointer = step->getPointerOperand();
  }
  const auto* phi = dyn_cast<PHINode>(pointer);
  return phi == nullptr || loop == nullptr || !loop->contains(phi);
}

// A loop that looks again: the branch only decides whether there is another round, and each round reads the
// same location anew before it gets to `to`.
bool DependenceFinder::polls(const Search& search, const Instruction& branch, const Instruction& to) const {
  if (branch.getFunction() != to.getFunction() || search.read->getFunction() != to.getFunction())
    return false;
  const ControlFlow& flow = flows_.of(*to.getFunction());
  if (&to != search.read && flow.reaches(&branch, &to, {search.read})) return false;
  return fixed_address(*search.read);
}

void DependenceFinder::push(Search& search, uint32_t from, const Instruction& to, StepKind kind, bool copy,
                            bool as_address, const Instruction* branch, const Instruction* edge) {
  if (search.result.reached.size() >= kMostReached || ++steps_ > kMostSteps) {
    cut_ = true;
    return;
  }
  const Reached before = search.result.reached[from];
  // A branch decides what happens until its ways meet again, and nothing after that.
  const Instruction* meet =
      branch == nullptr ? nullptr : flows_.of(*branch->getFunction()).rejoin(branch->getParent());
  const Instruction& start = branch == nullptr ? *before.at : *branch;
  if (branch != nullptr && branch->getFunction() == to.getFunction() &&
      !flows_.of(*to.getFunction()).reaches(branch, &to, {meet}))
    return;
  Reached next{&to,
               from,
               kind,
               before.decided || kind == StepKind::Decides,
               copy && before.copy,
               as_address,
               still_held(search, before.held, start, edge == nullptr ? to : *edge, meet)};
  const uint8_t flags = static_cast<uint8_t>(next.decided) | static_cast<uint8_t>(!next.copy) << 1 |
                        static_cast<uint8_t>(as_address) << 2;
  auto [it, first] = search.best.try_emplace(&to, next.held, flags);
  if (!first) {
    // Again only where it is stronger: fewer sections last, or a plainer way.
    const bool fewer = (it->second.first & next.held) != it->second.first;
    const bool plainer = (flags & 3) < (it->second.second & 3) || (flags & 4) < (it->second.second & 4);
    if (!fewer && !plainer) return;
    it->second = {it->second.first & next.held, std::min(flags, it->second.second)};
  }
  search.result.reached.push_back(next);
}

const Dependences& DependenceFinder::of(const Instruction* read) {
  auto known = known_.find(read);
  if (known != known_.end()) return known->second;
  Search search;
  search.read = read;
  search.result.around = sections_.around(read);
  const uint32_t all = search.result.around.empty()
                           ? 0
                           : (uint32_t{1} << std::min<size_t>(search.result.around.size(), 31)) - 1;
  search.result.reached.push_back({read, 0, StepKind::Source, false, true, false, all});
  search.best[read] = {all, 0};
  for (uint32_t next = 0; next < search.result.reached.size(); ++next) follow(search, next);
  return known_[read] = std::move(search.result);
}

void DependenceFinder::follow(Search& search, uint32_t from) {
  const Reached here = search.result.reached[from];
  const Instruction* at = here.at;
  // A read of shared memory that was only decided on, or addressed, gives a value of its own.
  if (at != search.read && accesses_.at(at) != nullptr) {
    const bool stays = here.as_address && isa<LoadInst>(at) && !here.decided;
    if (!stays) return;
  }
  if (here.kind == StepKind::Decides && !isa<PHINode>(at)) {
    // Runs because of the value: a private variable that it writes depends on it, its operands do not.
    if (const auto* store = dyn_cast<StoreInst>(at))
      follow_store(search, from, *at, store->getPointerOperand());
    return;
  }
  if (const auto* store = dyn_cast<StoreInst>(at)) {
    if (!here.as_address) follow_store(search, from, *at, store->getPointerOperand());
    return;
  }
  if (const auto* call = dyn_cast<CallBase>(at); call != nullptr && known_call(*call).kind == CallKind::Copy)
    follow_store(search, from, *at, call->getArgOperand(0));
  for (const Use& use : at->uses()) {
    if (const auto* user = dyn_cast<Instruction>(use.getUser())) follow_use(search, from, *user, use);
  }
}

void DependenceFinder::follow_use(Search& search, uint32_t from, const Instruction& user, const Use& use) {
  if (isa<BranchInst>(user) || isa<SwitchInst>(user) || isa<IndirectBrInst>(user))
    return follow_branch(search, from, user);
  if (const auto* call = dyn_cast<CallBase>(&user)) return follow_call(search, from, *call, use);
  if (isa<ReturnInst>(user)) {
    for (const CallBase* call : processes_.callers(user.getFunction()))
      push(search, from, *call, StepKind::Result, true, false);
    return;
  }
  bool as_address = false;
  if (isa<LoadInst>(user)) as_address = true;
  if (isa<StoreInst>(user)) as_address = use.getOperandNo() == StoreInst::getPointerOperandIndex();
  if (isa<AtomicRMWInst>(user) || isa<AtomicCmpXchgInst>(user)) as_address = use.getOperandNo() == 0;
  const bool copy = isa<PHINode>(user) || isa<CastInst>(user) || isa<SelectInst>(user) ||
                    isa<StoreInst>(user) || isa<FreezeInst>(user) || isa<ExtractValueInst>(user) ||
                    isa<InsertValueInst>(user);
  if (const auto* phi = dyn_cast<PHINode>(&user)) {
    // The value moves on the edge: what is held at the end of the block before it counts, not at the phi.
    const Instruction* edge = phi->getIncomingBlock(use)->getTerminator();
    push(search, from, user, StepKind::Value, copy, as_address, nullptr, edge);
    return;
  }
  push(search, from, user, StepKind::Value, copy, as_address);
}

void DependenceFinder::follow_store(Search& search, uint32_t from, const Instruction& store,
                                    const Value* pointer) {
  const std::vector<Location> targets = points_to_.pointees(pointer);
  if (targets.size() > kMostTargets) return;
  for (const Location& target : targets) {
    auto loads = loads_.find(target);
    if (loads == loads_.end()) continue;
    for (const Instruction* load : loads->second) {
      if (load->getFunction() == store.getFunction() &&
          !flows_.of(*load->getFunction()).reaches(&store, load))
        continue;
      push(search, from, *load, StepKind::Memory, true, false);
    }
  }
}

void DependenceFinder::follow_call(Search& search, uint32_t from, const CallBase& call, const Use& use) {
  const std::vector<const Function*> callees = points_to_.callees(call);
  if (callees.empty()) {  // outside: the result depends on every operand
    if (!call.getType()->isVoidTy() || known_call(call).kind == CallKind::Copy)
      push(search, from, call, StepKind::Value, false, false);
    return;
  }
  if (!call.isArgOperand(&use)) return;
  const unsigned number = call.getArgOperandNo(&use);
  for (const Function* callee : callees) {
    if (number >= callee->arg_size() || !search.arguments.insert(callee->getArg(number)).second) continue;
    for (const Use& inside : callee->getArg(number)->uses()) {
      if (const auto* user = dyn_cast<Instruction>(inside.getUser())) follow_use(search, from, *user, inside);
    }
  }
}

// Figure 5: all that runs, or is chosen, by this branch, also by branches that it decides.
void DependenceFinder::follow_branch(Search& search, uint32_t from, const Instruction& branch) {
  const ControlFlow& flow = flows_.of(*branch.getFunction());
  std::vector<const BasicBlock*> stack{branch.getParent()};
  std::set<const BasicBlock*> seen;
  while (!stack.empty()) {
    const BasicBlock* decider = stack.back();
    stack.pop_back();
    for (const BasicBlock* block : flow.decided_by(decider)) {
      if (!seen.insert(block).second) continue;
      stack.push_back(block);
      decide(search, from, branch, *block);
    }
  }
  // Variables that get one value or another.
  seen.insert(branch.getParent());
  for (const BasicBlock* block : seen) {
    for (const BasicBlock* next : flow.ways(block)) {
      for (const PHINode& phi : next->phis()) {
        if (phi.hasConstantOrUndefValue() || polls(search, branch, phi)) continue;
        push(search, from, phi, StepKind::Decides, false, false, &branch);
      }
    }
  }
}

void DependenceFinder::decide(Search& search, uint32_t from, const Instruction& branch,
                              const BasicBlock& block) {
  for (const Instruction& at : block) {
    const bool store = isa<StoreInst>(at);
    const auto* call = dyn_cast<CallBase>(&at);
    const bool access = accesses_.at(&at) != nullptr;
    if (!store && !access && (call == nullptr || isa<IntrinsicInst>(call))) continue;
    if (polls(search, branch, at)) continue;
    if (store || access) push(search, from, at, StepKind::Decides, false, false, &branch);
    if (call == nullptr) continue;
    // Calls that were not expanded: everything in them runs because of the branch.
    std::vector<const Function*> stack = points_to_.callees(*call);
    std::set<const Function*> seen(stack.begin(), stack.end());
    while (!stack.empty()) {
      const Function* callee = stack.back();
      stack.pop_back();
      for (const Instruction& inside : instructions(*callee)) {
        if (accesses_.at(&inside) != nullptr)
          push(search, from, inside, StepKind::Decides, false, false, &branch);
        const auto* deeper = dyn_cast<CallBase>(&inside);
        if (deeper == nullptr) continue;
        for (const Function* next : points_to_.callees(*deeper)) {
          if (seen.insert(next).second) stack.push_back(next);
        }
      }
    }
  }
}

const Instruction* DependenceFinder::common(const Instruction* a, const Instruction* b) {
  std::set<const Instruction*> first;
  for (const Reached& reached : of(a).reached) {
    if (reached.at != a) first.insert(reached.at);
  }
  for (const Reached& reached : of(b).reached) {
    if (reached.at == a || reached.at == b || first.count(reached.at) == 0) continue;
    return reached.at;
  }
  return nullptr;
}

}  // namespace cleave::static_analysis
