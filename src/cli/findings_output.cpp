#include "cli/findings_output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/source_files.h"
#include "cli/terminal.h"
#include "report/json.h"
#include "report/selection.h"
#include "report/terminal.h"

namespace cleave::cli {
namespace {

Result<report::Selection> selection_from(const CommonOptions& options, bool keep_infeasible) {
  report::Selection selection;
  selection.keep_infeasible = keep_infeasible;
  parse(options.fail_on, &selection.fail_on);
  if (!options.suppress.empty()) {
    Result<std::string> text = read_text_file(options.suppress);
    if (!text) return text.error();
    Result<report::Suppressions> suppressions = report::parse_suppressions(text.value(), options.suppress);
    if (!suppressions) return suppressions.error();
    selection.suppressions = std::move(suppressions).value();
  }
  if (!options.baseline.empty()) {
    Result<Findings> known = load_findings(options.baseline);
    if (!known) return known.error();
    selection.baseline = std::move(known.value().findings);
  }
  return selection;
}

// $COLUMNS, else what the terminal says, else 100: a pipe is read later, somewhere else.
uint32_t output_width(int descriptor) {
  if (const char* columns = std::getenv("COLUMNS")) {
    const long width = std::strtol(columns, nullptr, 10);
    if (width > 0 && width < 10000) return static_cast<uint32_t>(width);
  }
  winsize size{};
  if (isatty(descriptor) != 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 100;
}

bool output_colour(int descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(descriptor) != 0 && (no_colour == nullptr || *no_colour == '\0');
}

std::string working_directory() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::current_path(error);
  return error ? std::string() : path.string();
}

void print_for_people(const Findings& findings, const CommonOptions& options,
                      const report::Selected& selected) {
  std::FILE* out = options.shares_output ? stderr : stdout;
  const report::TerminalOptions terminal{
      .colour = output_colour(fileno(out)),
      .width = output_width(fileno(out)),
      .counts = !options.quiet,
      .source = report::source_lines_from_disk(source_files(findings, options)),
      .all_cycles = options.all_cycles,
      .theory = options.theory,
      .stats = options.stats,
      .directory = working_directory()};
  fmt::print(out, "{}", report::to_terminal(findings, terminal));
  if (options.quiet) return;
  if (selected.suppressed > 0) fmt::print(out, "{} suppressed\n", selected.suppressed);
  if (selected.known > 0) fmt::print(out, "{} known from the baseline\n", selected.known);
}

void warn_of_unmatched(const CommonOptions& options, const report::Selected& selected) {
  for (const std::string& word : selected.unmatched)
    fmt::print(stderr, "cleave: {}: no finding matches `{}`\n", options.suppress, word);
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  if (std::filesystem::is_directory(path)) return Error{path, "is a directory, not a file"};
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{path, "cannot be read; is the name right?"};
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad() || (text.fail() && in.peek() != std::ifstream::traits_type::eof())) {
    return Error{path, "cannot be read to its end"};
  }
  return std::move(text).str();
}

Status write_text_file(const std::string& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text << std::flush;
  if (!out) return Error{path, "cannot be written"};
  return Done{};
}

Result<Findings> load_findings(const std::string& path) {
  Result<std::string> text = read_text_file(path);
  if (!text) return text.error();
  return report::from_json(text.value(), path);
}

Result<std::function<bool(const Finding&)>> known_findings(const CommonOptions& options) {
  if (options.suppress.empty() && options.baseline.empty()) return std::function<bool(const Finding&)>();
  Result<report::Selection> selection = selection_from(options, false);
  if (!selection) return selection.error();
  return std::function<bool(const Finding&)>(
      [selection = std::move(selection).value()](const Finding& finding) {
        return report::left_out(finding, selection);
      });
}

Result<report::Selected> select_findings(Findings& findings, const CommonOptions& options,
                                         bool keep_infeasible) {
  Result<report::Selection> selection = selection_from(options, keep_infeasible);
  if (!selection) return selection.error();
  return report::select(findings, selection.value());
}

int show(const Findings& findings, const CommonOptions& options, const report::Selected& selected) {
  warn_of_unmatched(options, selected);
  bool lost = false;  // a file that was asked for; people are told all the same
  if (!options.json.empty()) {
    const std::string json = report::to_json(findings, CLEAVE_VERSION);
    if (options.json == "-") {
      fmt::print(data_output(), "{}", json);
    } else if (Status written = write_text_file(options.json, json); !written) {
      warn("", written.error().sentence());
      lost = true;
    }
  }
  if (options.json != "-") print_for_people(findings, options, selected);
  for (const std::string& sentence : findings.unfinished) warn("", sentence);
  return exit_status(selected.fails && !lost, lost || !findings.unfinished.empty());
}

int write_results(Findings findings, const CommonOptions& options, bool keep_infeasible) {
  Result<report::Selected> selected = select_findings(findings, options, keep_infeasible);
  if (!selected) return usage_error(selected.error());
  return show(findings, options, selected.value());
}

}  // namespace cleave::cli
