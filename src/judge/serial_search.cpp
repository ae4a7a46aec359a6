#include "judge/serial_search.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/random.h"

namespace cleave::judge {
namespace {

struct Fingerprint {
  uint64_t low = 0, high = 0;
  void toggle(const Fingerprint& other) {
    low ^= other.low;
    high ^= other.high;
  }
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

struct FingerprintHash {
  size_t operator()(const Fingerprint& print) const { return print.low; }
};

std::vector<Fingerprint> random_prints(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<Fingerprint> prints(count);
  for (Fingerprint& print : prints) print = {random.next(), random.next()};
  return prints;
}

// Steps that are not yet placed, counted in the ways that the rules below ask for. Counts by thread are kept
// for (value, thread) and (location, thread), so that a step can leave its own thread out.
class Pending {
 public:
  explicit Pending(const Projection& projection, bool final_writes)
      : threads_(projection.threads.size()),
        need_(projection.values, 0),
        need_and_write_(projection.values, 0),
        leave_(projection.values, 0),
        replace_(projection.values, 0),
        begin_(projection.values, 0),
        blind_(projection.initial.size(), 0) {
    for (const Step& step : projection.steps) {
      for (const Touch& touch : projection.of(step)) count(step.thread, touch, 1);
    }
    for (uint32_t value : projection.final) {
      need_[value] += final_writes ? 1 : 0;
      replace_[value] += final_writes ? 1 : 0;  // never by a step: it has to be there once more
    }
  }

  void count(uint32_t thread, const Touch& touch, int by) {
    if (touch.needs != kNoValue) {
      need_[touch.needs] += by;
      own_need_[key(touch.needs, thread)] += by;
      if (touch.leaves != kNoValue) {
        need_and_write_[touch.needs] += by;
        own_need_and_write_[key(touch.needs, thread)] += by;
      }
    } else {
      blind_[touch.location] += by;
      own_blind_[key(touch.location, thread)] += by;
    }
    if (touch.leaves == kNoValue) return;
    leave_[touch.leaves] += by;
    if (touch.leaves == touch.needs) return;
    begin_[touch.leaves] += by;
    if (touch.needs != kNoValue) replace_[touch.needs] += by;
  }

  // Somebody still needs the value, and nobody will write it again.
  bool lost(uint32_t value) const { return need_[value] > 0 && leave_[value] == 0; }

  // The value is still to be replaced more often than it can still come. Only a step that overwrites the
  // value without reading it changes that balance.
  bool overdrawn(uint32_t value, bool held) const { return replace_[value] > begin_[value] + (held ? 1 : 0); }

  // Whether a step of another thread could touch (or write) the location while it holds `value`.
  bool others_touch(uint32_t thread, uint32_t location, uint32_t value) const {
    return others(blind_[location], own_blind_, location, thread) ||
           others(need_[value], own_need_, value, thread);
  }
  bool others_write(uint32_t thread, uint32_t location, uint32_t value) const {
    return others(blind_[location], own_blind_, location, thread) ||
           others(need_and_write_[value], own_need_and_write_, value, thread);
  }

 private:
  using Counts = std::unordered_map<uint64_t, int>;
  uint64_t key(uint32_t what, uint32_t thread) const { return uint64_t{what} * threads_ + thread; }
  bool others(int all, const Counts& own, uint32_t what, uint32_t thread) const {
    if (all == 0) return false;
    auto it = own.find(key(what, thread));
    return all > (it == own.end() ? 0 : it->second);
  }

  uint64_t threads_;
  std::vector<int> need_, need_and_write_, leave_, replace_, begin_, blind_;
  Counts own_need_, own_need_and_write_, own_blind_;
};

class Search {
 public:
  Search(const Projection& projection, bool final_writes, uint64_t budget)
      : projection_(projection),
        final_writes_(final_writes),
        budget_(budget),
        pending_(projection, final_writes),
        memory_(projection.initial),
        next_(projection.threads.size(), 0),
        done_(projection.steps.size(), false),
        step_prints_(random_prints(projection.steps.size(), 1)),
        value_prints_(random_prints(projection.values, 2)) {
    for (uint32_t value : memory_) print_.toggle(value_prints_[value]);
  }

  // Depth first with an explicit stack: orders are as long as the trace has units.
  SearchResult run() {
    if (hopeless_from_the_start()) return {SearchOutcome::None, {}, 1};
    open_frame();
    while (!frames_.empty()) {
      if (order_.size() == projection_.steps.size()) {
        if (!final_writes_ || memory_ == projection_.final) return {SearchOutcome::Found, order_, states_};
      } else if (!frames_.back().choices.empty()) {
        const uint32_t step = frames_.back().choices.back();
        frames_.back().choices.pop_back();
        const bool alive = place(step);
        if (states_ == budget_) return {SearchOutcome::OutOfBudget, {}, states_};
        if (alive && fresh()) {
          open_frame();
        } else {
          take_back();
        }
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) take_back();
    }
    return {SearchOutcome::None, {}, states_};
  }

