// Findings as one page that needs nothing else: no network, no other file. Everything that comes from the
// program under test is escaped, and the page's own policy forbids it to load anything.
#pragma once

#include <string>
#include <string_view>

#include "findings/finding.h"
#include "report/terminal.h"

namespace cleave::report {

// `source` may be empty: then no source lines are shown. The same findings and sources give the same bytes.
std::string to_html(const Findings& findings, std::string_view version, const SourceLine& source);

}  // namespace cleave::report
