// Which findings a person is told, and whether they make the command fail: --suppress, --baseline, --fail-on.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "findings/finding.h"

namespace cleave::report {

// One id, variable or GLOB over variables (`*` and `?`) a line; `#` starts a comment.
struct Suppressions {
  std::set<std::string> words;

  bool covers(const Finding& finding) const;
};

Result<Suppressions> parse_suppressions(std::string_view text, std::string_view place);

struct Selection {
  Suppressions suppressions;
  std::vector<Finding> baseline;  // known findings
  Verdict fail_on = Verdict::Candidate;
  bool keep_infeasible = false;  // they are shown, and never fail
};

// Worst verdict first; within one verdict WWW last (no three accesses prove it), shorter cycles first, then
// by variable, unit and id.
void sort_findings(Findings& findings);

// Findings that are one to a person become one: those with the same id and the same places, and those of the
// standard library's insides that were called from the same places. The strongest stands for all of them,
// under the least of their ids. No two of those that are left share one.
void join_same_findings(Findings& findings);

// Whether a finding is suppressed or in the baseline. O(baseline).
bool left_out(const Finding& finding, const Selection& selection);

struct Selected {
  uint64_t suppressed = 0, known = 0;  // taken out
  bool fails = false;                  // a finding at or above fail_on is left
  std::vector<std::string> unmatched;  // suppressions that no finding fits
};

// Takes out what is infeasible (unless it is kept), suppressed or in the baseline, and sorts the rest. With a
// cycle go all that split the same unit on the same set: another run has the same mistake with other partners
// and sizes.
Selected select(Findings& findings, const Selection& selection);

}  // namespace cleave::report
