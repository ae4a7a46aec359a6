// From a recorded run to symbolic events: each thread's path is walked again through the program's own
// bitcode. Loads take their recorded values, branches their recorded outcomes, and everything between is
// computed, concretely and as an expression over what shared reads returned. What cannot be modelled takes
// its recorded value: then the symbols that went into it are pinned to theirs, so nothing infeasible follows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "feasibility/lift/symbolic_trace.h"
#include "trace/recorded/reader.h"

namespace cleave {

// What the walk did, for the report. `mismatches` compares computed with recorded values and must be 0.
struct WalkReport {
  uint64_t threads = 0, threads_lost = 0;  // lost: the walk and the records parted; from there on pinned
  uint64_t instructions = 0;
  // Executed branches and switches: those on an expression over symbols, and those on a value that depends on
  // symbols and took what was recorded. The others depend on nothing that another thread could change.
  uint64_t branches = 0, branches_symbolic = 0, branches_concretized = 0;
  uint64_t shared_reads = 0, shared_writes = 0, shared_writes_symbolic = 0, shared_writes_concretized = 0;
  uint64_t values_compared = 0,
           mismatches = 0;                  // computed stores and branch outcomes against the recorded ones
  uint64_t stores_moving = 0;               // to an array's element, with an index that depends on symbols
  uint64_t concretized = 0;                 // values that took what was recorded
  uint64_t pins = 0;                        // conditions that keep symbols at their recorded values
  std::map<std::string, uint64_t> pins_at;  // of these, by the instruction that needs the value
  uint64_t calls_followed = 0;       // through pointers, virtual ones among them, into code with bitcode
  std::vector<std::string> remarks;  // one sentence per kind of thing not modelled, or lost thread
};

// `files` are the binary that was recorded and, behind it, files in which the modules that it does not hold
// are looked for: the shared libraries it loaded. A module that is in none of them is said in a remark. The
// result refers to recorded.trace, which must outlive it.
Result<SymbolicTrace> walk_recorded_paths(const RecordedTrace& recorded,
                                          const std::vector<std::string>& files, WalkReport* report);

}  // namespace cleave
