// Atomicity by trying every serial order of the units, one after the other, without any cleverness.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "oracle/enumerator.h"

namespace cleave::oracle {
namespace {

struct SerialUnit {
  uint32_t thread = 0;
  bool declared = false;  // between begin and end: several events
  std::vector<EventIndex> events;
};

using Relation = std::vector<std::vector<bool>>;

std::vector<SerialUnit> split_into_units(const Trace& trace) {
  std::vector<SerialUnit> units;
  std::vector<int> depth(trace.threads().size(), 0);
  std::map<uint32_t, size_t> open;  // thread → its open unit
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace.events()[i];
    const uint32_t thread = raw(event.thread);
    if (event.kind == EventKind::Begin) ++depth[thread];
    if (depth[thread] == 0) {
      units.push_back({thread, false, {id_of<EventIndex>(i)}});
    } else {
      if (!open.contains(thread)) {
        open[thread] = units.size();
        units.push_back({thread, true, {}});
      }
      units[open[thread]].events.push_back(id_of<EventIndex>(i));
      if (event.kind == EventKind::Wait) open.erase(thread);
    }
    if (event.kind == EventKind::End && --depth[thread] == 0) open.erase(thread);
  }
  return units;
}

void close(Relation& before) {
  const size_t n = before.size();
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; before[i][k] && j < n; ++j) {
        if (before[k][j]) before[i][j] = true;
      }
    }
  }
}

bool cyclic(const Relation& closed) {
  for (size_t i = 0; i < closed.size(); ++i) {
    if (closed[i][i]) return true;
  }
  return false;
}

// Program order, and fork and join as far as they make sense between whole units.
Relation order_of_units(const Trace& trace, const std::vector<SerialUnit>& units, bool with_declared) {
  Relation before(units.size(), std::vector<bool>(units.size(), false));
  std::map<uint32_t, size_t> forked_by, joined_by;
  for (size_t u = 0; u < units.size(); ++u) {
    for (size_t v = u + 1; v < units.size(); ++v) before[u][v] = units[u].thread == units[v].thread;
    for (EventIndex index : units[u].events) {
      if (trace.event(index).kind == EventKind::Fork) forked_by[trace.event(index).object] = u;
      if (trace.event(index).kind == EventKind::Join) joined_by[trace.event(index).object] = u;
    }
  }
  for (size_t u = 0; u < units.size(); ++u) {
    auto fork = forked_by.find(units[u].thread), join = joined_by.find(units[u].thread);
    const bool forked = fork != forked_by.end(), joined = join != joined_by.end();
    if (forked && joined && fork->second == join->second) continue;
    if (forked && (with_declared || !units[fork->second].declared)) before[fork->second][u] = true;
    if (joined && (with_declared || !units[join->second].declared)) before[u][join->second] = true;
  }
  close(before);
  return before;
}

class SerialSearch {
 public:
  SerialSearch(const Trace& trace, bool final_writes)
      : trace_(trace), final_writes_(final_writes), units_(split_into_units(trace)) {
    before_ = order_of_units(trace, units_, true);
    if (cyclic(before_)) before_ = order_of_units(trace, units_, false);
    for (const VariableInfo& variable : trace.variables()) memory_.push_back(variable.initial);
    final_ = memory_;
    for (const Event& event : trace.events()) {
      if (writes(event.kind)) final_[event.object] = event.value;
    }
    for (const SerialUnit& unit : units_) {
      chosen_.push_back(std::any_of(unit.events.begin(), unit.events.end(),
                                    [&](EventIndex index) { return is_access(trace.event(index).kind); }));
    }
  }

  void keep_around(EventIndex member) {
    std::set<uint32_t> written;  // and touched by several threads
    for (const Event& event : trace_.events()) {
      if (!is_access(event.kind)) continue;
      for (const Event& other : trace_.events()) {
        const bool same = is_access(other.kind) && other.object == event.object;
        if (same && other.thread != event.thread && (writes(event.kind) || writes(other.kind))) {
          written.insert(event.object);
        }
      }
    }
    std::set<uint32_t> reached;  // locations
    std::vector<bool> in(units_.size(), false);
    for (size_t u = 0; u < units_.size(); ++u) {
      in[u] = std::find(units_[u].events.begin(), units_[u].events.end(), member) != units_[u].events.end();
    }
    for (bool grown = true; grown;) {
      grown = false;
      for (size_t u = 0; u < units_.size(); ++u) {
        for (EventIndex index : units_[u].events) {
          const Event& event = trace_.event(index);
          if (!is_access(event.kind) || !written.contains(event.object)) continue;
          if (in[u] && reached.insert(event.object).second) grown = true;
          if (!in[u] && reached.contains(event.object)) in[u] = grown = true;
        }
      }
    }
    chosen_ = in;
    considered_ = reached;
    for (uint32_t v = 0; v < final_.size(); ++v) {
      if (!reached.contains(v)) final_[v] = memory_[v];
    }
  }

  bool exists() {
    done_.assign(units_.size(), false);
    for (size_t u = 0; u < units_.size(); ++u) done_[u] = !chosen_[u];
    return place_next(static_cast<size_t>(std::count(done_.begin(), done_.end(), false)));
  }

 private:
  // Runs the unit on memory_; false (memory_ then undefined) if a read does not return what it returned.
  bool run(const SerialUnit& unit) {
    for (EventIndex index : unit.events) {
      const Event& event = trace_.event(index);
      if (!is_access(event.kind) || (considered_ && !considered_->contains(event.object))) continue;
      if (event.kind == EventKind::Read && memory_[event.object] != event.value) return false;
      if (event.kind == EventKind::Update && memory_[event.object] != trace_.old_value(index)) return false;
      if (writes(event.kind)) memory_[event.object] = event.value;
    }
    return true;
  }

  bool place_next(size_t left) {
    if (left == 0) return !final_writes_ || memory_ == final_;
    const std::vector<uint64_t> saved = memory_;
    for (size_t u = 0; u < units_.size(); ++u) {
      if (done_[u]) continue;
      bool ready = true;
      for (size_t p = 0; p < units_.size(); ++p) ready = ready && (!before_[p][u] || done_[p] || !chosen_[p]);
      if (!ready) continue;
      done_[u] = true;
      const bool found = run(units_[u]) && place_next(left - 1);
      done_[u] = false;
      memory_ = saved;
      if (found) return true;
    }
    return false;
  }

  const Trace& trace_;
  bool final_writes_;
  std::vector<SerialUnit> units_;
  Relation before_;
  std::vector<uint64_t> memory_, final_;
  std::vector<bool> done_, chosen_;
  std::optional<std::set<uint32_t>> considered_;  // locations; all if nothing is said
};

}  // namespace

bool atomic(const Trace& trace, const AtomicityOptions& options) {
  return SerialSearch(trace, options.final_writes).exists();
}

bool atomic_around(const Trace& trace, EventIndex member, const AtomicityOptions& options) {
  SerialSearch search(trace, options.final_writes);
  search.keep_around(member);
  return search.exists();
}

}  // namespace cleave::oracle
