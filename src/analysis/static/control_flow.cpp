#include "analysis/static/control_flow.h"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstrTypes.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace cleave::static_analysis {

using namespace llvm;

ControlFlow::ControlFlow(const Function& function)
    : dominators_(std::make_unique<DominatorTree>(const_cast<Function&>(function))),
      loops_(std::make_unique<LoopInfo>(*dominators_)) {
  find_dead_ends(function);
  find_decisions(function);
}

std::vector<const BasicBlock*> ControlFlow::ways(const BasicBlock* block) const {
  std::vector<const BasicBlock*> result;
  const auto* invoke = dyn_cast<InvokeInst>(block->getTerminator());
  for (const BasicBlock* next : successors(block)) {
    if (invoke != nullptr && next == invoke->getUnwindDest()) continue;
    if (dead_ends_.contains(next) && !dead_ends_.contains(block)) continue;
    if (std::find(result.begin(), result.end(), next) == result.end()) result.push_back(next);
  }
  return result;
}

// A block is a dead end if no way from it returns, and it is not part of an endless loop either.
void ControlFlow::find_dead_ends(const Function& function) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const BasicBlock& block : function) {
      if (dead_ends_.contains(&block)) continue;
      const Instruction* last = block.getTerminator();
      bool dead = isa<UnreachableInst>(last) || isa<ResumeInst>(last);
      if (!dead && !isa<ReturnInst>(last)) {
        const auto* invoke = dyn_cast<InvokeInst>(last);
        dead = true;
        for (const BasicBlock* next : successors(&block)) {
          if (invoke != nullptr && next == invoke->getUnwindDest()) continue;
          if (!dead_ends_.contains(next)) dead = false;
        }
      }
      if (dead) {
        dead_ends_.insert(&block);
        changed = true;
      }
    }
  }
}

namespace {

// Immediate post-dominators by the algorithm of Cooper, Harvey and Kennedy, on the reversed graph with one
// exit added.
class PostDominators {
 public:
  explicit PostDominators(std::vector<std::vector<int>> ways) : ways_(std::move(ways)) {
    const int count = static_cast<int>(ways_.size());
    exit_ = count;
    before_.resize(static_cast<size_t>(count) + 1);
    for (int block = 0; block < count; ++block) {
      if (ways_[static_cast<size_t>(block)].empty()) ways_[static_cast<size_t>(block)].push_back(exit_);
      for (int next : ways_[static_cast<size_t>(block)]) before_[static_cast<size_t>(next)].push_back(block);
    }
    number();
    // Endless loops: their last block is taken for an exit.
    for (int block = count; block-- > 0;) {
      if (order_[static_cast<size_t>(block)] >= 0) continue;
      ways_[static_cast<size_t>(block)].push_back(exit_);
      before_[static_cast<size_t>(exit_)].push_back(block);
      number();
    }
    settle();
  }
  int parent(int block) const { return parents_[static_cast<size_t>(block)]; }
  int exit() const { return exit_; }
  const std::vector<int>& ways(int block) const { return ways_[static_cast<size_t>(block)]; }

 private:
  void number() {
    order_.assign(before_.size(), -1);
    sequence_.clear();
    std::vector<std::pair<int, size_t>> stack{{exit_, 0}};
    std::vector<bool> seen(before_.size());
    seen[static_cast<size_t>(exit_)] = true;
    while (!stack.empty()) {
      auto& [block, next] = stack.back();
      const std::vector<int>& before = before_[static_cast<size_t>(block)];
      if (next < before.size()) {
        const int to = before[next++];
        if (!seen[static_cast<size_t>(to)]) seen[static_cast<size_t>(to)] = true, stack.emplace_back(to, 0);
        continue;
      }
      order_[static_cast<size_t>(block)] = static_cast<int>(sequence_.size());
      sequence_.push_back(block);
      stack.pop_back();
    }
  }
  void settle() {
    parents_.assign(before_.size(), -1);
    parents_[static_cast<size_t>(exit_)] = exit_;
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = sequence_.size(); i-- > 0;) {
        const int block = sequence_[i];
        if (block == exit_) continue;
        int parent = -1;
        for (int next : ways_[static_cast<size_t>(block)]) {
          if (parents_[static_cast<size_t>(next)] < 0) continue;
          parent = parent < 0 ? next : meet(parent, next);
        }
        if (parent >= 0 && parents_[static_cast<size_t>(block)] != parent) {
          parents_[static_cast<size_t>(block)] = parent;
          changed = true;
        }
      }
    }
  }
  int meet(int a, int b) const {
    while (a != b) {
      while (order_[static_cast<size_t>(a)] < order_[static_cast<size_t>(b)])
        a = parents_[static_cast<size_t>(a)];
      while (order_[static_cast<size_t>(b)] < order_[static_cast<size_t>(a)])
        b = parents_[static_cast<size_t>(b)];
    }
    return a;
  }

  std::vector<std::vector<int>> ways_, before_;
  std::vector<int> order_, sequence_, parents_;
  int exit_ = 0;
};

}  // namespace

