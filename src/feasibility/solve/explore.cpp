#include "feasibility/solve/explore.h"

#include <algorithm>

#include "feasibility/solve/run_state.h"

namespace cleave {
namespace {

class Search {
 public:
  Search(const SymbolicTrace& trace, const SliceIndex& index, const Cone& cone, const FeasibilityQuery& query,
         const FeasibilityOptions& options, Switches switches, Guide guide, const ImpliedOrder* order)
      : switches_(switches),
        guide_(guide),
        state_(trace, index, cone, query, options, order),
        options_(options) {}

  Exploration run(uint64_t most_states) {
    Exploration result;
    if (!state_.applicable()) return result;
    descend();
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.taken) {
        state_.undo();
        frame.taken = false;
      }
      if (frame.next == choices_.size()) {
        choices_.resize(frame.first);
        frames_.pop_back();
        continue;
      }
      const Choice choice = choices_[frame.next++];
      state_.step(choice.thread, choice.waiter);
      frame.taken = true;
      if (state_.found()) {
        result.outcome = Exploration::Outcome::Found;
        result.order = state_.order();
        result.states = seen_.size();
        return result;
      }
      if (state_.hopeless()) continue;
      if (seen_.size() >= most_states || out_of_time()) {
        result.states = seen_.size();
        return result;
      }
      descend();
    }
    result.states = seen_.size();
    result.outcome = state_.inputs_fixed() ? Exploration::Outcome::GaveUp : Exploration::Outcome::Exhausted;
    return result;
  }

 private:
  struct Choice {
    uint32_t thread, waiter;
  };
  struct Frame {
    size_t first, next;  // into choices_
    bool taken;
  };

  // A frame for the state we are in: one choice if there is a step that nobody can notice, else all that can
  // be taken, unless we have been here.
  void descend() {
    frames_.push_back({choices_.size(), choices_.size(), false});
    if (auto thread = switches_ == Switches::BetweenRuns ? state_.within_run() : std::nullopt) {
      if (state_.ways(*thread) > 0) choices_.push_back({*thread, 0});
      return;
    }
    if (auto eager = state_.unnoticed()) {
      choices_.push_back({*eager, 0});
      return;
    }
    if (!seen_.insert(state_.fingerprint()).second) return;
    for (uint32_t thread : state_.ranking(guide_)) {
      uint32_t ways = state_.ways(thread);
      for (uint32_t waiter = 0; waiter < ways; ++waiter) choices_.push_back({thread, waiter});
    }
  }

  // Looks at the clock now and then.
  bool out_of_time() {
    constexpr uint32_t kSteps = 4096;
    if (++steps_ % kSteps != 0 || !options_.seconds_left) return false;
    return options_.seconds_left() <= 0;
  }

  const Switches switches_;
  const Guide guide_;
  RunState state_;
  const FeasibilityOptions& options_;
  uint32_t steps_ = 0;
  std::vector<Frame> frames_;
  std::vector<Choice> choices_;
  boost::unordered_flat_set<Fingerprint, FingerprintHash> seen_;
};

}  // namespace

Exploration explore(const SymbolicTrace& trace, const SliceIndex& index, const Cone& cone,
                    const FeasibilityQuery& query, const FeasibilityOptions& options, uint64_t most_states,
                    Switches switches, Guide guide, const ImpliedOrder* order) {
  return Search(trace, index, cone, query, options, switches, guide, order).run(most_states);
}

}  // namespace cleave
