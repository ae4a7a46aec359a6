#include "cli/common.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace cleave::cli {

void add_common_options(CLI::App& app, CommonOptions& options) {
  app.add_option("--json", options.json, "write the findings file (- for standard output)");
  app.add_option("--units", options.units,
                 "what a unit is: annotated, locks, methods, functions:GLOB; comma separated")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--config", options.config, "units and sets, as in docs/contract.md (cleave.toml)");
  app.add_option("--suppress", options.suppress,
                 "file of findings not to report: an id or a variable a line");
  app.add_option("--baseline", options.baseline, "findings file whose findings are known and do not count");
  app.add_option("--fail-on", options.fail_on, "lowest verdict that gives exit status 1")
      ->check(CLI::IsMember({"candidate", "feasible", "witnessed", "confirmed"}))
      ->capture_default_str();
  app.add_option("--jobs", options.jobs, "how many things to do at once (0: one a core)")
      ->check(CLI::Range(0, 1024));
  app.add_flag("--quiet", options.quiet, "findings only, no progress and no counts");
}

CLI::Validator not_negative() {
  return CLI::Validator(
      [](std::string& word) {
        if (word.starts_with('-')) return fmt::format("{} is negative; give a number from 0 on", word);
        bool digits = !word.empty() &&
                      std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
        errno = 0;
        std::strtoull(word.c_str(), nullptr, 10);
        return digits && errno == ERANGE ? fmt::format("{} is too large; 64 bits must hold it", word)
                                         : std::string();
      },
      "NUMBER");
}

int usage_error(const Error& error) {
  fmt::print(stderr, "cleave: {}\n", error.sentence());
  return static_cast<int>(Exit::Usage);
}

int unfinished(const Error& error) {
  fmt::print(stderr, "cleave: {}\n", error.sentence());
  return static_cast<int>(Exit::Unfinished);
}

}  // namespace cleave::cli
