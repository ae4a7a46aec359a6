// Builds small programs with cleave-cc and cleave-c++ in a folder of their own, runs them on the test
// recorder, and reads back what they recorded by the tables that the binary carries.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "program/program.h"

namespace cleave {

struct Output {
  int status = -1;
  std::string text;  // standard output and standard error
};

// An event of a recording, names in place of numbers.
struct Recorded {
  std::string kind;  // Read, Write, Enter, …, atomic, fence, range_read, range_write
  std::string name;  // variable, function or unit
  uint64_t address = 0, value = 0;
  unsigned width = 0;
  uint64_t bytes = 0;                 // ranges
  uint64_t operation = 0, order = 0;  // atomics and fences
  uint64_t old_value = 0;
  std::string
      outcomes;  // of branches before its record, "10": first on the left; only at the record's first event
  bool reached = true;
};

class Folder {
 public:
  Folder();
  ~Folder();
  std::string path(const std::string& name) const { return (root_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const;
  // A shell command within the folder; $CC and $CXX are the two compilers.
  Output run(const std::string& command) const;
  // Runs ./program on the recorder, expects status 0.
  std::vector<Recorded> record(const std::string& program) const;

 private:
  std::filesystem::path root_;
};

// "Read Account::balance 5" a line, for the kinds asked for.
std::vector<std::string> lines(const std::vector<Recorded>& events, const std::vector<std::string>& kinds);

inline const std::vector<std::string> kLevels = {"-O0", "-O1", "-O2", "-O3", "-Os"};

}  // namespace cleave
