#include "oracle/enumerator.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>

#include "oracle/machine.h"

namespace cleave::oracle {
namespace {

constexpr int64_t kInitialWrite = -1;

uint64_t value_read(const Trace& trace, EventIndex index) {
  const Event& event = trace.event(index);
  return event.kind == EventKind::Update ? trace.old_value(index) : event.value;
}

// One execution under way: synchronization, memory, and which threads have seen another value than recorded.
struct Execution {
  Machine machine;
  std::vector<int64_t> writer;  // last write of each variable: position, or kInitialWrite
  std::vector<bool> unknown;    // variable: its value is not known
  std::vector<uint64_t> memory;
  std::vector<bool> tainted;  // thread

  Execution(const Trace& trace, const Script& script)
      : machine(script),
        writer(trace.variables().size(), kInitialWrite),
        unknown(trace.variables().size(), false),
        tainted(script.threads.size(), false) {
    for (const VariableInfo& variable : trace.variables()) memory.push_back(variable.initial);
  }

  std::string key(size_t progress, Model model) const {
    std::string key;
    machine.append_key(key);
    key.push_back(static_cast<char>(progress));
    if (model == Model::KeepsWrites) {
      for (int64_t position : writer) key.push_back(static_cast<char>(position));
    } else if (model == Model::Values) {
      for (size_t v = 0; v < memory.size(); ++v) {
        if (unknown[v]) {
          key.push_back('?');
        } else {
          key.append(reinterpret_cast<const char*>(&memory[v]), sizeof(uint64_t));
        }
      }
      for (bool taint : tainted) key.push_back(taint ? 't' : '.');
    }
    return key;
  }
};

class Enumeration {
 public:
  Enumeration(const Trace& trace, const EnumerateOptions& options)
      : trace_(trace), options_(options), script_(script_of(trace)), source_(trace.size(), kInitialWrite) {
    std::vector<int64_t> last(trace.variables().size(), kInitialWrite);
    for (size_t i = 0; i < trace.size(); ++i) {
      const Event& event = trace.events()[i];
      if (reads(event.kind)) source_[i] = last[event.object];
      if (writes(event.kind)) last[event.object] = static_cast<int64_t>(i);
    }
  }

  bool reaches(std::span<const EventIndex> goal) {
    goal_ = goal;
    seen_.clear();
    return search(Execution(trace_, script_), 0);
  }

  void visit_all(const std::function<bool(std::span<const EventIndex>)>& visit) {
    std::vector<EventIndex> order;
    visit_from(Execution(trace_, script_), order, visit);
  }

 private:
  EventIndex position(const Execution& execution, size_t thread) const {
    return script_.positions[thread][execution.machine.next(thread)];
  }

  // Memory side of the thread's next event; false if the model does not let it happen here.
  bool touch_memory(Execution& execution, size_t thread) const {
    const EventIndex index = position(execution, thread);
    const Event& event = trace_.event(index);
    const uint32_t variable = event.object;
    if (options_.model == Model::Values) {
      const bool branches =
          event.branches > 0 || event.kind == EventKind::Branch || event.kind == EventKind::Assume;
      if (branches && execution.tainted[thread]) return false;
    }
    if (reads(event.kind)) {
      if (options_.model == Model::KeepsWrites && execution.writer[variable] != source_[raw(index)] &&
          !(options_.initial_reads_free && source_[raw(index)] == kInitialWrite)) {
        return false;
      }
      if (execution.unknown[variable] || execution.memory[variable] != value_read(trace_, index)) {
        execution.tainted[thread] = true;
      }
    }
    if (writes(event.kind)) {
      execution.writer[variable] = static_cast<int64_t>(raw(index));
      execution.memory[variable] = event.value;
      execution.unknown[variable] = execution.tainted[thread] && !options_.tainted_writes_keep;
    }
    return true;
  }

  // Tells every successor of `execution` to `use` until that returns true.
  template <typename Use>
  bool any_successor(const Execution& execution, Use use) const {
    for (size_t thread = 0; thread < execution.machine.threads(); ++thread) {
      const size_t ways = execution.machine.ways(thread);
      for (size_t way = 0; way < ways; ++way) {
        Execution after = execution;
        if (!touch_memory(after, thread)) break;
        const EventIndex index = position(after, thread);
        after.machine.step(thread, way);
        if (use(std::move(after), index)) return true;
      }
    }
    return false;
  }

