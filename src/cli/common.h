// What all verbs share: exit status, the options that work everywhere, and how results and messages are
// printed.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/trust.h"
#include "findings/finding.h"

namespace cleave::cli {

// Defined in docs/contract.md. `record` and `replay` return the program's own status instead.
enum class Exit : int { Nothing = 0, Found = 1, Usage = 2, Unfinished = 3 };

// The one place where it is decided: what was found counts first, then what is left to be done.
inline int exit_status(bool found, bool unfinished) {
  return static_cast<int>(found ? Exit::Found : unfinished ? Exit::Unfinished : Exit::Nothing);
}

// What came after `--`: the program and its arguments.
using ProgramLine = std::vector<std::string>;

// Options of verbs that give findings.
struct CommonOptions {
  bool shares_output = false;      // standard output is the program's: the report goes to standard error
  std::string json;                // file, or - for standard output
  std::vector<std::string> units;  // annotated, causal, locks, methods, functions:GLOB
  std::vector<std::string> without_rules;  // --without-rule
  std::string config;                      // cleave.toml
  std::string suppress, baseline;
  std::string fail_on = "candidate";
  unsigned jobs = 0;  // 0: as many as there are cores
  bool quiet = false;
  bool theory = false, stats = false;     // -v, --stats
  std::vector<std::string> source_roots;  // folders whose source files may be shown
  std::string program_file;               // the program that was given after --; set by the verb
  bool all_cycles = false;                // check, report: every cycle in full, not one for each unit and set
};

// A verb has the options that it uses, and no others: those that take findings out of it and show them, those
// that say what units and sets are, or all of them and --jobs.
void add_findings_options(CLI::App& app, CommonOptions& options);
void add_units_options(CLI::App& app, CommonOptions& options);
void add_common_options(CLI::App& app, CommonOptions& options);
// --max-trace SIZE: bytes, or with K, M, G behind the number.
void add_max_trace_option(CLI::App& app, uint64_t& bytes);
// For numbers from 0 on that 64 bits hold; CLI11 alone would take -5 for a very large one, and a larger one
// for 0.
CLI::Validator not_negative();

// A verb runs after parsing and returns the exit status.
struct Context {
  std::vector<std::string> words;  // the command line as typed, without what is after `--`
  ProgramLine program;             // after `--`
  std::function<int()> run;        // set by the verb that was named
};

// Before a program runs because a file names it: says on standard error which, and which variables of that
// file change what is loaded into it.
void tell_what_runs(const exec::CheckedProgram& program, const std::vector<std::string>& words,
                    const std::optional<std::map<std::string, std::string>>& environment);

// One sentence on standard error, status 2.
int usage_error(const Error& error);
// One sentence on standard error, status 3.
int unfinished(const Error& error);
// One sentence on standard error, whatever --quiet says: what a trace lacks has to be known.
void warn(const std::string& place, const std::string& sentence);

// "PATH: the trace ends early …": for every command that reads one.
std::string ends_early(const std::string& path, uint64_t events);

// The command as it was typed, with this option set to another value: what to type to go on.
std::string command_with(const std::vector<std::string>& words, const std::string& option,
                         const std::string& value);

#define CLEAVE_VERB(name) void add_##name##_verb(CLI::App& app, Context& context);
#include "cli/verbs.def"
#undef CLEAVE_VERB

}  // namespace cleave::cli
