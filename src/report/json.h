// The findings file: docs/contract.md, field by field. The same findings give the same bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "findings/finding.h"

namespace cleave::report {

// Pretty-printed, ends with a newline. Findings stand in the order in which they are given: see
// sort_findings.
std::string to_json(const Findings& findings, std::string_view version);

// Back again; what to_json wrote comes back equal. `place` names the file in errors. Fields that are not
// known are skipped, so that files of newer versions can be read.
Result<Findings> from_json(std::string_view text, std::string_view place);

}  // namespace cleave::report
