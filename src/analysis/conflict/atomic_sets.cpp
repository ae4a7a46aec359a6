// Atomic-set serializability: one conflict graph a set, edges are conflicts and nothing else.
#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <unordered_map>

#include "analysis/conflict/engine.h"
#include "model/place.h"

namespace cleave::conflict {
namespace {

class AtomicSets final : public Engine {
 public:
  AtomicSets(SetMap& sets, const Trace& tables, const CheckOptions& options)
      : Engine(sets, tables, options), tracker_(options.units, sets, tables) {}

  bool feed(std::span<const Event> events, uint64_t first) override {
    constexpr size_t kAhead = 8;  // events; enough to hide a miss on the variable's lines
    memory_.reserve(tables_.variable_count());
    for (size_t i = 0; i < events.size(); ++i) {
      if (i + kAhead < events.size() && is_access(events[i + kAhead].kind)) {
        memory_.prefetch(events[i + kAhead].object);
        sets_.prefetch(events[i + kAhead].object);
      }
      const Event& event = events[i];
      uint64_t position = first + i;
      if (!is_access(event.kind)) {
        tracker_.feed(event, EventIndex{position});
        for (const OpenUnit& unit : tracker_.ended()) end(unit);
        continue;
      }
      // How the standard library synchronizes is its own affair: the count of a shared_ptr makes nobody wait.
      if (event.atomic() && librarys_own(tables_, event)) continue;
      SetMap::Member member = sets_.member(event.variable());
      UnitTracker::Cover& cover = tracker_.cover(event, member.set, EventIndex{position});
      if (cover.note == 0) [[unlikely]] {
        for (const OpenUnit& over : tracker_.ended()) end(over);
        if (cover.unit != nullptr) cover.note = pack(node_of(*cover.unit, member.set));
      }
      // What a heuristic has a unit touch besides its own object, a local variable above all, binds nobody as long as only
      // this thread knows of it; and the next call may have another variable at the same place of the stack.
      const bool only_mine = memory_.only_by(event.variable(), event.thread);
      if (cover.note == 0) [[unlikely]] {
        alone(event, position);
      } else if (only_mine && cover.additional) {
        memory_.access(graph_, unpack(cover.note), event, [](const Touch&, EventKind, EdgeKind) {});
      } else {
        access(unpack(cover.note), event, position);
      }
      if (member.owns && writes(event.kind)) own(event);
      if (stopped()) return false;
    }
    return true;
  }
  size_t deepest() const override { return tracker_.depth(); }

 private:
  // What an open unit has touched. Nearly always one or two.
  struct Touched {
    SetId set;
    NodeRef node;
    bool declared;  // the unit is declared on the set
    bool own;       // the node was made for this set; others share it
  };
  // A walk over a list of objects touches as many sets as there are objects: those are found by hashing.
  class Nodes {
   public:
    const Touched* find(SetId set) const {
      if (places_.empty()) {
        auto it = std::find_if(all_.begin(), all_.end(), [set](const Touched& known) { return known.set == set; });
        return it == all_.end() ? nullptr : &*it;
      }
      auto it = places_.find(raw(set));
      return it == places_.end() ? nullptr : &all_[it->second];
    }
    void add(const Touched& touched) {
      constexpr size_t kFew = 16;
      all_.push_back(touched);
      any_declared_ = any_declared_ || touched.declared;
      if (all_.size() < kFew) return;
      for (size_t i = places_.size(); i < all_.size(); ++i) places_.emplace(raw(all_[i].set), static_cast<uint32_t>(i));
    }
    void clear() {
      all_.clear();
      places_.clear();
      any_declared_ = false;
    }
    const std::vector<Touched>& all() const { return all_; }
    bool any_declared() const { return any_declared_; }

   private:
    std::vector<Touched> all_;
    boost::unordered_flat_map<uint32_t, uint32_t> places_;  // set → index; empty as long as they are few
    bool any_declared_ = false;
  };

  // A node as the note of a cover; no node that is there is 0.
  static uint64_t pack(NodeRef node) { return uint64_t{node.index} << 32 | node.generation; }
  static NodeRef unpack(uint64_t note) {
    return {static_cast<uint32_t>(note >> 32), static_cast<uint32_t>(note)};
  }

  NodeRef node_of(OpenUnit& unit, SetId set) {
    if (unit.handle == UINT32_MAX) {
      if (free_nodes_.empty()) {
        free_nodes_.push_back(static_cast<uint32_t>(nodes_.size()));
        nodes_.emplace_back();
      }
      unit.handle = free_nodes_.back();
      free_nodes_.pop_back();
    }
    return find(nodes_[unit.handle], unit, set);
  }
  // An additional unit is a unit on the union of its sets: what it is not declared on shares the node of what it is
  // declared on, or of what it touched first. Sets that it is declared on stay apart.
  NodeRef find(Nodes& nodes, const OpenUnit& unit, SetId set) {
    if (const Touched* known = nodes.find(set)) return known->node;
    bool shares = !nodes.all().empty() && (unit.additional || !nodes.any_declared());
    NodeRef node = shares ? nodes.all().front().node : open(unit.unit, set);
    nodes.add({set, node, !unit.additional, !shares});
    return node;
  }
  void end(const OpenUnit& unit) {
    if (unit.handle == UINT32_MAX) return;
    for (const Touched& touched : nodes_[unit.handle].all()) {
      if (touched.own) graph_.end(touched.node);
    }
    nodes_[unit.handle].clear();
    free_nodes_.push_back(unit.handle);
  }
  // No unit covers the access: it is one of its own, and over at once.
  void alone(const Event& event, uint64_t position) {
    if (!memory_.any_live(graph_, event)) {
      ++units_;
      return memory_.forget(event);
    }
    Unit unit{.thread = event.thread,
              .site = event.site,
              .context = event.context,
              .begin = EventIndex{position},
              .end = EventIndex{position}};
    NodeRef node = open(unit, sets_.set_of(event.variable()));
    access(node, event, position);
    graph_.end(node);
  }

  // A pointer that owns what it points to was stored: that object's fields now belong to the sets of the
  // owner.
  void own(const Event& event) {
    std::span<const ObjectInfo> objects = tables_.objects();
    for (; objects_seen_ < objects.size(); ++objects_seen_) {
      if (objects[objects_seen_].address != 0)
        by_address_[objects[objects_seen_].address] = id_of<ObjectId>(objects_seen_);
    }
    auto part = by_address_.find(event.value);
    ObjectId whole = tables_.variable(event.variable()).object;
    if (part != by_address_.end() && whole != kNone<ObjectId>) sets_.own(whole, part->second);
  }

  UnitTracker tracker_;
  std::vector<Nodes> nodes_;  // by OpenUnit::handle
  std::vector<uint32_t> free_nodes_;
  std::unordered_map<uint64_t, ObjectId> by_address_;  // of the objects so far; the latest at an address
  size_t objects_seen_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_atomic_sets(SetMap& sets, const Trace& tables, const CheckOptions& options) {
  return std::make_unique<AtomicSets>(sets, tables, options);
}

}  // namespace cleave::conflict
