// A trace or a witness names a program, and some commands run it. A file may come from anybody, so what it
// names is run only if it is what Cleave would have recorded, and if nobody else can have put it or the file
// there. SECURITY.md says what that promises and what it does not.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cleave::exec {

// A program as a file names it.
struct NamedProgram {
  std::string named_by;           // the trace or witness
  std::string path;               // of the executable, as written there
  std::string directory;          // where it was run: a relative path is meant from there
  std::vector<uint64_t> modules;  // identities of the modules that were recorded
  bool ends_early = false;        // the file was cut off: modules may be missing
  std::string build_id;           // of the executable, hexadecimal; empty: the file does not say
};

// An executable that was checked. It is this file and no other that may be run: launch() looks again.
struct CheckedProgram {
  std::string path;  // absolute, without links: what is run is what is printed
  dev_t device = 0;
  ino_t file = 0;
  int64_t changed = 0;  // nanoseconds
  off_t bytes = 0;

  // Whether the file at `path` is still the one that was checked. Safe after fork.
  bool is_unchanged() const;
};

// Checks that the program may be run on behalf of that file. Always: it is an ELF executable for this
// machine, run by the system's loader and not by an interpreter of its own, not set-user-ID, built with
// Cleave, and the build that was recorded. Unless `trust`: only_we_can_write() holds for it and for the file
// that names it.
Result<CheckedProgram> check_program(const NamedProgram& named, bool trust);

// Whether a value for this variable can make the loader, libc or a shell load or run something. Such a value
// may be taken from a trace or witness only if `trust` was given or only_we_can_write() holds for that file.
bool steers_what_is_loaded(std::string_view variable);

// The command line for people: the path that is run, its arguments, each as a shell would take it.
std::string command_text(const CheckedProgram& program, const std::vector<std::string>& words);

}  // namespace cleave::exec
