#include "feasibility/solve/co_reachability.h"

#include "feasibility/solve/run_state.h"

namespace cleave {
namespace {

uint32_t number_of(EventIndex event) { return static_cast<uint32_t>(raw(event)); }

Slice whole_run(const SliceIndex& index) {
  Slice slice(index);
  for (size_t t = 0; t < index.trace().threads().size(); ++t) {
    auto mine = index.thread_events(id_of<ThreadId>(t));
    if (!mine.empty()) slice.add(mine.back());
  }
  return slice;
}

}  // namespace

// Depth first over the states, as explore.cpp does, but to the end and for no triple in particular.
class CoReachability::Search {
 public:
  Search(CoReachability& result, RunState& state, const FeasibilityOptions& options)
      : result_(result), state_(state), options_(options) {}

  // Whether all states were seen.
  bool run(uint64_t most_states) {
    descend();
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.taken) state_.undo();
      frame.taken = false;
      if (frame.next == choices_.size()) {
        choices_.resize(frame.first);
        frames_.pop_back();
        continue;
      }
      const auto [thread, way] = choices_[frame.next++];
      state_.step(thread, way);
      frame.taken = true;
      if (seen_.size() >= most_states) return false;
      if (++steps_ % 4096 == 0 && options_.seconds_left && options_.seconds_left() <= 0) return false;
      descend();
    }
    return true;
  }
  uint64_t states() const { return seen_.size(); }

 private:
  struct Frame {
    size_t first, next;
    bool taken;
  };

  void descend() {
    frames_.push_back({choices_.size(), choices_.size(), false});
    if (auto eager = state_.unnoticed()) {
      choices_.emplace_back(*eager, 0);
      return;
    }
    if (!seen_.insert(state_.fingerprint()).second) return;
    for (uint32_t thread = 0; thread < state_.threads(); ++thread) {
      const uint32_t ways = state_.ways(thread);
      for (uint32_t way = 0; way < ways; ++way) choices_.emplace_back(thread, way);
      if (ways > 0) note(thread);
    }
  }

  // The thread can take its next step here: where are the others?
  void note(uint32_t thread) {
    auto it = result_.number_.find(state_.next_event(thread));
    if (it == result_.number_.end()) return;
    for (uint32_t other = 0; other < state_.threads(); ++other)
      result_.places_[it->second][other][state_.steps_taken(other)] = true;
  }

  CoReachability& result_;
  RunState& state_;
  const FeasibilityOptions& options_;
  std::vector<Frame> frames_;
  std::vector<std::pair<uint32_t, uint32_t>> choices_;
  boost::unordered_flat_set<Fingerprint, FingerprintHash> seen_;
  uint64_t steps_ = 0;
};

CoReachability::CoReachability(const SymbolicTrace& trace, const SliceIndex& index,
                               const std::vector<std::vector<Section>>& derived,
                               std::span<const FeasibilityQuery> queries, const FeasibilityOptions& options,
                               uint64_t most_states) {
  const Slice slice = whole_run(index);
  boost::unordered_flat_set<uint32_t> marked;
  for (const FeasibilityQuery& query : queries) {
    for (EventIndex event : {query.first, query.remote, query.second}) marked.insert(number_of(event));
  }
  const Cone cone(trace, index, slice, derived, marked, options.model);
  RunState state(trace, index, cone, marked, options);
  if (!state.applicable() || state.inputs_fixed()) return;
  for (uint32_t thread = 0; thread < state.threads(); ++thread) {
    for (uint32_t step = 0; step < state.length(thread); ++step)
      step_of_[state.event_at(thread, step)] = {thread, step};
  }
  for (const FeasibilityQuery& query : queries) {
    auto [it, fresh] = number_.emplace(number_of(query.remote), static_cast<uint32_t>(places_.size()));
    if (!fresh) continue;
    places_.emplace_back(state.threads());
    for (uint32_t thread = 0; thread < state.threads(); ++thread)
      places_.back()[thread].resize(state.length(thread) + 1);
  }
  Search search(*this, state, options);
  exhausted_ = search.run(most_states);
  states_ = search.states();
}

bool CoReachability::possible(const FeasibilityQuery& query) const {
  auto remote = number_.find(number_of(query.remote));
  auto first = step_of_.find(number_of(query.first)), second = step_of_.find(number_of(query.second));
  if (!exhausted_ || remote == number_.end() || first == step_of_.end() || second == step_of_.end())
    return true;
  const std::vector<bool>& places = places_[remote->second][first->second.thread];
  for (uint32_t taken = first->second.number + 1; taken <= second->second.number; ++taken) {
    if (places[taken]) return true;
  }
  return false;
}

}  // namespace cleave