void ControlFlow::find_decisions(const Function& function) {
  DenseMap<const BasicBlock*, int> numbers;
  std::vector<const BasicBlock*> blocks;
  for (const BasicBlock& block : function) {
    numbers[&block] = static_cast<int>(blocks.size());
    blocks.push_back(&block);
  }
  std::vector<std::vector<int>> edges(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (const BasicBlock* next : ways(blocks[i])) edges[i].push_back(numbers[next]);
  }
  const PostDominators tree(std::move(edges));
  for (size_t i = 0; i < blocks.size(); ++i) {
    const int block = static_cast<int>(i);
    if (tree.ways(block).size() < 2) continue;
    std::set<int> decided;
    for (int next : tree.ways(block)) {
      for (int at = next; at != tree.parent(block) && at != tree.exit() && at >= 0; at = tree.parent(at)) {
        if (!decided.insert(at).second) break;
      }
    }
    if (const int meet = tree.parent(block); meet >= 0 && meet != tree.exit())
      rejoins_[blocks[i]] = blocks[static_cast<size_t>(meet)]->getFirstNonPHI();
    for (int at : decided) decided_[blocks[i]].push_back(blocks[static_cast<size_t>(at)]);
  }
}

const std::vector<const BasicBlock*>& ControlFlow::decided_by(const BasicBlock* block) const {
  auto found = decided_.find(block);
  return found == decided_.end() ? none_ : found->second;
}

const Loop* ControlFlow::common_loop(const Instruction* a, const Instruction* b) const {
  for (const Loop* loop = loop_of(a); loop != nullptr; loop = loop->getParentLoop()) {
    if (loop->contains(b)) return loop;
  }
  return nullptr;
}

bool ControlFlow::always_followed(const Instruction* a, const Instruction* b) const {
  if (reaches(a, a, {b})) return false;
  for (const BasicBlock& block : *a->getFunction()) {
    if (isa<ReturnInst>(block.getTerminator()) && reaches(a, block.getTerminator(), {b})) return false;
  }
  return true;
}

bool ControlFlow::reaches(const Instruction* from, const Instruction* to,
                          ArrayRef<const Instruction*> avoiding, const Loop* loop) const {
  const BasicBlock* last = to->getParent();
  bool apart = from->getParent() != last;
  std::vector<const Instruction*> avoided;
  for (const Instruction* at : avoiding) {
    if (at == nullptr) continue;
    apart = apart && at->getParent() != last;
    avoided.push_back(at);
  }
  if (!apart) return search(from, to, avoided, loop);
  std::sort(avoided.begin(), avoided.end());
  auto [it, fresh] = answers_.try_emplace(Question(from, last, avoided, loop), false);
  if (fresh) it->second = search(from, to, avoided, loop);
  return it->second;
}

