// One run of the program and what check/ says of it.
#pragma once

#include <optional>
#include <string>

#include "check/check.h"
#include "model/finding.h"
#include "prove/prove.h"
#include "trace/trace.h"

namespace cleave::prove {

// The three program locations of a triple of a trace, for check::find_triple.
check::SiteTriple sites_of(const Trace& trace, const prediction::Triple& triple);

// Units of a map as check/ takes them: those of one thread disjoint or nested, in order of their first event.
std::vector<check::UnitSpan> spans_of(const Trace& trace, const UnitMap& units);

struct JudgedRun {
  bool there = false;             // the triple happened
  check::Proof proof;
  std::vector<AccessReport> accesses;
};

// Loads the trace of a run and judges the triple in it: the first few times that it happened there, and the one that
// proves most is told. An Error when the trace cannot be read.
Result<JudgedRun> judge_run(const std::string& trace, const check::SiteTriple& sites, const ProveOptions& options);

}  // namespace cleave::prove
