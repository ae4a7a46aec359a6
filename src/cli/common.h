// What all verbs share: exit status, the options that work everywhere, and how results and messages are
// printed.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/finding.h"

namespace cleave::cli {

enum class Exit : int { Nothing = 0, Found = 1, Usage = 2, Unfinished = 3 };

// What came after `--`: the program and its arguments.
using ProgramLine = std::vector<std::string>;

// Options of every verb that gives findings.
struct CommonOptions {
  std::string json;                // file, or - for standard output
  std::vector<std::string> units;  // annotated, locks, methods, functions:GLOB
  std::string config;              // cleave.toml
  std::string suppress, baseline;
  std::string fail_on = "candidate";
  unsigned jobs = 0;  // 0: as many as there are cores
  bool quiet = false;
  bool all_cycles = false;  // check, report: every cycle in full, not one for each unit and set
};

void add_common_options(CLI::App& app, CommonOptions& options);
// For numbers from 0 on that 64 bits hold; CLI11 alone would take -5 for a very large one, and a larger one
// for 0.
CLI::Validator not_negative();

// A verb runs after parsing and returns the exit status.
struct Context {
  ProgramLine program;       // after `--`
  std::function<int()> run;  // set by the verb that was named
};

// One sentence on standard error, status 2.
int usage_error(const Error& error);
// One sentence on standard error, status 3.
int unfinished(const Error& error);

#define CLEAVE_VERB(name) void add_##name##_verb(CLI::App& app, Context& context);
#include "cli/verbs.def"
#undef CLEAVE_VERB

}  // namespace cleave::cli
