// `cleave static`: high-level data races and stale values, found in the bitcode that a binary carries,
// without running it (MoTH: Pessanha, Dias and Lourenço). docs/static.md explains the method and its limits.
//
// The room is a library of its own, libcleave_static.so, which the tool loads when the verb is used: it is
// all of the verb that needs LLVM.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "findings/finding.h"
#include "program/program.h"

namespace cleave::static_analysis {

struct StaticOptions {
  // As in the paper: all instances of a class are one, branches of a section are merged into one view,
  // nothing is known of thread start, join or common locks, and none of the rules of rules.h applies.
  bool paper = false;
  // Artho's view consistency alone: no access kinds, no dependencies, no stale values.
  bool artho = false;
  // Also what a rule considers harmless, with the rule's name as a note.
  bool all = false;
  // Calls are expanded into their callers until the code has so many instructions.
  uint64_t most_instructions = 400'000;
};

// Time and memory: near linear in the expanded code, times the number of reads in critical sections for the
// dependencies. An Error when no module has bitcode; a part that is missing is a fact of the result.
Result<Findings> analyze(const Program& program, const StaticOptions& options);

// The module's one door, by this name.
inline constexpr const char* kDoor = "cleave_analyze_statically";
using Door = void (*)(const Program*, const StaticOptions*, Findings*, Status*);

}  // namespace cleave::static_analysis