bool ControlFlow::search(const Instruction* from, const Instruction* to,
                         ArrayRef<const Instruction*> avoiding, const Loop* loop) const {
  // 0: goes on, 1: arrived, 2: stopped.
  auto pass = [&](const Instruction* at) {
    for (; at != nullptr; at = at->getNextNode()) {
      if (at == to) return 1;
      if (std::find(avoiding.begin(), avoiding.end(), at) != avoiding.end()) return 2;
    }
    return 0;
  };
  auto of_interest = [&](const BasicBlock* block) {
    return block == to->getParent() ||
           std::any_of(avoiding.begin(), avoiding.end(),
                       [&](const Instruction* at) { return at->getParent() == block; });
  };
  if (const int now = of_interest(from->getParent()) ? pass(from->getNextNode()) : 0; now != 0)
    return now == 1;
  std::vector<const BasicBlock*> stack{from->getParent()};
  DenseSet<const BasicBlock*> seen;
  while (!stack.empty()) {
    const BasicBlock* block = stack.back();
    stack.pop_back();
    for (const BasicBlock* next : successors(block)) {
      bool another_round = false;
      for (const Loop* around = loop; around != nullptr; around = around->getParentLoop())
        another_round |= around->getHeader() == next && around->contains(block);
      if (another_round || !seen.insert(next).second) continue;
      const int now = of_interest(next) ? pass(&next->front()) : 0;
      if (now == 1) return true;
      if (now == 0) stack.push_back(next);
    }
  }
  return false;
}

namespace {

using Constants = std::map<const Value*, const ConstantInt*>;  // what variables are known to be on this way

const ConstantInt* value_of(const Value* value, const Constants& known) {
  if (const auto* constant = dyn_cast<ConstantInt>(value)) return constant;
  auto found = known.find(value);
  return found == known.end() ? nullptr : found->second;
}

// The branch's way, if the constants decide it; else null.
const BasicBlock* decided_way(const BasicBlock* block, const Constants& known) {
  const auto* branch = dyn_cast<BranchInst>(block->getTerminator());
  if (branch == nullptr || !branch->isConditional()) return nullptr;
  std::optional<bool> outcome;
  if (const ConstantInt* condition = value_of(branch->getCondition(), known)) outcome = !condition->isZero();
  if (const auto* compare = dyn_cast<ICmpInst>(branch->getCondition())) {
    const ConstantInt *left = value_of(compare->getOperand(0), known),
                      *right = value_of(compare->getOperand(1), known);
    if (left != nullptr && right != nullptr)
      outcome = ICmpInst::compare(left->getValue(), right->getValue(), compare->getPredicate());
  }
  return outcome ? branch->getSuccessor(*outcome ? 0 : 1) : nullptr;
}

}  // namespace

bool ControlFlow::way_around(const Instruction* from, const Instruction* to,
                             const std::vector<const Instruction*>& avoiding) const {
  constexpr size_t kMostStates = 4000, kMostConstants = 6;
  // 0: goes on, 1: arrived, 2: stopped.
  auto pass = [&](const Instruction* at) {
    for (; at != nullptr; at = at->getNextNode()) {
      if (at == to) return 1;
      if (std::find(avoiding.begin(), avoiding.end(), at) != avoiding.end()) return 2;
    }
    return 0;
  };
  if (const int now = pass(from->getNextNode()); now != 0) return now == 1;
  std::set<std::pair<const BasicBlock*, Constants>> seen;
  std::vector<std::pair<const BasicBlock*, Constants>> stack{{from->getParent(), {}}};
  while (!stack.empty()) {
    auto [block, known] = std::move(stack.back());
    stack.pop_back();
    const BasicBlock* only = decided_way(block, known);
    for (const BasicBlock* next : ways(block)) {
      if (only != nullptr && next != only) continue;
      Constants then = known;
      for (const PHINode& phi : next->phis()) {
        const ConstantInt* constant = value_of(phi.getIncomingValueForBlock(block), known);
        then.erase(&phi);
        if (constant != nullptr && then.size() < kMostConstants) then[&phi] = constant;
      }
      if (!seen.emplace(next, then).second) continue;
      if (seen.size() > kMostStates) return true;
      const int now = pass(&next->front());
      if (now == 1) return true;
      if (now == 0) stack.emplace_back(next, std::move(then));
    }
  }
  return false;
}

}  // namespace cleave::static_analysis
