// cleave report: findings files, for people and for other tools.
#include <algorithm>
#include <memory>

#include "cli/findings_output.h"
#include "report/html.h"
#include "report/sarif.h"

namespace cleave::cli {
namespace {

struct ReportOptions {
  CommonOptions common;
  std::vector<std::string> files;
  std::string html, sarif;
};

// Several files as one: the first finding of an id stays, unless a later one has a better verdict.
void merge(Findings& into, Findings from) {
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
  for (Finding& finding : from.findings) {
    auto same = std::find_if(into.findings.begin(), into.findings.end(),
                             [&](const Finding& known) { return known.id == finding.id; });
    if (same == into.findings.end())
      into.findings.push_back(std::move(finding));
    else if (same->verdict < finding.verdict)
      *same = std::move(finding);
  }
}

int run_report(const ReportOptions& options) {
  Findings all;
  for (const std::string& file : options.files) {
    Result<Findings> findings = load_findings(file);
    if (!findings) return usage_error(findings.error());
    merge(all, std::move(findings).value());
  }
  Result<report::Selected> selected = select_findings(all, options.common);
  if (!selected) return usage_error(selected.error());
  if (!options.html.empty()) {
    const std::string page = report::to_html(all, CLEAVE_VERSION, report::source_lines_from_disk());
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
  add_common_options(*verb, options->common);
  verb->footer("Example: cleave report findings.json --html findings.html --fail-on confirmed");
  verb->callback([options, &context] { context.run = [options] { return run_report(*options); }; });
}

}  // namespace cleave::cli
