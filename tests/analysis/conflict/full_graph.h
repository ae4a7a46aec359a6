// The oracle: the whole conflict graph, with an edge for every pair of events that asks for one, searched
// anew after every event. It shares nothing with the checker: units are found by going through the thread
// from its start.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/conflict/heuristic_units.h"
#include "trace/core/trace.h"

namespace cleave::conflict {

struct FullGraphRules {
  bool one = false;
  bool locks = false;  // critical sections are units, annotated ones are not
  bool split_at_waits = true;
};

class FullGraph {
 public:
  FullGraph(const Trace& trace, FullGraphRules rules) : trace_(trace), rules_(rules) {}
  FullGraph(const Trace& trace, const HeuristicUnits& units) : trace_(trace), heuristic_(&units) {}

  // The first event whose prefix has a cycle.
  std::optional<size_t> first_cycle() {
    for (size_t i = 0; i < trace_.size(); ++i) {
      size_t before = edges_.size();
      std::optional<int> node = heuristic_ != nullptr ? heuristic_->node_of(i) : node_of(i);
      nodes_.push_back(node);
      if (node && !(heuristic_ != nullptr && heuristic_->quiet(i))) add_edges(i, *node);
      if (edges_.size() != before && cyclic()) return i;
    }
    return std::nullopt;
  }

 private:
  struct Open {
    size_t begin, part;
    int lock;    // -1: not a section
    int object;  // -1: everything
  };
  const Event& at(size_t i) const { return trace_.events()[i]; }
  bool in_thread(size_t i, ThreadId thread) const { return at(i).thread == thread; }

  // What is open in the thread of event i just before it.
  std::vector<Open> open_before(size_t i) const {
    std::vector<Open> open;
    for (size_t j = 0; j < i; ++j) {
      if (!in_thread(j, at(i).thread)) continue;
      const Event& e = at(j);
      bool takes = e.kind == EventKind::Acquire || e.kind == EventKind::AcquireShared;
      bool gives = e.kind == EventKind::Release || e.kind == EventKind::ReleaseShared;
      if (e.kind == EventKind::Begin && !rules_.locks) {
        open.push_back({j, j, -1, e.object2 == UINT32_MAX ? -1 : static_cast<int>(e.object2)});
      } else if (e.kind == EventKind::End && !rules_.locks) {
        if (!open.empty()) open.pop_back();
      } else if (takes && rules_.locks) {
        open.push_back({j, j, static_cast<int>(e.object), -1});
      } else if (gives && rules_.locks) {
        for (size_t k = 0; k < open.size(); ++k) {
          if (open[k].lock == static_cast<int>(e.object)) {
            open.erase(open.begin() + static_cast<ptrdiff_t>(k));
            break;
          }
        }
      } else if (e.kind == EventKind::Wait && rules_.split_at_waits) {
        for (Open& unit : open) unit.part = j;
      }
    }
    return open;
  }
  std::string set_of(uint32_t variable) const {
    const std::string& name = trace_.variables()[variable].name;
    size_t dot = name.find('.');
    return dot == std::string::npos ? name : name.substr(0, dot);
  }
  int number(std::tuple<size_t, size_t, std::string> key) {
    return numbers_.try_emplace(std::move(key), static_cast<int>(numbers_.size())).first->second;
  }

  std::optional<int> node_of(size_t i) {
    const Event& e = at(i);
    bool access = e.kind == EventKind::Read || e.kind == EventKind::Write || e.kind == EventKind::Update;
    if (rules_.one) {
      bool marks = e.kind == EventKind::Begin || e.kind == EventKind::End;
      if (marks && rules_.locks) return std::nullopt;
      std::vector<Open> open = open_before(i);
      bool begins = rules_.locks ? e.kind == EventKind::Acquire || e.kind == EventKind::AcquireShared
                                 : e.kind == EventKind::Begin;
      if (open.empty() && begins) return number({i, i, ""});
      if (open.empty()) return number({i, SIZE_MAX, "alone"});
      return number({open[0].begin, open[0].part, ""});
    }
    if (!access) return std::nullopt;
    std::string set = set_of(e.object);
    for (const Open& unit : open_before(i)) {
      bool declared = unit.object == -1 || trace_.objects()[static_cast<size_t>(unit.object)].name == set;
      if (declared) return number({unit.begin, unit.part, set});
    }
    return number({i, SIZE_MAX, set});
  }

  static bool is_write(EventKind kind) { return kind == EventKind::Write || kind == EventKind::Update; }
  static bool is_memory(EventKind kind) { return kind == EventKind::Read || is_write(kind); }
  // Lock that the event gives back, or takes: (lock, exclusive).
  static std::optional<std::pair<uint32_t, bool>> gives(const Event& e) {
    if (e.kind == EventKind::Release) return std::pair{e.object, true};
    if (e.kind == EventKind::ReleaseShared) return std::pair{e.object, false};
    if (e.kind == EventKind::Wait) return std::pair{e.object2, true};
    return std::nullopt;
  }
  static std::optional<std::pair<uint32_t, bool>> takes(const Event& e) {
    if (e.kind == EventKind::Acquire) return std::pair{e.object, true};
    if (e.kind == EventKind::AcquireShared) return std::pair{e.object, false};
    if (e.kind == EventKind::Wake) return std::pair{e.object2, true};
    return std::nullopt;
  }
  bool ordered(const Event& a, const Event& b) const {
    if (is_memory(a.kind) && is_memory(b.kind) && a.object == b.object &&
        (is_write(a.kind) || is_write(b.kind)))
      return true;
    if (!rules_.one) return false;
    if (a.thread == b.thread) return true;
    if (a.kind == EventKind::Fork && a.object == raw(b.thread)) return true;
    if (b.kind == EventKind::Join && b.object == raw(a.thread)) return true;
    auto given = gives(a), taken = takes(b);
    return given && taken && given->first == taken->first && (given->second || taken->second);
  }
  void add_edges(size_t i, int node) {
    for (size_t j = 0; j < i; ++j) {
      if (nodes_[j] && *nodes_[j] != node && ordered(at(j), at(i))) edges_.insert({*nodes_[j], node});
    }
  }
  bool cyclic() const {
    // Takes away nodes without in-edges until none is left, or a cycle is.
    std::set<std::pair<int, int>> left = edges_;
    for (;;) {
      std::set<int> entered;
      for (auto [from, to] : left) entered.insert(to);
      size_t before = left.size();
      std::erase_if(left, [&](const auto& edge) { return !entered.contains(edge.first); });
      if (left.empty()) return false;
      if (left.size() == before) return true;
    }
  }

  const Trace& trace_;
  FullGraphRules rules_;
  const HeuristicUnits* heuristic_ = nullptr;
  std::map<std::tuple<size_t, size_t, std::string>, int> numbers_;
  std::vector<std::optional<int>> nodes_;
  std::set<std::pair<int, int>> edges_;
};

}  // namespace cleave::conflict
