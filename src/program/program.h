// What a binary that cleave-cc or cleave-c++ built knows of itself: the site tables of its modules and their
// bitcode. Works on executables, shared libraries and object files; a module that was linked from a static
// library is there like any other. What a shared library brings is in that library's own file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "tables/site_tables.h"

namespace cleave {

struct ProgramModule {
  uint64_t identity = 0;  // cleave_module::identity, as in the trace
  SiteTables tables;
  std::vector<uint8_t> packed;  // bitcode, zstd
  uint64_t bitcode_bytes = 0;   // unpacked

  // The bitcode: the code as it was instrumented, without the instrumentation. Loads, stores, calls, switches
  // and marks carry metadata `cleave.slot` {segment, slot}: the first slot of theirs in `tables`.
  // pass/mark/marks.h has the names of the marks and of the metadata.
  Result<std::vector<uint8_t>> bitcode() const;
};

struct Program {
  std::string path;
  std::vector<ProgramModule> modules;  // in the order of the link

  // Reads the whole file; cost is that of unpacking the tables. An Error says what to do when the file was
  // not built with Cleave, or when its section was stripped.
  static Result<Program> open(const std::string& path);
  const ProgramModule* find(uint64_t identity) const;
};

}  // namespace cleave
