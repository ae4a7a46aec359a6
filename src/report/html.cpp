#include "report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/printable.h"
#include "report/explain.h"
#include "report/html_page.h"
#include "report/same_split.h"
#include "report/text.h"

namespace cleave::report {
namespace {

std::string escape(std::string_view text) {
  std::string out;
  for (char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string escape_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += escape(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

class Page {
 public:
  Page(const Findings& findings, std::string_view version, const SourceLine& source)
      : findings_(findings), version_(version), source_(source) {}

  std::string render() {
    head();
    filter();
    for (const SameSplit& group : same_splits(findings_.findings)) {
      article(findings_.findings[group.shown]);
      if (group.others.empty()) continue;
      out_ += fmt::format("<details><summary>{}</summary>\n",
                          escape(others_sentence(findings_.findings, group, "")));
      for (size_t other : group.others) article(findings_.findings[other]);
      out_ += "</details>\n";
    }
    if (findings_.findings.empty()) out_ += "<p>Nothing found.</p>\n";
    stages();
    facts();
    out_ += fmt::format("</main>\n<script>{}</script>\n</html>\n", kPageScript);
    return std::move(out_);
  }

 private:
  void head() {
    const std::string subject = findings_.program.empty() ? findings_.trace : findings_.program;
    out_ += fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; "
        "script-src 'unsafe-inline'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>Cleave: {}</title>\n<style>{}</style>\n",
        escape(subject), kPageStyle);
    out_ += fmt::format(
        "<header><h1>Atomicity violations{}{}</h1>\n<p class=\"soft\">cleave {}, version {}{}</p></header>\n",
        subject.empty() ? "" : " of ", escape(subject), escape(findings_.command), escape(version_),
        findings_.trace.empty() ? "" : ", trace " + escape(findings_.trace));
    out_ += "<main>\n";
  }

  void filter() {
    std::array<size_t, 5> counts{};
    for (const Finding& finding : findings_.findings) ++counts[static_cast<size_t>(finding.verdict)];
    out_ +=
        fmt::format("<div class=\"filter\"><button data-show=\"all\" aria-pressed=\"true\">all {}</button>",
                    findings_.findings.size());
    for (size_t v = counts.size(); v-- > 0;) {
      const std::string_view word = word_of(static_cast<Verdict>(v));
      if (counts[v] == 0) continue;
      out_ += fmt::format("<button data-show=\"{}\" aria-pressed=\"false\">{} {}</button>", word, word,
                          counts[v]);
    }
    out_ += "</div>\n";
  }

  void article(const Finding& finding) {
    const std::string_view verdict = word_of(finding.verdict);
    const std::string head = headline(finding);
    out_ += fmt::format(
        "<article id=\"{0}\" data-verdict=\"{1}\">\n<header><h2><span class=\"verdict\">{1}</span>{2}</h2>"
        "<span class=\"id mono\">{0}</span></header>\n",
        escape(finding.id), verdict, escape(head.substr(verdict.size())));
    if (!finding.accesses.empty()) timeline(finding);
    cycle(finding);
    for (const auto& view : finding.views) {
      out_ +=
          fmt::format("<p>view <code>{{{}}}</code></p>\n", escape(fmt::format("{}", fmt::join(view, ", "))));
    }
    out_ += fmt::format("<p>{}</p>\n<p class=\"soft\">{}{}</p>\n", escape(why(finding)),
                        escape(verdict_sentence(finding)),
                        how_often(finding).empty() ? "" : " " + how_often(finding));
    if (finding.failure && !finding.failure->text.empty())
      out_ += fmt::format("<pre>{}</pre>\n", escape_lines(finding.failure->text));
    if (!finding.note.empty()) out_ += fmt::format("<p>Note: {}</p>\n", escape(finding.note));
    for (const std::string& hint : finding.hints) {
      const size_t end = std::min(hint.find('\n'), hint.size());
      out_ += fmt::format("<p>Hint: {}</p>\n", escape(hint.substr(0, end)));
      if (end == hint.size()) continue;
      out_ += "<pre>";
      for (size_t at = end; at < hint.size();) {
        const size_t next = std::min(hint.find('\n', at + 1), hint.size());
        out_ += escape(hint.substr(at + 1, next - at - 1)) + "\n";
        at = next;
      }
      out_ += "</pre>\n";
    }
    if (std::string command = replay_command(finding); !command.empty()) {
      out_ += fmt::format("<p>Replay: <code>{}</code></p>\n", escape(command));
    }
    if (!finding.accesses.empty()) places(finding);
    out_ += "</article>\n";
  }

  void timeline(const Finding& finding) {
    std::vector<std::string> threads;
    for (const AccessReport& access : finding.accesses) {
      if (std::find(threads.begin(), threads.end(), access.thread) == threads.end())
        threads.push_back(access.thread);
    }
    out_ += "<div class=\"scroll\"><table class=\"timeline\"><tr><th></th>";
    for (const std::string& thread : threads) out_ += fmt::format("<th>{}</th>", escape(thread));
    out_ += "</tr>\n";
    size_t number = 0;
    for (const AccessReport& access : finding.accesses) {
      out_ += fmt::format("<tr><td>{}</td>", ++number);
      for (const std::string& thread : threads) {
        out_ += thread == access.thread
                    ? fmt::format("<td class=\"here\">{}</td>", escape(operation(access, finding.variable)))
                    : std::string("<td class=\"away\">|</td>");
      }
      out_ += "</tr>\n";
    }
    out_ += "</table></div>\n";
  }

  void cycle(const Finding& finding) {
    if (finding.edges.empty()) {
      for (const UnitReport& unit : finding.units)
        out_ += fmt::format("<p>unit {}</p>\n", escape(unit_label(unit)));
      return;
    }
    out_ += "<div class=\"scroll\"><table><tr><th>unit</th><th>conflict</th><th>before unit</th></tr>\n";
    const size_t first = finding.split < finding.edges.size() ? finding.split : 0;
    for (size_t i = 0; i < finding.edges.size(); ++i) {
      const EdgeReport& edge = finding.edges[(first + i) % finding.edges.size()];
      out_ += fmt::format(
          "<tr><td>{}<br>{}<br><code>{}</code></td><td>{} "
          "<code>{}</code></td><td>{}<br>{}<br><code>{}</code></td></tr>\n",
          escape(unit_label(finding.units[edge.from])), escape(operation(edge.first, edge.variable)),
          escape(place(edge.first)), escape(edge.conflict), escape(edge.variable),
          escape(unit_label(finding.units[edge.to])), escape(operation(edge.second, edge.variable)),
          escape(place(edge.second)));
    }
    out_ += "</table></div>\n";
  }

  void places(const Finding& finding) {
    out_ += "<details open><summary>where</summary>\n";
    size_t number = 0;
    for (const AccessReport& access : finding.accesses) {
      out_ += fmt::format(
          "<p class=\"place\">{} {} <strong>{}</strong> {}{}{}</p>\n", ++number, word_of(access.role),
          escape(access.thread), escape(place(access)),
          access.function.empty() ? "" : " in <code>" + escape(access.function) + "</code>",
          access.locks.empty() ? "" : escape(fmt::format(" holding {}", fmt::join(access.locks, ", "))));
      source_lines(access);
      for (const std::string& caller : callers_of(access)) {
        out_ += fmt::format("<div class=\"soft mono\">called from {}</div>\n", escape(caller));
      }
    }
    out_ += "</details>\n";
  }

  void source_lines(const AccessReport& access) {
    if (!source_ || access.file.empty() || access.line == 0 || !source_(access.file, access.line)) return;
    constexpr uint32_t kAround = 2;
    out_ += "<pre>";
    for (uint32_t line = access.line > kAround ? access.line - kAround : 1; line <= access.line + kAround;
         ++line) {
      const std::optional<std::string> text = source_(access.file, line);
      if (!text) continue;
      const std::string row = fmt::format("{:>5}  {}", line, escape(*text));
      out_ += line == access.line ? fmt::format("<span class=\"hit\">{}</span>\n", row) : row + "\n";
    }
    out_ += "</pre>\n";
  }

  void stages() {
    if (findings_.stages.empty()) return;
    std::set<std::string> extra;
    for (const StageReport& stage : findings_.stages) {
      for (const auto& [name, count] : stage.counts) extra.insert(name);
    }
    out_ += "<h2>Stages</h2>\n<div class=\"scroll\"><table><tr><th>stage</th><th>triples</th><th>sites</th>";
    for (const std::string& name : extra) out_ += fmt::format("<th>{}</th>", escape(name));
    out_ += "<th>seconds</th></tr>\n";
    for (const StageReport& stage : findings_.stages) {
      out_ += fmt::format("<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>",
                          escape(stage.name), stage.triples, stage.sites);
      for (const std::string& name : extra) {
        auto it = stage.counts.find(name);
        out_ += fmt::format("<td class=\"number\">{}</td>",
                            it == stage.counts.end() ? "" : std::to_string(it->second));
      }
      out_ += fmt::format("<td class=\"number\">{:.3f}</td></tr>\n", stage.seconds);
    }
    out_ += "</table></div>\n";
  }

  void facts() {
    for (const auto& [name, fact] : findings_.facts) {
      out_ += fmt::format("<p class=\"soft\">{}: {}</p>\n", escape(name), escape(fact));
    }
  }

  const Findings& findings_;
  std::string_view version_;
  const SourceLine& source_;
  std::string out_;
};

}  // namespace

std::string to_html(const Findings& findings, std::string_view version, const SourceLine& source) {
  return Page(findings, version, source).render();
}

}  // namespace cleave::report
