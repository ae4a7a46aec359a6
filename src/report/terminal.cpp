#include "report/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/printable.h"
#include "report/explain.h"
#include "report/same_split.h"
#include "report/text.h"
#include "report/value.h"

namespace cleave::report {
namespace {

constexpr uint32_t kNarrowest = 40;

constexpr size_t kCallers = 3;

Style style_of(Verdict verdict) {
  constexpr std::array<Style, 5> kStyles = {Style::Dim, Style::Cyan, Style::Yellow, Style::Red,
                                            Style::BoldRed};
  return kStyles[static_cast<size_t>(verdict)];
}

class Renderer {
 public:
  Renderer(const Findings& findings, const TerminalOptions& options)
      : findings_(findings),
        options_(options),
        paint_{options.colour},
        width_(std::max(options.width, kNarrowest)),
        groups_(same_splits(findings.findings)) {}

  std::string render() {
    for (const SameSplit& group : groups_) {
      render_finding(findings_.findings[group.shown]);
      if (!options_.all_cycles) sentence(nearer(others_sentence(findings_.findings, group, "--all shows")));
      out_ += '\n';
      if (!options_.all_cycles) continue;
      for (size_t other : group.others) {
        render_finding(findings_.findings[other]);
        out_ += '\n';
      }
    }
    if (options_.counts) {
      render_stages();
      render_facts();
      render_total();
    }
    return std::move(out_);
  }

 private:
  void line(std::string_view text) {
    out_ += text;
    out_ += '\n';
  }

  // Files below the working directory as one would type them there.
  std::string nearer(std::string text) const {
    const std::string prefix = options_.directory + "/";
    if (prefix.size() < 2) return text;
    for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
      const bool begins = at == 0 || text[at - 1] == ' ';
      if (begins)
        text.erase(at, prefix.size());
      else
        ++at;
    }
    return text;
  }

  void sentence(std::string_view text) { out_ += wrap(printable(text), 2, width_); }

  void render_finding(const Finding& finding) {
    const std::string head = printable(headline(finding));
    const std::string verdict(word_of(finding.verdict));
    const std::string id = printable(finding.id);
    const size_t used = width_of(head) + 2 + width_of(id);
    const std::string gap = used < width_ ? std::string(width_ - used + 2, ' ') : "  ";
    line(paint_(verdict, style_of(finding.verdict)) + paint_(head.substr(verdict.size()), Style::Bold) + gap +
         paint_(id, Style::Dim));
    if (!finding.accesses.empty()) {
      timeline(finding);
      accesses(finding);
    }
    if (!finding.edges.empty()) cycle(finding);
    if (finding.kind == FindingKind::StaleValue || finding.edges.empty()) units(finding);
    views(finding);
    sentence(cause(finding));
    path(finding);
    sentence(why(finding));
    if (finding.failure) failure_text(*finding.failure);
    sentence(verdict_sentence(finding));
    sentence(how_often(finding));
    if (!finding.note.empty()) sentence("Note: " + finding.note);
    for (const std::string& hint : finding.hints) {
      sentence("Hint: " + hint.substr(0, hint.find('\n')));
      for (size_t at = hint.find('\n'); at != std::string::npos;) {
        const size_t end = hint.find('\n', at + 1);
        line("    " + printable(hint.substr(at + 1, end == std::string::npos ? end : end - at - 1)));
        at = end;
      }
    }
    if (std::string command = replay_command(finding); !command.empty()) {
      line("  " + paint_("replay: ", Style::Dim) + paint_(printable(command), Style::Bold));
    }
    if (std::string command = explain_command(finding); !command.empty()) {
      line("  " + paint_("what it needs: ", Style::Dim) + paint_(printable(command), Style::Bold));
    }
  }

  // Who holds and waits for what, as it is: in lines.
  void failure_text(const FailureReport& failure) {
    for (size_t at = 0; at < failure.text.size();) {
      const size_t end = std::min(failure.text.find('\n', at), failure.text.size());
      line("    " + printable(failure.text.substr(at, end - at)));
      at = end + 1;
    }
  }

  // One column a thread, one row an access, in execution order.
  void timeline(const Finding& finding) {
    std::vector<std::string> threads;
    for (const AccessReport& access : finding.accesses) {
      if (std::find(threads.begin(), threads.end(), access.thread) == threads.end())
        threads.push_back(access.thread);
    }
    const size_t column = std::max<size_t>(10, (width_ - 5) / threads.size() - 2);
    std::string header = "     ";
    for (const std::string& thread : threads) header += pad(fit(printable(thread), column), column + 2);
    header.erase(header.find_last_not_of(' ') + 1);
    line(paint_(header, Style::Dim));
    size_t number = 0;
    for (const AccessReport& access : finding.accesses) {
      std::string row;
      for (const std::string& thread : threads) {
        const bool here = thread == access.thread;
        const std::string cell = here ? fit(printable(operation(access, finding.variable)), column) : "|";
        row += here ? paint_(cell, access.role == Role::Remote ? Style::Yellow : Style::Plain)
                    : paint_(cell, Style::Dim);
        row += std::string(column + 2 - width_of(cell), ' ');
      }
      row.erase(row.find_last_not_of(' ') + 1);
      line(fmt::format("  {}  {}", ++number, row));
    }
  }