 private:
  struct Frame {
    std::vector<uint32_t> choices;  // still to be tried, best last
  };
  struct Placed {
    uint32_t step;
    std::vector<uint32_t> overwritten;  // values, in the order of the step's touches
  };

  bool hopeless_from_the_start() const {
    std::vector<bool> holds(projection_.values, false);
    for (uint32_t value : memory_) holds[value] = true;
    for (uint32_t value = 0; value < projection_.values; ++value) {
      const bool held = holds[value];
      if ((pending_.lost(value) && !held) || pending_.overdrawn(value, held)) return true;
    }
    return false;
  }

  bool fresh() {
    ++states_;
    return seen_.insert(print_).second;
  }

  bool ready(uint32_t step_number) const {
    const Step& step = projection_.steps[step_number];
    if (step.waits_for != UINT32_MAX && !done_[step.waits_for]) return false;
    for (uint32_t thread : step.joins) {
      if (next_[thread] != projection_.threads[thread].size()) return false;
    }
    for (const Touch& touch : projection_.of(step)) {
      if (touch.needs != kNoValue && touch.needs != memory_[touch.location]) return false;
    }
    return true;
  }

  // In every completion of this prefix, no step that comes before this one conflicts with it: then it can
  // come now. Steps that need another value than the location holds cannot come before someone has written
  // it.
  bool can_come_now(const Step& step) const {
    bool changes = false;
    for (const Touch& touch : projection_.of(step)) {
      changes = changes || (touch.leaves != kNoValue && touch.leaves != touch.needs);
    }
    if (!changes) return true;  // leaves memory as it is wherever it stands
    for (const Touch& touch : projection_.of(step)) {
      const uint32_t value = memory_[touch.location];
      if (touch.leaves == kNoValue ? pending_.others_write(step.thread, touch.location, value)
                                   : pending_.others_touch(step.thread, touch.location, value)) {
        return false;
      }
    }
    return true;
  }

  void open_frame() {
    Frame frame;
    for (size_t thread = 0; thread < next_.size(); ++thread) {
      if (next_[thread] == projection_.threads[thread].size()) continue;
      const uint32_t step = projection_.threads[thread][next_[thread]];
      if (!ready(step)) continue;
      if (can_come_now(projection_.steps[step])) {
        frame.choices = {step};
        break;
      }
      frame.choices.push_back(step);
    }
    // The recorded order is the best guess: try the step that came first there first.
    std::sort(frame.choices.begin(), frame.choices.end(), std::greater<>());
    frames_.push_back(std::move(frame));
  }

  // False if a value that is still needed is lost by it.
  bool place(uint32_t step_number) {
    const Step& step = projection_.steps[step_number];
    Placed placed{step_number, {}};
    bool alive = true;
    for (const Touch& touch : projection_.of(step)) pending_.count(step.thread, touch, -1);
    for (const Touch& touch : projection_.of(step)) {
      const uint32_t before = memory_[touch.location];
      placed.overwritten.push_back(before);
      if (touch.leaves == kNoValue) continue;
      if (touch.leaves == before) {  // written again: one chance less for it to come
        alive = alive && (touch.needs != kNoValue || !pending_.overdrawn(before, true));
        continue;
      }
      set_memory(touch.location, touch.leaves);
      alive = alive && !pending_.lost(before) && !pending_.overdrawn(before, false);
    }
    done_[step_number] = true;
    ++next_[step.thread];
    print_.toggle(step_prints_[step_number]);
    order_.push_back(step_number);
    placed_.push_back(std::move(placed));
    return alive;
  }

  void take_back() {
    const Placed& placed = placed_.back();
    const Step& step = projection_.steps[placed.step];
    const auto touches = projection_.of(step);
    for (size_t i = 0; i < touches.size(); ++i) {
      set_memory(touches[i].location, placed.overwritten[i]);
      pending_.count(step.thread, touches[i], 1);
    }
    done_[placed.step] = false;
    --next_[step.thread];
    print_.toggle(step_prints_[placed.step]);
    order_.pop_back();
    placed_.pop_back();
  }

  void set_memory(uint32_t location, uint32_t value) {
    print_.toggle(value_prints_[memory_[location]]);
    memory_[location] = value;
    print_.toggle(value_prints_[value]);
  }

  const Projection& projection_;
  bool final_writes_;
  uint64_t budget_;
  Pending pending_;
  std::vector<uint32_t> memory_;
  std::vector<size_t> next_;
  std::vector<bool> done_;
  std::vector<Fingerprint> step_prints_, value_prints_;
  Fingerprint print_;
  std::unordered_set<Fingerprint, FingerprintHash> seen_;
  std::vector<Frame> frames_;
  std::vector<Placed> placed_;
  std::vector<uint32_t> order_;
  uint64_t states_ = 0;
};

}  // namespace

SearchResult search_all_orders(const Projection& projection, bool final_writes, uint64_t budget) {
  if (projection.broken) return {SearchOutcome::None, {}, 0};
  return Search(projection, final_writes, budget).run();
}

}  // namespace cleave::judge
