#include <algorithm>
#include <functional>
#include <queue>

#include "judge/serial_search.h"

namespace cleave::judge {

SearchResult order_by_conflicts(const Projection& projection) {
  const size_t count = projection.steps.size();
  std::vector<std::pair<uint32_t, uint32_t>> edges = projection.conflicts;
  for (const auto& steps : projection.threads) {
    for (size_t i = 1; i < steps.size(); ++i) edges.emplace_back(steps[i - 1], steps[i]);
  }
  for (uint32_t step = 0; step < count; ++step) {
    if (projection.steps[step].waits_for != UINT32_MAX)
      edges.emplace_back(projection.steps[step].waits_for, step);
    for (uint32_t thread : projection.steps[step].joins)
      edges.emplace_back(projection.threads[thread].back(), step);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());

  std::vector<uint32_t> waiting(count, 0);
  for (const auto& [from, to] : edges) ++waiting[to];
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;  // first come, first placed
  for (uint32_t step = 0; step < count; ++step) {
    if (waiting[step] == 0) ready.push(step);
  }
  SearchResult result;
  while (!ready.empty()) {
    const uint32_t step = ready.top();
    ready.pop();
    result.order.push_back(step);
    auto it = std::lower_bound(edges.begin(), edges.end(), std::pair{step, uint32_t{0}});
    for (; it != edges.end() && it->first == step; ++it) {
      if (--waiting[it->second] == 0) ready.push(it->second);
    }
  }
  result.outcome = result.order.size() == count ? SearchOutcome::Found : SearchOutcome::None;
  return result;
}

}  // namespace cleave::judge
