// From a finding and the trace of an execution to a verdict: the one way to `witnessed` and `confirmed`.
#pragma once

#include <span>
#include <vector>

#include "findings/finding.h"
#include "judge/judge.h"
#include "units/units.h"

namespace cleave::judge {

// The units that the other engines use, as the judge takes them.
std::vector<UnitSpan> spans_of(const Trace& trace, std::span<const Unit> units);

enum class Raised : uint8_t {
  NotThere,        // the execution does not contain the triple; the finding is as it was
  AtomicAfterAll,  // it does, and a serial order explains it every time; the finding is as it was
  Witnessed,       // it does, and whether it is atomic is not decided
  Confirmed,       // it does, and the execution is proved non-atomic
};

// Looks for the three places of the finding in `execution` (by file, line and function, in any threads) and
// judges the first few occurrences. Witnessed and Confirmed set the finding's verdict, proof, sentence, and
// what the three accesses read and wrote in this execution. Never lowers a verdict.
Raised raise_verdict(const Trace& execution, std::span<const UnitSpan> units, const JudgeOptions& options,
                     Finding& finding);

}  // namespace cleave::judge
