// The command line of clang for a command line of cleave-cc or cleave-c++. Every flag passes through; what is
// added stands in front, so that a user's own flag of the same kind wins and a dangling last flag stays
// dangling. Added are: the plugin, full debug information (names and types of accesses come from it),
// __CLEAVE__, the include folder of annotate.h as the last one searched, and when something is linked the
// runtime, as the first library so that it stands before libc in the order of symbol lookup.
//
// Loop and SLP vectorisation are off unless asked for: an access that covers several variables has no name,
// and each element is recorded anyway. Link-time optimisation is off: it would move accesses away from their
// records.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace cleave {

struct Toolchain {
  std::string clang;      // clang-19 or clang++-19
  std::string plugin;     // libcleave_pass.so
  std::string include;    // folder that has cleave/annotate.h
  std::string libraries;  // folder that has libcleave_rt.so
};

// The whole argument list, clang's path first, or what does not go together with Cleave. Reads response
// files.
Result<std::vector<std::string>> compiler_command(const std::vector<std::string>& arguments,
                                                  const Toolchain& tools);

// Where the tools stand relative to the running executable. `cxx` asks for the C++ compiler.
Result<Toolchain> find_toolchain(bool cxx);

// Becomes the compiler. Returns an exit status only when that failed, after one sentence on standard error.
int run_compiler(bool cxx, const std::vector<std::string>& arguments);

}  // namespace cleave
