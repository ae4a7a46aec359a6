#include "judge/blocks.h"

#include <algorithm>

namespace cleave::judge {
namespace {

// Units that stay: not those around a unit called `level`, and of nested ones the outermost.
std::vector<bool> blocks_among(std::span<const UnitSpan> units, UnitNameId level, size_t threads) {
  std::vector<bool> dissolved(units.size(), false);
  std::vector<std::vector<size_t>> open(threads);
  for (size_t i = 0; i < units.size(); ++i) {
    auto& stack = open[raw(units[i].thread)];
    while (!stack.empty() && units[stack.back()].last < units[i].first) stack.pop_back();
    if (units[i].name == level) {
      for (size_t outer : stack) dissolved[outer] = dissolved[outer] || units[outer].name != level;
    }
    stack.push_back(i);
  }
  std::vector<bool> kept(units.size(), false);
  std::vector<size_t> current(threads, SIZE_MAX);
  for (size_t i = 0; i < units.size(); ++i) {
    size_t& around = current[raw(units[i].thread)];
    if (dissolved[i] || (around != SIZE_MAX && units[i].first <= units[around].last)) continue;
    kept[i] = true;
    around = i;
  }
  return kept;
}

bool concerns_order(EventKind kind) {
  return is_access(kind) || kind == EventKind::Fork || kind == EventKind::Join;
}

}  // namespace

Blocks::Blocks(const Trace& trace, std::span<const UnitSpan> units, UnitNameId level)
    : of_(trace.size(), kNone<BlockId>),
      forked_in_(trace.threads().size(), kNone<BlockId>),
      joined_in_(trace.threads().size(), kNone<BlockId>) {
  cut(trace, units, level);
  read_thread_life(trace);
}

void Blocks::cut(const Trace& trace, std::span<const UnitSpan> units, UnitNameId level) {
  const std::vector<bool> kept = blocks_among(units, level, trace.threads().size());
  std::vector<BlockId> open(trace.threads().size(), kNone<BlockId>);
  size_t next = 0;
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace.events()[i];
    const EventIndex index = id_of<EventIndex>(i);
    BlockId& current = open[raw(event.thread)];
    if (current != kNone<BlockId> && blocks_[raw(current)].last < index) current = kNone<BlockId>;
    for (; next < units.size() && units[next].first <= index; ++next) {
      if (!kept[next]) continue;
      open[raw(units[next].thread)] = id_of<BlockId>(blocks_.size());
      blocks_.push_back({units[next].thread, units[next].first, units[next].last, true, units[next].name});
    }
    if (current != kNone<BlockId>) {
      of_[i] = current;
    } else if (concerns_order(event.kind)) {
      of_[i] = id_of<BlockId>(blocks_.size());
      blocks_.push_back({event.thread, index, index});
    }
  }
}

void Blocks::read_thread_life(const Trace& trace) {
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace.events()[i];
    if (event.kind == EventKind::Fork) forked_in_[raw(event.other())] = of_[i];
    if (event.kind == EventKind::Join) joined_in_[raw(event.other())] = of_[i];
    const bool life = event.kind == EventKind::Fork || event.kind == EventKind::Join;
    if (life && (life_.empty() || life_.back() != of_[i])) life_.push_back(of_[i]);
  }
  std::sort(life_.begin(), life_.end());
  life_.erase(std::unique(life_.begin(), life_.end()), life_.end());
  // A unit that forks and joins the same thread cannot run in one go whatever it touches: that says nothing
  // about the accesses, so such threads are left free. The same when units demand each other in a circle.
  for (size_t t = 0; t < forked_in_.size(); ++t) {
    if (forked_in_[t] == joined_in_[t]) forked_in_[t] = joined_in_[t] = kNone<BlockId>;
  }
  if (!life_is_cyclic()) return;
  for (size_t t = 0; t < forked_in_.size(); ++t) {
    if (forked_in_[t] != kNone<BlockId> && block(forked_in_[t]).declared) forked_in_[t] = kNone<BlockId>;
    if (joined_in_[t] != kNone<BlockId> && block(joined_in_[t]).declared) joined_in_[t] = kNone<BlockId>;
  }
}

// Lets blocks with forks and joins happen as soon as they can; whatever is left waits for itself. Quadratic
// only in chains of threads that join each other.
bool Blocks::life_is_cyclic() const {
  std::vector<std::vector<BlockId>> of_thread(forked_in_.size());
  for (BlockId id : life_) of_thread[raw(block(id).thread)].push_back(id);
  std::vector<std::vector<size_t>> joins(blocks_.size());  // threads that a block joins
  for (size_t t = 0; t < joined_in_.size(); ++t) {
    if (joined_in_[t] != kNone<BlockId>) joins[raw(joined_in_[t])].push_back(t);
  }
  std::vector<bool> done(blocks_.size(), false);
  std::vector<size_t> next(of_thread.size(), 0);
  auto started = [&](size_t t) { return forked_in_[t] == kNone<BlockId> || done[raw(forked_in_[t])]; };
  auto finished = [&](size_t t) { return started(t) && next[t] == of_thread[t].size(); };
  size_t left = life_.size();
  for (bool progress = true; progress && left > 0;) {
    progress = false;
    for (size_t t = 0; t < of_thread.size(); ++t) {
      while (next[t] < of_thread[t].size() && started(t)) {
        const BlockId id = of_thread[t][next[t]];
        if (!std::all_of(joins[raw(id)].begin(), joins[raw(id)].end(), finished)) break;
        done[raw(id)] = true;
        ++next[t];
        --left;
        progress = true;
      }
    }
  }
  return left > 0;
}

bool Blocks::must_precede(BlockId a, BlockId b) const {
  if (a == b) return false;
  // a leads by joins to one block in each of a chain of threads, b comes by forks from one in each of another
  // chain. Chains are as long as threads are nested; a guard keeps damaged traces from going round in
  // circles.
  constexpr int kDeepest = 64;
  BlockId from = a;
  for (int up = 0; from != kNone<BlockId> && up < kDeepest; ++up) {
    BlockId to = b;
    for (int down = 0; to != kNone<BlockId> && down < kDeepest; ++down) {
      if (block(from).thread == block(to).thread) {
        if (from < to || (from == to && (up > 0 || down > 0))) return true;
        break;
      }
      to = forked_in(block(to).thread);
    }
    from = joined_in(block(from).thread);
  }
  return false;
}

}  // namespace cleave::judge
