// One run of the program and what check/ says of it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "confirm/confirm.h"
#include "findings/finding.h"
#include "judge/judge.h"
#include "trace/core/trace.h"
#include "units/sets.h"
#include "units/units.h"

namespace cleave::confirm {

// The three program locations of a triple of a trace, for judge::find_triple.
judge::SiteTriple sites_of(const Trace& trace, const prediction::Triple& triple);

// Units of a map as check/ takes them: those of one thread disjoint or nested, in order of their first event.
std::vector<judge::UnitSpan> spans_of(const Trace& trace, const UnitMap& units);
// Which unit an access belongs to depends on its set; check/ takes the outermost. To judge accesses to `set`,
// only the units that take one are given.
std::vector<judge::UnitSpan> spans_of(const Trace& trace, const UnitMap& units, SetMap& sets, SetId set);

// Judges triples of a trace, each by the units of its set. References must outlive it.
class PerSetJudge {
 public:
  PerSetJudge(const Trace& trace, const UnitMap& units, SetMap& sets, bool final_writes)
      : trace_(trace), units_(units), sets_(sets), final_writes_(final_writes) {}
  judge::Proof judge(const judge::EventTriple& triple);

 private:
  const Trace& trace_;
  const UnitMap& units_;
  SetMap& sets_;
  bool final_writes_;
  std::map<SetId, judge::Judge> judges_;
};

struct JudgedRun {
  bool there = false;  // the triple happened
  std::string unit;    // whose first and second access it is
  CauseReport cause;
  judge::Proof proof;
  std::vector<AccessReport> accesses;
};

// Loads the trace of a run and judges the triple in it: the first few times that it happened there, with this
// pattern and within one unit, and the one that proves most is told. An Error when the trace cannot be read.
Result<JudgedRun> judge_run(const std::string& trace, const judge::SiteTriple& sites, Pattern pattern,
                            const ProveOptions& options);

}  // namespace cleave::confirm
