#include "order/sync_index.h"

#include <algorithm>

namespace cleave::order {
namespace {

void append(Operations& operations, uint32_t thread, Position at) {
  for (ThreadOperations& own : operations) {
    if (own.thread == thread) {
      own.at.push_back(at);
      return;
    }
  }
  operations.push_back({thread, {at}});
}

}  // namespace

const ThreadOperations* of_thread(const Operations& operations, uint32_t thread) {
  for (const ThreadOperations& own : operations) {
    if (own.thread == thread) return &own;
  }
  return nullptr;
}

uint64_t count_upto(const ThreadOperations& operations, Position upto) {
  return static_cast<uint64_t>(std::upper_bound(operations.at.begin(), operations.at.end(), upto) -
                               operations.at.begin());
}

SyncUse& SyncIndex::make(SyncId sync) {
  auto [found, fresh] = index_.try_emplace(raw(sync), static_cast<uint32_t>(uses_.size()));
  if (fresh) uses_.emplace_back();
  return uses_[found->second];
}

const SyncUse* SyncIndex::use(SyncId sync) const {
  auto found = index_.find(raw(sync));
  return found == index_.end() ? nullptr : &uses_[found->second];
}

SyncIndex::SyncIndex(const Trace& trace, const ThreadPositions& positions) {
  boost::unordered_flat_map<uint32_t, int64_t> balance, lowest, arrived;
  std::span<const Event> events = trace.events();
  for (size_t e = 0; e < events.size(); ++e) {
    const Event& event = events[e];
    uint32_t thread = raw(event.thread);
    Position at = positions.of(static_cast<EventNumber>(e));
    switch (event.kind) {
      case EventKind::Signal:
      case EventKind::Broadcast:
        append(make(event.sync()).signals, thread, at);
        break;
      case EventKind::Post:
        append(make(event.sync()).posts, thread, at);
        ++balance[event.object];
        break;
      case EventKind::Down: {
        append(make(event.sync()).downs, thread, at);
        int64_t now = --balance[event.object];
        int64_t& low = lowest[event.object];
        low = std::min(low, now);
        break;
      }
      case EventKind::Arrive:
        append(make(event.sync()).arrivals, thread, at);
        ++arrived[event.object];
        break;
      case EventKind::Pass: {
        SyncUse& use = make(event.sync());
        if (use.parties == 0) use.parties = static_cast<uint64_t>(arrived[event.object]);
        break;
      }
      default:
        break;
    }
  }
  for (auto [sync, number] : index_) {
    SyncUse& use = uses_[number];
    uint64_t said = trace.sync(SyncId{sync}).initial;
    if (!use.downs.empty() || !use.posts.empty()) {
      auto low = lowest.find(sync);
      uint64_t needed = low == lowest.end() ? 0 : static_cast<uint64_t>(-low->second);
      use.tokens = std::max(said, needed);
    }
    if (!use.arrivals.empty() && said != 0) use.parties = said;
  }
}

}  // namespace cleave::order
