// Which object a pointer points to: the one that begins at the address, now.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>

#include "trace/core/stream.h"
#include "trace/core/trace.h"

namespace cleave::conflict {

// Heap blocks come and go with their events. Objects that have none (globals, members of others) are there
// from the moment the tables know them, the latest at an address; where a block begins, it stands for what
// begins with it.
class ObjectsByAddress {
 public:
  // `tables` must outlive this; it may grow.
  explicit ObjectsByAddress(const Trace& tables) : tables_(tables) {}

  // Takes in what growing tables have gained. O(that).
  void refresh() {
    for (; seen_ < tables_.objects().size(); ++seen_) put(id_of<ObjectId>(seen_), false);
    const TableChanges& changes = tables_.changes();
    placed_ = std::max(placed_, changes.outer_set_dropped);
    for (; placed_ < changes.outer_set_dropped + changes.outer_set.size(); ++placed_)
      put(changes.outer_set[placed_ - changes.outer_set_dropped], false);
  }
  // Of Alloc and Free events.
  void feed(const Event& event) {
    event.kind == EventKind::Alloc ? put(event.allocation(), true) : remove(event.allocation());
  }
  void forget(const FreedIds& freed) {
    for (ObjectId object : freed.objects) remove(object);
  }
  // kNone: none that is known.
  ObjectId at(uint64_t address) const {
    auto it = by_address_.find(address);
    return it == by_address_.end() ? kNone<ObjectId> : it->second.object;
  }
  size_t size() const { return by_address_.size(); }

 private:
  struct Entry {
    ObjectId object = kNone<ObjectId>;
    bool block = false;  // allocated, and not given back
  };
  void put(ObjectId object, bool block) {
    const uint64_t address = tables_.object(object).address;
    if (address == 0) return;
    Entry& entry = by_address_[address];
    if (block || !entry.block) entry = {object, block};
  }
  void remove(ObjectId object) {
    auto it = by_address_.find(tables_.object(object).address);
    if (it != by_address_.end() && it->second.object == object) by_address_.erase(it);
  }

  const Trace& tables_;
  boost::unordered_flat_map<uint64_t, Entry> by_address_;
  size_t seen_ = 0, placed_ = 0;
};

}  // namespace cleave::conflict
