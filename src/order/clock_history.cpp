#include "order/clock_history.h"

namespace cleave::order {

Position ClockHistory::value_at(const Steps& steps, Position at) {
  auto after = std::upper_bound(steps.begin(), steps.end(), at, [](Position p, const Step& s) { return p < s.at; });
  return after == steps.begin() ? 0 : std::prev(after)->value;
}

void ClockHistory::raise(uint32_t t, Position at, uint32_t u, Position value) {
  if (t == u || value == 0) return;
  auto [found, fresh] = index_.try_emplace(key(t, u), static_cast<uint32_t>(lists_.size()));
  if (fresh) {
    lists_.emplace_back();
    components_[t].push_back(u);
  }
  Steps& steps = lists_[found->second];
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
    if (third != t) raise(t, at, third, value_at(*find(u, third), upto));
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