  bool search(const Execution& execution, size_t progress) {
    if (progress == goal_.size()) return true;
    if (!seen_.insert(execution.key(progress, options_.model)).second) return false;
    return any_successor(execution, [&](Execution after, EventIndex index) {
      if (index == goal_[progress]) return search(after, progress + 1);
      if (std::find(goal_.begin(), goal_.end(), index) != goal_.end()) return false;
      return search(after, progress);
    });
  }

  bool visit_from(const Execution& execution, std::vector<EventIndex>& order,
                  const std::function<bool(std::span<const EventIndex>)>& visit) {
    if (order.size() == trace_.size()) return !visit(order);
    return any_successor(execution, [&](Execution after, EventIndex index) {
      order.push_back(index);
      const bool stop = visit_from(after, order, visit);
      order.pop_back();
      return stop;
    });
  }

  const Trace& trace_;
  EnumerateOptions options_;
  Script script_;
  std::vector<int64_t> source_;
  std::span<const EventIndex> goal_;
  std::unordered_set<std::string> seen_;
};

bool unserializable(bool first_writes, bool remote_writes, bool second_writes) {
  // RRR, RRW, WRR have a serial explanation; RWR, RWW, WWR, WRW, WWW have none.
  return remote_writes || (first_writes && second_writes);
}

bool forms_pattern(EventKind first, EventKind remote, EventKind second) {
  for (int choice = 0; choice < 8; ++choice) {
    const bool w1 = choice & 1, w2 = choice & 2, w3 = choice & 4;
    if ((w1 ? writes(first) : reads(first)) && (w2 ? writes(remote) : reads(remote)) &&
        (w3 ? writes(second) : reads(second)) && unserializable(w1, w2, w3)) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool feasible(const Trace& trace, std::span<const EventIndex> in_order, const EnumerateOptions& options) {
  return Enumeration(trace, options).reaches(in_order);
}

void for_each_interleaving(const Trace& trace, const EnumerateOptions& options,
                           const std::function<bool(std::span<const EventIndex>)>& visit) {
  Enumeration(trace, options).visit_all(visit);
}

std::vector<EventTriple> unserializable_triples(const Trace& trace) {
  std::vector<EventTriple> triples;
  std::vector<int> depth(trace.threads().size(), 0);
  std::vector<std::map<uint32_t, EventIndex>> last(trace.threads().size());  // of the open unit, by variable
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace.events()[i];
    const uint32_t thread = raw(event.thread);
    if (event.kind == EventKind::Begin && depth[thread]++ == 0) last[thread].clear();
    if (event.kind == EventKind::Wait) last[thread].clear();
    if (event.kind == EventKind::End) --depth[thread];
    if (!is_access(event.kind) || depth[thread] == 0) continue;
    auto [it, fresh] = last[thread].try_emplace(event.object, id_of<EventIndex>(i));
    const EventIndex first = it->second;
    it->second = id_of<EventIndex>(i);
    if (fresh) continue;
    for (size_t j = 0; j < trace.size(); ++j) {
      const Event& remote = trace.events()[j];
      if (is_access(remote.kind) && remote.object == event.object && remote.thread != event.thread &&
          forms_pattern(trace.event(first).kind, remote.kind, event.kind)) {
        triples.push_back({first, id_of<EventIndex>(j), id_of<EventIndex>(i)});
      }
    }
  }
  std::sort(triples.begin(), triples.end());
  return triples;
}

std::vector<EventTriple> feasible_triples(const Trace& trace, const EnumerateOptions& options) {
  Enumeration enumeration(trace, options);
  std::vector<EventTriple> kept;
  for (const EventTriple& triple : unserializable_triples(trace)) {
    const EventIndex goal[] = {triple.first, triple.remote, triple.second};
    if (enumeration.reaches(goal)) kept.push_back(triple);
  }
  return kept;
}

}  // namespace cleave::oracle
