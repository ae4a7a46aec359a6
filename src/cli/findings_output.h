// The one place where findings leave a command: --suppress, --baseline, --fail-on, --json, the terminal, exit
// status.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "cli/common.h"
#include "findings/finding.h"
#include "report/selection.h"

namespace cleave::cli {

Result<std::string> read_text_file(const std::string& path);
Status write_text_file(const std::string& path, std::string_view text);

// Reads a findings file that --json wrote.
Result<Findings> load_findings(const std::string& path);

// Whether --suppress or --baseline names a finding; null if neither was given.
Result<std::function<bool(const Finding&)>> known_findings(const CommonOptions& options);
// Takes out what --suppress and --baseline name, and sorts.
Result<report::Selected> select_findings(Findings& findings, const CommonOptions& options,
                                         bool keep_infeasible = false);
// Writes --json and prints what was selected, and on standard error what is unfinished; the exit status.
int show(const Findings& findings, const CommonOptions& options, const report::Selected& selected);

// Both. Takes out what --suppress and --baseline name, writes --json, prints the rest for people (not when
// the JSON goes to standard output), and gives the exit status: Found, Unfinished or Nothing, Usage if a file
// cannot be read or written. `keep_infeasible` is `--all`: then they are in the output, but do not count.
int write_results(Findings findings, const CommonOptions& options, bool keep_infeasible = false);

}  // namespace cleave::cli
