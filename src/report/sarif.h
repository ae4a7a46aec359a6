// Findings as SARIF 2.1.0, for code hosts and editors: one result a finding, the accesses as a code flow with
// one thread flow a thread.
#pragma once

#include <string>
#include <string_view>

#include "findings/finding.h"

namespace cleave::report {

// Pretty-printed, ends with a newline; the same findings give the same bytes. Confirmed and witnessed
// findings are errors, feasible ones warnings, candidates notes.
std::string to_sarif(const Findings& findings, std::string_view version);

}  // namespace cleave::report
