// What tables have gained between two moments, so that somebody else can have the same tables: what a reader
// in one thread tells a checker in another (read_ahead.h).
#pragma once

#include <utility>

#include "trace/core/trace.h"

namespace cleave {

// Entries that were changed after they were made, as far as that is wanted: threads, variables, objects,
// syncs.
struct TouchedEntries {
  bool wanted = false;
  std::vector<uint32_t> threads, variables, objects, syncs;
};

struct TableGrowth {
  template <typename Info>
  struct Of {
    std::vector<Info> added;
    std::vector<std::pair<uint32_t, Info>> changed;  // those there were before, as they are now
  };
  Of<ThreadInfo> threads;
  Of<VariableInfo> variables;
  VariableTable bare;  // added after those, where all there are have only names
  Of<ObjectInfo> objects;
  Of<SyncInfo> syncs;
  std::vector<SiteInfo> sites;
  std::vector<UnitNameInfo> unit_names;
  std::vector<ContextInfo> contexts;
  std::vector<std::string> input_names;
  std::vector<ObjectId> outer_set;  // objects that something came to hold, or no longer holds
  std::vector<VariableId> moved;    // as TableChanges has it
  size_t outer_set_dropped = 0, moved_dropped = 0;
  std::string program;
};

// On the side that grows. O(what is new).
class TableFollower {
 public:
  // Both must outlive it, and nobody else may follow the same tables.
  TableFollower(const Trace& tables, TouchedEntries& touched) : tables_(tables), touched_(touched) {
    touched_.wanted = true;
  }
  // Since the last call; at first everything.
  TableGrowth take();

 private:
  const Trace& tables_;
  TouchedEntries& touched_;
  struct {
    size_t threads = 0, variables = 0, objects = 0, syncs = 0, sites = 0, unit_names = 0, contexts = 0,
           input_names = 0;
    size_t outer_set = 0, moved = 0;
  } taken_;
};

// On the other side.
class TableMirror {
 public:
  void apply(TableGrowth growth);
  const Trace& tables() const { return builder_.tables(); }

 private:
  TraceBuilder builder_;
};

}  // namespace cleave
