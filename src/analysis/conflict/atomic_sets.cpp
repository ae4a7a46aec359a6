// Atomic-set serializability: one conflict graph a set, edges are conflicts and nothing else.
#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "analysis/conflict/engine.h"
#include "analysis/conflict/objects_by_address.h"
#include "findings/place.h"
#include "units/by_set.h"

namespace cleave::conflict {
namespace {

class AtomicSets final : public Engine {
 public:
  AtomicSets(SetMap& sets, const Trace& tables, const CheckOptions& options)
      : Engine(sets, tables, options),
        tracker_(options.units, sets, tables, lock_functions_),
        objects_(tables) {}

  bool feed(std::span<const Event> events, uint64_t first) override {
    constexpr size_t kAhead = 8;  // events; enough to hide a miss on the variable's lines
    memory_.reserve(tables_.variable_count());
    objects_.refresh();
    for (size_t i = 0; i < events.size(); ++i) {
      if (i + kAhead < events.size() && is_access(events[i + kAhead].kind)) {
        memory_.prefetch(events[i + kAhead].object);
        sets_.prefetch(events[i + kAhead].object);
      }
      const Event& event = events[i];
      uint64_t position = first + i;
      if (!is_access(event.kind)) {
        if (event.kind == EventKind::Alloc || event.kind == EventKind::Free) {
          objects_.feed(event);
          continue;
        }
        tracker_.feed(event, EventIndex{position});
        for (const OpenUnit& unit : tracker_.ended()) end(unit);
        continue;
      }
      // How the standard library synchronizes is its own affair: the count of a shared_ptr makes nobody wait.
      if (event.atomic() && of_library(event)) continue;
      const SetMap::Member member = tracker_.member(event);
      UnitTracker::Cover& cover = tracker_.cover(event, member.set, EventIndex{position});
      if (cover.note == 0) [[unlikely]] {
        for (const OpenUnit& over : tracker_.ended()) end(over);
        if (cover.unit != nullptr) cover.note = pack(node_of(*cover.unit, member.set));
      }
      // What a heuristic has a unit touch besides its own object, a local variable above all, binds nobody as
      // long as only this thread knows of it; and the next call may have another variable at the same place
      // of the stack.
      const bool only_mine = memory_.only_by(event.variable(), event.thread);
      if (cover.note == 0) [[unlikely]] {
        alone(event, position);
      } else if (const NodeRef node = keeper(event, unpack(cover.note)); only_mine && cover.additional) {
        memory_.access(graph_, node, event, [](const Touch&, EventKind, EdgeKind) {});
      } else {
        access(node, event, position);
      }
      if (member.owns && writes(event.kind)) own(event);
      if (stopped()) return false;
    }
    return true;
  }
  size_t deepest() const override { return tracker_.depth(); }
  size_t held() const override {
    size_t touched = 0;
    for (const Nodes& nodes : nodes_) touched += nodes.touched.size() + nodes.merged.size();
    return Engine::held() + objects_.size() + touched + tracker_.held();
  }

 private:
  void ended(const FreedIds& freed) override {
    objects_.forget(freed);
    if (!sets_.many_gone()) return;
    tracker_.drop_gone_sets();
    for (Nodes& nodes : nodes_) drop_gone_sets(nodes);
    sets_.reuse_gone();
  }

