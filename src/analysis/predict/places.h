// Program locations as small numbers.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "analysis/predict/trace_index.h"

namespace cleave::prediction {

class Places {
 public:
  explicit Places(const Trace& trace) : by_site_(trace.sites().size() * kKinds, kUnknown) {}

  PlaceId of(const Event& event) {
    if (event.site != kNone<SiteId>) {
      uint32_t& id = by_site_[raw(event.site) * kKinds + static_cast<size_t>(event.kind) - 1];
      if (id == kUnknown) id = make(event.kind);
      return PlaceId{id};
    }
    // No site: 2 bits of kind, 40 of variable, 22 of thread.
    uint64_t key = static_cast<uint64_t>(raw(event.thread)) << 42 | static_cast<uint64_t>(event.object) << 2 |
                   static_cast<uint64_t>(event.kind);
    auto [found, fresh] = by_name_.try_emplace(key, 0);
    if (fresh) found->second = make(event.kind);
    return PlaceId{found->second};
  }
  EventKind kind(PlaceId place) const { return kinds_[raw(place)]; }

 private:
  static constexpr size_t kKinds = 3;  // read, write, update
  static constexpr uint32_t kUnknown = UINT32_MAX;
  uint32_t make(EventKind kind) {
    kinds_.push_back(kind);
    return static_cast<uint32_t>(kinds_.size() - 1);
  }

  std::vector<uint32_t> by_site_;
  boost::unordered_flat_map<uint64_t, uint32_t> by_name_;
  std::vector<EventKind> kinds_;
};

}  // namespace cleave::prediction
