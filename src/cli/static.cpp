// cleave static: high-level data races and stale values, without running the program.
#include <memory>

#include "base/interrupt.h"
#include "cli/clock.h"
#include "cli/findings_output.h"
#include "cli/static_confirm.h"
#include "cli/static_module.h"
#include "exec/launch.h"
#include "program/program.h"

namespace cleave::cli {
namespace {

struct StaticVerbOptions {
  CommonOptions common;
  static_analysis::StaticOptions analysis;
  StaticConfirmOptions search;
  std::string program, rule = "moth", budget = "2m";
  bool confirm = false;
  std::vector<std::string> only_with_confirm;  // options that were given and need --confirm
};

// With --confirm the program comes after `--`, with its arguments; otherwise it is the only argument.
Status check_usage(const StaticVerbOptions& options, const ProgramLine& line) {
  if (options.confirm && line.empty())
    return Error{"--confirm", "runs the program: cleave static --confirm -- PROG ARGS"};
  if (!line.empty() && !options.program.empty())
    return Error{"", "the program was given twice; with --confirm it comes after --"};
  if (!options.confirm && !line.empty())
    return Error{"", "a program after -- is run: add --confirm, or name the program without --"};
  if (options.program.empty() && line.empty()) return Error{"", "no program was given: cleave static PROG"};
  if (!options.confirm && !options.only_with_confirm.empty())
    return Error{options.only_with_confirm[0], "is for --confirm"};
  return Done{};
}

int run_static(StaticVerbOptions options, const ProgramLine& line) {
  if (Status usage = check_usage(options, line); !usage) return usage_error(usage.error());
  Result<double> budget = duration(options.budget);
  if (!budget) return usage_error(budget.error());
  options.search.budget = budget.value();
  if (options.confirm) {
    options.program = line[0];
    if (Status built = exec::check_instrumented(line[0]); !built) return usage_error(built.error());
  }
  Result<Program> program = Program::open(options.program);
  if (!program.ok()) return usage_error(program.error());
  options.analysis.artho = options.rule == "artho";
  Result<Findings> findings = analyze_in_module(program.value(), options.analysis);
  if (!findings.ok()) return usage_error(findings.error());
  if (options.confirm && !findings.value().findings.empty()) {
    InterruptScope interrupts;
    Status ran = confirm_by_running(line, options.common, options.search, findings.value());
    if (!ran) findings.value().unfinished.push_back(ran.error().sentence());
    options.common.program_file = line[0];
  }
  return write_results(std::move(findings).value(), options.common);
}

}  // namespace

void add_static_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<StaticVerbOptions>();
  CLI::App* verb =
      app.add_subcommand("static", "find high-level data races and stale values without running the program");
  verb->add_option("PROG", options->program, "executable built with cleave-cc or cleave-c++");
  verb->add_flag(
      "--paper", options->analysis.paper,
      "as MoTH does it: all objects of a class are one, branches are merged, no rules beyond the paper");
  verb->add_option("--rule", options->rule,
                   "moth, or artho: view consistency without access kinds and dependencies")
      ->check(CLI::IsMember({"moth", "artho"}))
      ->capture_default_str();
  verb->add_flag("--all", options->analysis.all, "also show what a rule takes for harmless");
  verb->add_flag("--confirm", options->confirm,
                 "run the program that is given after -- and look for executions that show what was found");
  verb->add_option("--executions", options->search.executions, "with --confirm: at most so many executions")
      ->check(CLI::Range(1u, 1000000u))
      ->capture_default_str();
  verb->add_option("--budget", options->budget, "with --confirm: time for all executions: 90s, 10m")
      ->capture_default_str();
  verb->add_option("--seed", options->search.seed, "with --confirm: of the search")
      ->check(not_negative())
      ->capture_default_str();
  verb->add_option("--time-limit", options->search.time_limit, "with --confirm: seconds for one execution")
      ->check(CLI::Range(1u, 100000u))
      ->capture_default_str();
  add_common_options(*verb, options->common);
  verb->footer(
      "Examples: cleave static ./bank --json findings.json\n"
      "          cleave static --confirm -- ./bank 3");
  verb->callback([verb, options, &context] {
    for (const char* name : {"--executions", "--budget", "--seed", "--time-limit", "--units", "--jobs"})
      if (verb->count(name) != 0) options->only_with_confirm.push_back(name);
    context.run = [options, &context] { return run_static(*options, context.program); };
  });
}

}  // namespace cleave::cli
