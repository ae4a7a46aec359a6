// Standard output and standard error of the tool. Everything that is printed passes through here: stdout and
// stderr are streams that escape what a terminal would obey (base/printable.h). So no command has to think of
// it, and none can forget it.
#pragma once

#include <cstdio>

namespace cleave::cli {

// Before anything is printed.
void guard_terminal();

// For data that somebody else reads (JSON, an exported trace): as it is, unless it goes to a terminal.
std::FILE* data_output();

// Writes what is still held back. False: some of what was printed could not be written; errno says why.
bool flush_output();

}  // namespace cleave::cli
