#include "cli/common.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>

#include "base/printable.h"

namespace cleave::cli {

void add_common_options(CLI::App& app, CommonOptions& options) {
  add_findings_options(app, options);
  add_units_options(app, options);
  app.add_option("--jobs", options.jobs, "number of parallel jobs (0 = one per core)")
      ->check(CLI::Range(0, 1024));
}

void add_units_options(CLI::App& app, CommonOptions& options) {
  app.add_option(
         "--units", options.units,
         "what a unit is: annotated, causal, locks, methods, marathon (methods and locks), functions:GLOB; "
         "comma separated")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--without-rule", options.without_rules,
                 "switch off rules of causal units by id (docs/units.md); comma separated")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--config", options.config, "units and sets, as in docs/contract.md (cleave.toml)");
}

void add_findings_options(CLI::App& app, CommonOptions& options) {
  app.add_option("--json", options.json, "write the findings file (- for standard output)");
  app.add_option("--suppress", options.suppress,
                 "file of findings not to report: an id or a variable a line");
  app.add_option("--baseline", options.baseline, "findings file whose findings are known and do not count");
  app.add_option("--fail-on", options.fail_on, "lowest verdict that gives exit status 1")
      ->check(CLI::IsMember({"candidate", "feasible", "witnessed", "confirmed"}))
      ->capture_default_str();
  app.add_option("--source-root", options.source_roots,
                 "a folder whose source files reports may show, besides this one and those of the program")
      ->allow_extra_args(false)
      ->check(CLI::ExistingDirectory);
  app.add_flag("--quiet", options.quiet, "findings only, no progress and no counts");
  app.add_flag("-v,--verbose", options.theory, "also show patterns, conflicts and more of the call stacks");
  app.add_flag("--stats", options.stats, "also show what each stage counted and how long it took");
}

void add_max_trace_option(CLI::App& app, uint64_t& bytes) {
  app.add_option(
         "--max-trace", bytes,
         "end the recording at this size and let the program go on (default 8G; never more than half of "
         "what is free)")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::PositiveNumber)
      ->type_name("SIZE");
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

void tell_what_runs(const exec::CheckedProgram& program, const std::vector<std::string>& words,
                    const std::optional<std::map<std::string, std::string>>& environment) {
  fmt::print(stderr, "cleave: running {}\n", exec::command_text(program, words));
  if (!environment) return;
  for (const auto& [name, value] : *environment) {
    const char* ours = std::getenv(name.c_str());
    if (exec::steers_what_is_loaded(name) && (ours == nullptr || value != ours))
      fmt::print(stderr, "cleave: with {}={}\n", printable(name), printable(value));
  }
}

// A file's name stays on its line, whatever it is.
static std::string sentence_of(const Error& error) {
  return Error{printable(error.place), error.message}.sentence();
}

int usage_error(const Error& error) {
  fmt::print(stderr, "cleave: {}\n", sentence_of(error));
  return static_cast<int>(Exit::Usage);
}

int unfinished(const Error& error) {
  fmt::print(stderr, "cleave: {}\n", sentence_of(error));
  return static_cast<int>(Exit::Unfinished);
}

void warn(const std::string& place, const std::string& sentence) {
  fmt::print(stderr, "cleave: {}\n", Error{place, sentence}.sentence());
}

std::string ends_early(const std::string& path, uint64_t events) {
  constexpr std::string_view kWhy =
      "the trace ends early (the program was killed, or the file is cut off or damaged)";
  if (events == 0) return fmt::format("{}: {}, before its first event", path, kWhy);
  return fmt::format("{}: {}; what is said here holds for its first {} events", path, kWhy, events);
}

namespace {

// As a shell takes it for one word.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./=:,+@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return word;
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string command_with(const std::vector<std::string>& words, const std::string& option,
                         const std::string& value) {
  std::string text = "cleave";
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with(option + "=")) continue;
    if (words[i] == option) {
      ++i;
      continue;
    }
    text += " " + quoted(words[i]);
    if (i == 0 && !option.empty()) text += " " + option + " " + value;
  }
  return text;
}

}  // namespace cleave::cli
