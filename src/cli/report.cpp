// cleave report: findings files, for people and for other tools.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/findings_output.h"
#include "cli/source_files.h"
#include "report/html.h"
#include "report/sarif.h"

namespace cleave::cli {
namespace {

struct ReportOptions {
  CommonOptions common;
  std::vector<std::string> files;
  std::string html, sarif;
};

// Several files as one: of a finding that several have the first stays, unless a later one has a better
// verdict. How many findings were in an earlier file already.
size_t merge(Findings& into, Findings from) {
  auto join = [](std::string& text, const std::string& more) {
    if (text.empty())
      text = more;
    else if (!more.empty() && text != more)
      text += ", " + more;
  };
  join(into.command, from.command);
  join(into.program, from.program);
  join(into.trace, from.trace);
  into.stages.insert(into.stages.end(), from.stages.begin(), from.stages.end());
  into.facts.merge(from.facts);
  into.unfinished.insert(into.unfinished.end(), from.unfinished.begin(), from.unfinished.end());
  const size_t before = into.findings.size();
  size_t again = 0;
  for (Finding& finding : from.findings) {
    const auto end = into.findings.begin() + static_cast<ptrdiff_t>(before);
    auto same = std::find_if(into.findings.begin(), end,
                             [&](const Finding& known) { return same_finding(known, finding); });
    if (same == end) {
      into.findings.push_back(std::move(finding));
      continue;
    }
    ++again;
    if (same->verdict < finding.verdict) *same = std::move(finding);
  }
  return again;
}

int run_report(const ReportOptions& options) {
  Findings all;
  size_t again = 0;
  for (const std::string& file : options.files) {
    Result<Findings> findings = load_findings(file);
    if (!findings) return usage_error(findings.error());
    again += merge(all, std::move(findings).value());
  }
  separate_ids(all.findings);
  if (again > 0)
    all.facts["in several files"] =
        fmt::format("{} {}, shown once", again, again == 1 ? "finding" : "findings");
  Result<report::Selected> selected = select_findings(all, options.common);
  if (!selected) return usage_error(selected.error());
  if (!options.html.empty()) {
    const std::string page = report::to_html(
        all, CLEAVE_VERSION, report::source_lines_from_disk(source_files(all, options.common)));
    if (Status written = write_text_file(options.html, page); !written) return usage_error(written.error());
  }
  if (!options.sarif.empty()) {
    const std::string log = report::to_sarif(all, CLEAVE_VERSION);
    if (Status written = write_text_file(options.sarif, log); !written) return usage_error(written.error());
  }
  return show(all, options.common, selected.value());
}

}  // namespace

void add_report_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* verb = app.add_subcommand("report", "show findings files for people and for other tools");
  verb->add_option("FINDINGS", options->files, "findings files that --json wrote")->required();
  verb->add_option("--html", options->html, "write one page with everything in it");
  verb->add_option("--sarif", options->sarif, "write SARIF 2.1.0, for code hosts and editors");
  verb->add_flag("--all", options->common.all_cycles,
                 "show every cycle, also those that split the same unit on the same set");
  add_findings_options(*verb, options->common);
  verb->footer("Example: cleave report findings.json --html findings.html --fail-on confirmed");
  verb->callback([options, &context] { context.run = [options] { return run_report(*options); }; });
}

}  // namespace cleave::cli
