#include "order/clock_history.h"

namespace cleave::order {
namespace {

constexpr size_t kDenseThreads = 1024;

}  // namespace

ClockHistory::ClockHistory(size_t threads) : components_(threads) {
  if (threads <= kDenseThreads) dense_.assign(threads * threads, kNoList);
}

ClockHistory::Steps& ClockHistory::make(uint32_t t, uint32_t u) {
  uint32_t list = list_of(t, u);
  if (list != kNoList) return lists_[list];
  list = static_cast<uint32_t>(lists_.size());
  if (dense_.empty()) {
    index_.emplace(key(t, u), list);
  } else {
    dense_[t * components_.size() + u] = list;
  }
  components_[t].push_back(u);
  return lists_.emplace_back();
}

Position ClockHistory::value_at(const Steps& steps, Position at) {
  auto after =
      std::upper_bound(steps.begin(), steps.end(), at, [](Position p, const Step& s) { return p < s.at; });
  return after == steps.begin() ? 0 : std::prev(after)->value;
}

Position ClockHistory::recent_value_at(const Steps& steps, Position at) {
  size_t reach = 1, size = steps.size();
  while (reach <= size && steps[size - reach].at > at) reach *= 2;
  size_t from = reach <= size ? size - reach : 0;
  auto after = std::upper_bound(steps.begin() + static_cast<ptrdiff_t>(from), steps.end(), at,
                                [](Position p, const Step& s) { return p < s.at; });
  return after == steps.begin() ? 0 : std::prev(after)->value;
}

void ClockHistory::raise(uint32_t t, Position at, uint32_t u, Position value) {
  if (t == u || value == 0) return;
  Steps& steps = make(t, u);
  if (!steps.empty()) {
    if (steps.back().value >= value) return;
    if (steps.back().at == at) {
      steps.back().value = value;
      return;
    }
  }
  steps.push_back({at, value});
  ++steps_;
}

void ClockHistory::join(uint32_t t, Position at, uint32_t u, Position upto) {
  if (t == u || upto == 0) return;
  const Steps* own = find(t, u);
  if (own && !own->empty() && own->back().value >= upto) return;  // and then all of u's past is known too
  raise(t, at, u, upto);
  for (uint32_t third : components_[u]) {
    if (third != t) raise(t, at, third, recent_value_at(*find(u, third), upto));
  }
}

void ClockHistory::join(uint32_t t, Position at, const Clock& clock) {
  for (const Component& c : clock) raise(t, at, c.thread, c.value);
}

Position ClockHistory::known(uint32_t t, Position at, uint32_t u) const {
  if (t == u) return at;
  const Steps* steps = find(t, u);
  return steps ? value_at(*steps, at) : 0;
}

Position ClockHistory::first_knowing(uint32_t t, uint32_t u, Position value) const {
  if (t == u) return value;
  const Steps* steps = find(t, u);
  if (!steps) return kNever;
  auto found = std::lower_bound(steps->begin(), steps->end(), value,
                                [](const Step& s, Position v) { return s.value < v; });
  return found == steps->end() ? kNever : found->at;
}

Clock ClockHistory::clock(uint32_t t, Position at) const {
  Clock result;
  result.push_back({t, at});
  for (uint32_t u : components_[t]) {
    if (Position value = known(t, at, u)) result.push_back({u, value});
  }
  std::sort(result.begin(), result.end(), [](auto& a, auto& b) { return a.thread < b.thread; });
  return result;
}

Clock meet(const Clock& a, const Clock& b) {
  Clock result;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].thread < b[j].thread) {
      ++i;
    } else if (b[j].thread < a[i].thread) {
      ++j;
    } else {
      result.push_back({a[i].thread, std::min(a[i].value, b[j].value)});
      ++i, ++j;
    }
  }
  return result;
}

}  // namespace cleave::order