  void access_line(std::string_view label, const AccessReport& access) {
    std::string text = fmt::format("  {}  {} {}", label, printable(access.thread), printable(access.op));
    if (!access.value.empty()) text += " " + printable(value_for_people(access));
    if (std::string at = nearer(place(access)); !at.empty())
      text += "  " + paint_(printable(at), Style::Bold);
    if (!access.function.empty()) text += "  in " + printable(access.function);
    if (std::string library = inside(access); !library.empty()) text += ", inside " + printable(library);
    if (!access.locks.empty()) text += printable(fmt::format("  holding {}", fmt::join(access.locks, ", ")));
    line(text);
    if (!options_.source || access.file.empty() || access.line == 0) return;
    if (std::optional<std::string> source = options_.source(access.file, access.line)) {
      const std::string code = printable(*source);
      const size_t begin = std::min(code.find_first_not_of(' '), code.size());
      line(paint_(fit(fmt::format("{:>9} | {}", access.line, code.substr(begin)), width_), Style::Dim));
    }
  }

  void accesses(const Finding& finding) {
    size_t number = 0;
    for (const AccessReport& access : finding.accesses) {
      access_line(fmt::format("{}  {:<6}", ++number, word_of(access.role)), access);
      callers(access, kCallers);
    }
  }

  void callers(const AccessReport& access, size_t most) {
    const std::vector<std::string> frames = callers_of(access);
    for (size_t frame = 0; frame < std::min(frames.size(), most); ++frame) {
      line(paint_(fit(fmt::format("             called from {}", printable(nearer(frames[frame]))), width_),
                  Style::Dim));
    }
  }

  void cycle(const Finding& finding) {
    for (size_t i = 0; i < finding.edges.size(); ++i) {  // from the unit that was split on, as it happened
      const size_t first = finding.split < finding.edges.size() ? finding.split : 0;
      const EdgeReport& edge = finding.edges[(first + i) % finding.edges.size()];
      const std::string what = edge.variable.empty() ? edge.conflict : edge.conflict + " " + edge.variable;
      line(printable(fmt::format("  {} --{}--> {}", unit_label(finding.units[edge.from]), what,
                                 unit_label(finding.units[edge.to]))));
      if (!edge.first.op.empty()) access_line("     ", edge.first), callers(edge.first, 1);
      if (!edge.second.op.empty()) access_line("   > ", edge.second), callers(edge.second, 1);
    }
  }

  void units(const Finding& finding) {
    for (const UnitReport& unit : finding.units) line("  unit " + printable(unit_label(unit)));
  }

  void views(const Finding& finding) {
    for (const auto& view : finding.views)
      line(printable(fmt::format("  view {{{}}}", fmt::join(view, ", "))));
  }

  void path(const Finding& finding) {
    for (const AccessReport& step : finding.path)
      line(paint_(fit(fmt::format("  by way of {} in {}  {}", printable(step.op), printable(step.function),
                                  printable(nearer(place(step)))),
                      width_),
                  Style::Dim));
  }

  void render_stages() {
    // `check` counts no triples; what it looked at stands among the facts.
    if (findings_.stages.empty() || findings_.command == "check" || findings_.command == "static") return;
    std::vector<std::vector<std::string>> rows{{"stage", "triples", "sites", "seconds"}};
    for (const StageReport& stage : findings_.stages) {
      rows.push_back({printable(stage.name), fmt::format("{}", stage.triples), fmt::format("{}", stage.sites),
                      fmt::format("{:.3f}", stage.seconds)});
    }
    out_ += table(rows, 0, paint_) + "\n";
    bool any = false;
    for (const StageReport& stage : findings_.stages) {  // what only some stages count goes below
      if (stage.counts.empty()) continue;
      std::vector<std::string> counts;
      for (const auto& [name, count] : stage.counts) counts.push_back(fmt::format("{} {}", name, count));
      out_ += wrap(printable(fmt::format("{}: {}", stage.name, fmt::join(counts, ", "))), 2, width_, " ");
      any = true;
    }
    if (any) out_ += '\n';
  }

  void render_facts() {
    for (const auto& [name, fact] : findings_.facts) {
      out_ += wrap(printable(fmt::format("{}: {}", name, fact)), 2, width_, " ");
    }
    if (!findings_.facts.empty()) out_ += '\n';
  }

  void render_total() {
    if (findings_.findings.empty())
      return line(findings_.unfinished.empty() ? "Nothing found." : "Nothing found so far.");
    std::array<size_t, 5> counts{};
    size_t total = 0, more = 0;
    for (const SameSplit& group : groups_) {
      const size_t shown = 1 + (options_.all_cycles ? group.others.size() : 0);
      counts[static_cast<size_t>(findings_.findings[group.shown].verdict)] += shown;
      total += shown;
      more += 1 + group.others.size() - shown;
    }
    std::vector<std::string> parts;
    for (size_t v = counts.size(); v-- > 0;) {
      if (counts[v] > 0) parts.push_back(fmt::format("{} {}", counts[v], word_of(static_cast<Verdict>(v))));
    }
    line(fmt::format(
        "{} finding{}: {}{}", total, total == 1 ? "" : "s", fmt::join(parts, ", "),
        more == 0 ? "" : fmt::format("; {} more cycle{} of the same", more, more == 1 ? "" : "s")));
  }

  const Findings& findings_;
  const TerminalOptions& options_;
  Paint paint_;
  uint32_t width_;
  std::vector<SameSplit> groups_;
  std::string out_;
};

}  // namespace

std::string to_terminal(const Findings& findings, const TerminalOptions& options) {
  return Renderer(findings, options).render();
}

}  // namespace cleave::report
