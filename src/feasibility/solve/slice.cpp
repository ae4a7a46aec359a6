#include "feasibility/solve/slice.h"

#include <algorithm>
#include <numeric>

namespace cleave {

void Slice::add(uint32_t event) {
  std::vector<uint32_t> open{event};
  while (!open.empty()) {
    uint32_t next = open.back();
    open.pop_back();
    ThreadId thread = index_->trace().events()[next].thread;
    uint32_t target = index_->position_in_thread(next) + 1;
    auto mine = index_->thread_events(thread);
    uint32_t& length = length_[raw(thread)];
    for (; length < target; ++length) {
      for (uint32_t needed : index_->must_follow(mine[length])) {
        if (!contains(needed)) open.push_back(needed);
      }
      if (length + 1 == target) {  // what is held at the boundary must be given back
        uint32_t release = index_->last_release_needed(mine[length]);
        if (!contains(release) && release != mine[length]) open.push_back(release);
      }
    }
  }
}

Slice::Slice(const SliceIndex& index, uint32_t from) : Slice(index) {
  from_ = from;
  for (size_t t = 0; t < first_.size(); ++t) {
    auto mine = index.thread_events(id_of<ThreadId>(t));
    first_[t] = length_[t] =
        static_cast<uint32_t>(std::lower_bound(mine.begin(), mine.end(), from) - mine.begin());
  }
}

uint32_t Slice::events() const {
  return std::accumulate(length_.begin(), length_.end(), 0u) -
         std::accumulate(first_.begin(), first_.end(), 0u);
}

uint32_t Slice::cost(uint32_t event) const {
  Slice grown = *this;
  grown.add(event);
  return grown.events() - events();
}

}  // namespace cleave
