#include "feasibility/solve/implied_order.h"

#include <algorithm>

namespace cleave {

ImpliedOrder::ImpliedOrder(std::shared_ptr<const OrderLayout> layout, uint64_t most_work)
    : layout_(std::move(layout)), most_work_(most_work) {
  const uint32_t threads = layout_->threads();
  clocks_.assign(layout_->steps.size() * threads, 0);
  required_.assign(threads, 0);
  seen_.resize(layout_->reads.size());
  scratch_.resize(layout_->reads.size());
  for (uint32_t t = 0; t < threads; ++t) alive_.push_back(layout_->length(t));
  for (uint32_t s = 0; s < layout_->steps.size(); ++s)
    clocks_[size_t{s} * threads + layout_->steps[s].thread] = layout_->steps[s].number;
  for (auto [before, after] : layout_->edges) put_behind(after, before);
  settle();
}

ImpliedOrder ImpliedOrder::with(const FeasibilityQuery& query, bool same_value_is_violation,
                                uint64_t most_work) const {
  ImpliedOrder made = *this;
  made.work_ = 0;
  made.most_work_ = most_work;
  made.has_query_ = true;
  auto step = [&](EventIndex event) { return layout_->step_of(static_cast<uint32_t>(raw(event))); };
  const uint32_t first = step(query.first), remote = step(query.remote), second = step(query.second);
  made.require(remote);
  made.require(second);
  made.put_behind(remote, first);
  made.put_behind(second, remote);
  made.settle();
  if (made.possible_ && !same_value_is_violation) made.judge_guards(query);
  return made;
}

bool ImpliedOrder::possible(const FeasibilityQuery& query) const {
  auto step = [&](EventIndex event) { return layout_->step_of(static_cast<uint32_t>(raw(event))); };
  const uint32_t first = step(query.first), remote = step(query.remote), second = step(query.second);
  if (first == UINT32_MAX || remote == UINT32_MAX || second == UINT32_MAX) return true;
  return !dead(remote) && !dead(second) && !comes_before(remote, first) && !comes_before(second, remote);
}

std::vector<uint32_t> ImpliedOrder::required_events() const {
  std::vector<uint32_t> events;
  for (uint32_t t = 0; t < required_.size(); ++t) {
    if (required_[t] > 0) events.push_back(layout_->steps[layout_->offset[t] + required_[t] - 1].event);
  }
  return events;
}

// Rounds of order and values, until nothing follows any more. Sets of values shrink along; where that has
// come to an end, they are made anew from the beginning, which frees them of values that only go round in
// circles.
void ImpliedOrder::settle() {
  spread();
  if (levels_.empty()) {
    start_values();
    order_pass();
    renew_values();
  }
  for (bool renewed = false; possible_ && work_ < most_work_;) {
    grew_ = false;
    order_pass();
    if (grew_) {
      renewed = false;
      continue;
    }
    if (renewed || !possible_ || work_ >= most_work_) return;
    renewed = true;
    renew_values();
  }
}

void ImpliedOrder::order_pass() {
  for (uint32_t s : layout_->in_trace_order) {
    if (!possible_ || work_ >= most_work_) return;
    const OrderStep& step = layout_->steps[s];
    if (dead(s)) continue;
    if (step.read != UINT32_MAX) find_writes(step.read);
    if (!dead(s)) order_sections(s);
    if (!dead(s) && !step.wakers.empty()) order_wake(s);
    if (!dead(s)) narrow(s);
  }
}

std::vector<uint32_t> ImpliedOrder::up_to(uint32_t step) const {
  std::vector<uint32_t> up(clock(step), clock(step) + layout_->threads());
  up[layout_->steps[step].thread] = layout_->steps[step].number + 1;
  return up;
}

void ImpliedOrder::put_behind(uint32_t step, uint32_t before) {
  if (!comes_before(before, step) || step == before) raise(step, up_to(before));
}

// Whether the step's clock has become higher by this one.
bool ImpliedOrder::join(uint32_t step, const std::vector<uint32_t>& with) {
  uint32_t* mine = &clocks_[size_t{step} * layout_->threads()];
  bool higher = false;
  for (size_t t = 0; t < with.size(); ++t) {
    if (mine[t] >= with[t]) continue;
    mine[t] = with[t];
    higher = true;
  }
  return higher;
}

void ImpliedOrder::raise(uint32_t step, const std::vector<uint32_t>& with) {
  if (!join(step, with)) return;
  grew_ = true;
  changed_.push_back(step);
  spread();
}

// Raised clocks go on to all that comes behind.
void ImpliedOrder::spread() {
  const uint32_t threads = layout_->threads();
  while (!changed_.empty()) {
    const uint32_t at = changed_.back();
    changed_.pop_back();
    work_ += threads;
    const OrderStep& step = layout_->steps[at];
    if (dead(at)) continue;
    bool lost = clock(at)[step.thread] > step.number;
    for (uint32_t t = 0; t < threads; ++t) lost = lost || clock(at)[t] > alive_[t];
    if (lost) {
      kill(at);
      continue;
    }
    if (required(at)) {
      for (uint32_t t = 0; t < threads; ++t) {
        if (clock(at)[t] > required_[t]) require(layout_->offset[t] + clock(at)[t] - 1);
      }
    }
    const std::vector<uint32_t> up = up_to(at);
    for (uint32_t t = 0; t < threads; ++t) {
      uint32_t low = t == step.thread ? step.number + 1 : 0, high = alive_[t];
      if (t != step.thread) {  // the first there that has this step behind it
        while (low < high) {
          const uint32_t middle = (low + high) / 2;
          if (clock(layout_->offset[t] + middle)[step.thread] > step.number)
            high = middle;
          else
            low = middle + 1;
        }
      }
      const uint32_t behind = layout_->offset[t] + low;
      if (low < alive_[t] && join(behind, up)) changed_.push_back(behind);
    }
  }
}

void ImpliedOrder::kill(uint32_t step) {
  const OrderStep& gone = layout_->steps[step];
  if (gone.number >= alive_[gone.thread]) return;
  alive_[gone.thread] = gone.number;
  grew_ = true;
  if (required_[gone.thread] > gone.number) possible_ = false;
  for (uint32_t t = 0; t < alive_.size(); ++t) {  // what needs it is gone too
    for (uint32_t n = 0; n < alive_[t]; ++n) {
      if (clock(layout_->offset[t] + n)[gone.thread] <= gone.number) continue;
      changed_.push_back(layout_->offset[t] + n);
      break;
    }
  }
}

// The step is taken, with all that comes before it.
void ImpliedOrder::require(uint32_t step) {
  const OrderStep& taken = layout_->steps[step];
  if (taken.number < required_[taken.thread]) return;
  required_[taken.thread] = taken.number + 1;
  grew_ = true;
  if (dead(step)) possible_ = false;
  for (uint32_t t = 0; t < required_.size(); ++t) {
    if (clock(step)[t] > required_[t]) require(layout_->offset[t] + clock(step)[t] - 1);
  }
}

// A write that another one hides, or that comes later, is not seen.
ImpliedOrder::Seen ImpliedOrder::visible(uint32_t at, uint32_t number, uint32_t own_write) const {
  const OrderVariable& variable = layout_->variables[number];
  const uint32_t threads = layout_->threads();
  const OrderStep& reader = layout_->steps[at];
  std::vector<uint32_t> hidden(threads, 0);
  Seen seen{true, {}};
  auto number_of = [&](uint32_t write) { return layout_->steps[layout_->writes[write].step].number; };
  for (uint32_t t = 0; t < threads; ++t) {
    const std::vector<uint32_t>& certain = variable.certain[t];
    auto it = std::lower_bound(certain.begin(), certain.end(), clock(at)[t],
                               [&](uint32_t w, uint32_t n) { return number_of(w) < n; });
    if (it == certain.begin()) continue;
    seen.initial = false;
    const uint32_t* last = clock(layout_->writes[*std::prev(it)].step);
    for (uint32_t other = 0; other < threads; ++other) hidden[other] = std::max(hidden[other], last[other]);
  }
  for (uint32_t t = 0; t < threads; ++t) {
    const std::vector<uint32_t>& all = variable.writes[t];
    auto it = std::lower_bound(all.begin(), all.end(), hidden[t],
                               [&](uint32_t w, uint32_t n) { return number_of(w) < n; });
    for (; it != all.end(); ++it) {
      const uint32_t step = layout_->writes[*it].step;
      if (*it == own_write) continue;
      if (dead(step) || clock(step)[reader.thread] > reader.number) break;  // and so are the next
      if (t == reader.thread && number_of(*it) > reader.number) break;
      seen.writes.push_back(*it);
    }
  }
  return seen;
}

void ImpliedOrder::find_writes(uint32_t number) {
  const OrderRead& read = layout_->reads[number];
  if (read.variable == UINT32_MAX) return;
  if (read.sees != UINT32_MAX)
    seen_[number] = {false, {read.sees}};
  else
    seen_[number] = visible(read.step, read.variable, read.own_write);
  const Seen& seen = seen_[number];
  work_ += seen.writes.size() + layout_->threads();
  if (seen.initial) return;
  if (seen.writes.empty()) return kill(read.step), spread();
  std::vector<uint32_t> least = up_to(layout_->writes[seen.writes.front()].step);
  for (uint32_t write : seen.writes) {
    const std::vector<uint32_t> up = up_to(layout_->writes[write].step);
    for (uint32_t t = 0; t < least.size(); ++t) least[t] = std::min(least[t], up[t]);
  }
  least[layout_->steps[read.step].thread] = 0;
  raise(read.step, least);
}

// A section that was entered before this step, which is in one of the same lock, was left before it.
void ImpliedOrder::order_sections(uint32_t at) {
  const OrderStep& step = layout_->steps[at];
  for (uint32_t number : step.sections) {
    const OrderSection& mine = layout_->sections[number];
    for (uint32_t t = 0; t < layout_->threads(); ++t) {
      const std::vector<uint32_t>& others = layout_->sections_of[mine.lock][t];
      if (t == step.thread || others.empty()) continue;
      ++work_;
      const int64_t taken = clock(at)[t];
      auto it = std::lower_bound(others.begin(), others.end(), taken,
                                 [&](uint32_t s, int64_t n) { return layout_->sections[s].begin < n; });
      if (it == others.begin()) continue;
      const OrderSection& theirs = layout_->sections[*std::prev(it)];
      if ((theirs.shared && mine.shared) || (theirs.end != UINT32_MAX && theirs.end < taken)) continue;
      // Where both are entered in any case, theirs comes before mine as a whole.
      const uint32_t begin =
          mine.begin < 0 ? UINT32_MAX : layout_->offset[step.thread] + static_cast<uint32_t>(mine.begin);
      const bool both = has_query_ && begin != UINT32_MAX && required(begin) && theirs.begin < required_[t];
      const uint32_t target = both ? begin : at;
      if (theirs.end == UINT32_MAX) {
        kill(target);
        spread();
        return;
      }
      put_behind(target, layout_->offset[t] + theirs.end);
      if (dead(at)) return;
    }
  }
}

// It was woken by a signal after it began to wait.
void ImpliedOrder::order_wake(uint32_t at) {
  const OrderStep& step = layout_->steps[at];
  std::vector<uint32_t> least;
  for (uint32_t waker : step.wakers) {
    if (dead(waker) || comes_before(at, waker) || (step.wait != UINT32_MAX && comes_before(waker, step.wait)))
      continue;
    std::vector<uint32_t> up = up_to(waker);
    if (least.empty()) least = up;
    for (uint32_t t = 0; t < least.size(); ++t) least[t] = std::min(least[t], up[t]);
  }
  work_ += step.wakers.size();
  if (least.empty()) return kill(at), spread();
  least[step.thread] = 0;
  raise(at, least);
}

}  // namespace cleave