  // What an open unit has touched. Nearly always one or two.
  struct Touched {
    SetId set;  // kNone: one that is gone
    NodeRef node;
    bool own;  // the node was made for this set; others share it
  };
  // One for all sets that a call touches directly in a lock section.
  struct Merged {
    uint64_t call;  // OpenUnit::merged
    ThreadId thread;
    NodeRef node;
  };
  struct Nodes {
    BySet<Touched> touched;
    std::vector<Merged> merged;
    bool any_declared = false;  // the unit is declared on one of them
    void clear() {
      touched.clear();
      merged.clear();
      any_declared = false;
    }
  };
  // Without the sets that are gone: no access will ask for them. Nodes of their own end with them, since no
  // edge enters those any more; but the first one is what other sets share.
  void drop_gone_sets(Nodes& nodes) {
    if (nodes.touched.empty()) return;
    auto gone = [&](SetId set) { return set != kNone<SetId> && sets_.info(set).gone; };
    if (SetId& first = nodes.touched.all().front().set; gone(first)) first = kNone<SetId>;
    nodes.touched.erase_if(
        [&](const Touched& touched) {
          if (!gone(touched.set)) return false;
          if (touched.own) graph_.end(touched.node);
          return true;
        },
        1);
    if (nodes.merged.empty()) return;
    boost::unordered_flat_set<uint32_t> used;
    for (const Touched& touched : nodes.touched.all()) used.insert(touched.node.index);
    std::erase_if(nodes.merged, [&](const Merged& merged) {
      if (used.contains(merged.node.index) || tracker_.goes_on(merged.thread, merged.call)) return false;
      graph_.end(merged.node);
      return true;
    });
  }

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
  // An additional unit is a unit on the union of its sets: what it is not declared on shares the node of what
  // it is declared on, or of what it touched first. Sets that it is declared on stay apart, but for those
  // that one call touches directly in a lock section.
  NodeRef find(Nodes& nodes, const OpenUnit& unit, SetId set) {
    if (const Touched* known = nodes.touched.find(set)) return known->node;
    if (unit.merged != 0) {
      const NodeRef node = merged(nodes, unit);
      nodes.touched.add({set, node, false});
      nodes.any_declared = true;
      return node;
    }
    const bool shares = !nodes.touched.empty() && (unit.additional || !nodes.any_declared);
    const NodeRef node = shares ? nodes.touched.all().front().node : open(unit.unit);
    nodes.touched.add({set, node, !shares});
    nodes.any_declared |= !unit.additional;
    return node;
  }
  // The latest call comes first: it is the one that goes on.
  NodeRef merged(Nodes& nodes, const OpenUnit& unit) {
    auto known = std::find_if(nodes.merged.rbegin(), nodes.merged.rend(),
                              [&](const Merged& merged) { return merged.call == unit.merged; });
    if (known != nodes.merged.rend()) return known->node;
    return nodes.merged.emplace_back(unit.merged, unit.unit.thread, open(unit.unit)).node;
  }
  void end(const OpenUnit& unit) {
    if (unit.handle == UINT32_MAX) return;
    for (const Touched& touched : nodes_[unit.handle].touched.all()) {
      if (touched.own) graph_.end(touched.node);
    }
    for (const Merged& merged : nodes_[unit.handle].merged) graph_.end(merged.node);
    nodes_[unit.handle].clear();
    free_nodes_.push_back(unit.handle);
  }
  // Whose the access is. What an open unit has touched stays its own as long as no other thread writes it:
  // another unit of the thread that touches it meanwhile is within that one, and cannot come before or after
  // it. Such units are there because a variable may change its set while a unit is open, because the sets of
  // an additional unit are one, and because a method that locks for itself is a unit within a section. So an
  // edge between two units of one thread leaves one that is over, and no cycle has one thread only.
  NodeRef keeper(const Event& event, NodeRef node) const {
    if (graph_.open_nodes(event.thread) < 2) [[likely]]
      return node;
    const NodeRef holder = memory_.holder(graph_, event);
    return holder == NodeRef{} ? node : holder;
  }
  // No unit covers the access: it is one of its own, and over at once.
  void alone(const Event& event, uint64_t position) {
    if (graph_.open_nodes(event.thread) > 0) {
      const NodeRef holder = memory_.holder(graph_, event);
      if (holder != NodeRef{}) return access(holder, event, position);
    }
    if (!memory_.any_live(graph_, event)) {
      ++units_;
      return memory_.forget(event);
    }
    Unit unit{.thread = event.thread,
              .site = event.site,
              .context = event.context,
              .begin = EventIndex{position},
              .end = EventIndex{position}};
    NodeRef node = open(unit);
    access(node, event, position);
    graph_.end(node);
  }

  // Code that makes an atomic access makes it again and again.
  bool of_library(const Event& event) {
    const uint64_t place = uint64_t{raw(event.site)} << 32 | raw(event.context);
    auto [known, fresh] = atomic_places_.try_emplace(place, false);
    if (fresh) known->second = librarys_own(tables_, event);
    return known->second;
  }

  // A pointer that owns what it points to was stored: that object's fields now belong to the sets of the
  // owner.
  void own(const Event& event) {
    const ObjectId part = objects_.at(event.value);
    const ObjectId whole = tables_.variable(event.variable()).object;
    if (part != kNone<ObjectId> && whole != kNone<ObjectId>) sets_.own(whole, part);
  }

  UnitTracker tracker_;
  std::vector<Nodes> nodes_;  // by OpenUnit::handle
  std::vector<uint32_t> free_nodes_;
  ObjectsByAddress objects_;
  boost::unordered_flat_map<uint64_t, bool> atomic_places_;  // site and context → whether the library's own
};

}  // namespace

std::unique_ptr<Engine> make_atomic_sets(SetMap& sets, const Trace& tables, const CheckOptions& options) {
  return std::make_unique<AtomicSets>(sets, tables, options);
}

}  // namespace cleave::conflict
