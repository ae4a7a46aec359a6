#include "pass/mark/outcomes.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/CFG.h>

namespace cleave {

using namespace llvm;

namespace {

constexpr unsigned kMost = 14;  // what can be left behind by anyone: the fifteenth is never kept

unsigned through(std::vector<Action*>& actions, unsigned waiting) {
  for (Action* action : actions) {
    switch (action->kind) {
      case Action::Segment:
        waiting = 0;
        break;
      case Action::AfterCall:
        waiting = kMost;
        break;
      case Action::Branch:
        action->may_fill = waiting + 1 > kMost;
        waiting = std::min(waiting + 1, kMost);
        break;
      default:
        break;  // a hook takes them or leaves them
    }
  }
  return waiting;
}

}  // namespace

void bound_outcomes(FunctionPlan& plan) {
  DenseMap<const BasicBlock*, std::vector<Action*>> actions;
  for (Action& action : plan.actions) actions[action.at->getParent()].push_back(&action);
  DenseMap<const BasicBlock*, unsigned> at_start;
  std::vector<const BasicBlock*> work{&plan.function->getEntryBlock()};
  at_start[work.back()] = kMost;
  while (!work.empty()) {
    const BasicBlock* block = work.back();
    work.pop_back();
    unsigned waiting = through(actions[block], at_start[block]);
    for (const BasicBlock* next : successors(block)) {
      auto [known, fresh] = at_start.try_emplace(next, waiting);
      if (!fresh && known->second >= waiting) continue;
      known->second = std::max(known->second, waiting);
      work.push_back(next);
    }
  }
}

}  // namespace cleave
