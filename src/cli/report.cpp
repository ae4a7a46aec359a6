// cleave report: findings files, for people and for other tools.
#include <set>

#include "cli/findings_output.h"

namespace cleave::cli {
namespace {

struct ReportOptions {
  CommonOptions common;
  std::vector<std::string> files;
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
  return put_out(std::move(all), options.common);
}

}  // namespace

void add_report_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* verb = app.add_subcommand("report", "show findings files for people and for other tools");
  verb->add_option("FINDINGS", options->files, "findings files that --json wrote")->required();
  add_common_options(*verb, options->common);
  verb->footer("Example: cleave report findings.json --fail-on confirmed");
  verb->callback([options, &context] { context.run = [options] { return run_report(*options); }; });
}

}  // namespace cleave::cli
