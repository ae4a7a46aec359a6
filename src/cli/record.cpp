// cleave record: run a program built with Cleave and keep its trace.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "cli/common.h"
#include "exec/launch.h"

namespace cleave::cli {
namespace {

struct RecordOptions {
  std::string trace;
  bool quiet = false;
};

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// The program is run in our directory, but may change its own before it opens the file: the name is made absolute.
Result<std::string> absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  char here[4096];
  if (getcwd(here, sizeof here) == nullptr) return Error{path, fmt::format("no current directory: {}", strerror(errno))};
  return std::string(here) + "/" + path;
}

// Empties the file, so that the program finds it free, and finds out now rather than later that it cannot be written.
Status prepare_trace(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) return Error{path, "is a directory"};
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) return Error{path, fmt::format("the trace cannot be written: {}", strerror(errno))};
  return Done{};
}

bool is_empty_file(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size == 0;
}

int exit_status_of(const exec::LaunchOutcome& outcome, const std::string& program) {
  if (outcome.end == exec::LaunchOutcome::End::Exited) return outcome.exit_status;
  fmt::print(stderr, "cleave: {} was killed by signal {} ({})\n", program, outcome.signal, strsignal(outcome.signal));
  return 128 + outcome.signal;
}

int record(const RecordOptions& options, const ProgramLine& program) {
  if (program.empty()) return usage_error(Error{"", "no program was given: cleave record -o TRACE -- PROG ARGS"});
  if (Status status = exec::check_instrumented(program[0]); !status) return usage_error(status.error());
  Result<std::string> trace = absolute(options.trace.empty() ? base_name(program[0]) + ".cleave" : options.trace);
  if (!trace) return usage_error(trace.error());
  if (Status status = prepare_trace(trace.value()); !status) return usage_error(status.error());

  exec::LaunchRequest request;
  request.program = program;
  request.environment[exec::kTraceVariable] = trace.value();
  Result<exec::LaunchOutcome> outcome = exec::launch(request);
  if (!outcome) {
    if (is_empty_file(trace.value())) unlink(trace.value().c_str());
    return usage_error(outcome.error());
  }
  int status = exit_status_of(outcome.value(), program[0]);
  if (is_empty_file(trace.value())) {
    unlink(trace.value().c_str());
    return usage_error(Error{program[0], "nothing was recorded: it started no program that was built with Cleave"});
  }
  return status;
}

}  // namespace

void add_record_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App* verb = app.add_subcommand("record", "run a program built with Cleave and record what it does");
  verb->add_option("-o,--output", options->trace, "the trace (default: name of the program with .cleave)");
  verb->add_flag("--quiet", options->quiet, "say nothing but errors");
  verb->footer("The exit status is the program's own; 128 + N if signal N killed it; 2 if it could not be run.\n"
               "Example: cleave-c++ -g -O1 bank.cpp -o bank && cleave record -o bank.cleave -- ./bank");
  verb->callback([options, &context] {
    context.run = [options, &context] { return record(*options, context.program); };
  });
}

}  // namespace cleave::cli
