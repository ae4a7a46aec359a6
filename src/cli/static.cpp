// cleave static: high-level data races and stale values, without running the program.
#include <memory>

#include "cli/findings_output.h"
#include "cli/static_module.h"
#include "program/program.h"

namespace cleave::cli {
namespace {

struct StaticVerbOptions {
  CommonOptions common;
  static_analysis::StaticOptions analysis;
  std::string program, rule = "moth";
};

int run_static(StaticVerbOptions options) {
  Result<Program> program = Program::open(options.program);
  if (!program.ok()) return usage_error(program.error());
  options.analysis.artho = options.rule == "artho";
  Result<Findings> findings = analyze_in_module(program.value(), options.analysis);
  if (!findings.ok()) return usage_error(findings.error());
  return write_results(std::move(findings).value(), options.common);
}

}  // namespace

void add_static_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<StaticVerbOptions>();
  CLI::App* verb =
      app.add_subcommand("static", "find high-level data races and stale values without running the program");
  verb->add_option("PROG", options->program, "executable built with cleave-cc or cleave-c++")->required();
  verb->add_flag(
      "--paper", options->analysis.paper,
      "as MoTH does it: all objects of a class are one, branches are merged, no rules beyond the paper");
  verb->add_option("--rule", options->rule,
                   "moth, or artho: view consistency without access kinds and dependencies")
      ->check(CLI::IsMember({"moth", "artho"}))
      ->capture_default_str();
  verb->add_flag("--all", options->analysis.all, "also show what a rule takes for harmless");
  add_common_options(*verb, options->common);
  verb->footer("Example: cleave static ./bank --json findings.json");
  verb->callback([options, &context] { context.run = [options] { return run_static(*options); }; });
}

}  // namespace cleave::cli
