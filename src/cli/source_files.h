// Which source files a report may show: those below the working directory and --source-root, and those that
// the program itself lists, where the program may be trusted.
#pragma once

#include "cli/common.h"
#include "report/source_files.h"

namespace cleave::cli {

// `findings` says of which trace they are; `options.program_file` is the program that the user named, if any.
report::SourceFiles source_files(const Findings& findings, const CommonOptions& options);

}  // namespace cleave::cli
