#include "report/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/printable.h"
#include "report/explain.h"
#include "report/same_split.h"
#include "report/steps.h"
#include "report/text.h"
#include "report/title.h"
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

// The facts about the work rather than about its result. How much was looked at is part of the result where
// nothing was found.
bool is_statistic(std::string_view fact, bool nothing_found) {
  static constexpr std::array<std::string_view, 4> kNames{"cycles by size", "units from", "sets",
                                                          "first cycle closed by event"};
  if (fact == "looked at") return !nothing_found;
  return std::find(kNames.begin(), kNames.end(), fact) != kNames.end();
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
      if (options_.stats) render_stages();
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

  std::string nearer(std::string text) const { return report::nearer(std::move(text), options_.directory); }

  void sentence(std::string_view text) { out_ += wrap(printable(text), 2, width_); }

  // The same parts in the same order for every kind; a part that a finding lacks is left out.
  void render_finding(const Finding& finding) {
    out_ += headline_block(finding);
    if (std::string text = consequence(finding); !text.empty()) labelled("consequence", text);
    const std::vector<Step> steps = steps_of(finding);
    if (!steps.empty()) {
      timeline(steps);
      sources(steps);
    }
    if (options_.theory && !finding.edges.empty()) cycle(finding);
    if (finding.edges.empty()) units(finding);
    views(finding);
    path(finding);
    if (finding.failure) failure_text(*finding.failure);
    labelled("why", why(finding));
    labelled("unit", cause(finding));
    labelled("rule", fmt::format("{}; cleave explain {}", rule_name(finding), rule_word(finding)));
    if (std::string command = replay_command(finding); !command.empty()) label("replay", command);
    if (std::string command = explain_command(finding); !command.empty()) label("what it needs", command);
    for (const std::string& step : next_steps(finding)) labelled("next", step);
    if (!finding.note.empty()) labelled("note", finding.note);
    hints(finding);
  }

  // What happened, then how sure that is. -v has it in the words of the theory too.
  std::string headline_block(const Finding& finding) {
    const std::string verdict(word_of(finding.verdict));
    std::string text = wrap(printable(title(finding)), 2, width_, " ");
    text.erase(0, 1);
    if (paint_.colour) text = paint_(text.substr(0, text.size() - 1), Style::Bold) + "\n";
    text += fmt::format("  {}  {}\n", paint_(verdict, style_of(finding.verdict)),
                        paint_(printable(finding.id), Style::Dim));
    std::string meaning = verdict_sentence(finding);
    if (std::string times = how_often(finding); !times.empty()) meaning += " " + times;
    text += wrap(printable(meaning), 2, width_);
    if (options_.theory) text += wrap(printable(headline(finding)), 2, width_);
    return text;
  }

  void label(std::string_view name, const std::string& text) {
    line(fmt::format("  {} {}", paint_(fmt::format("{}:", name), Style::Dim),
                     paint_(printable(nearer(text)), Style::Bold)));
  }
  void labelled(std::string_view name, const std::string& text) {
    if (!text.empty()) out_ += wrap(printable(nearer(text)), 4, width_, fmt::format("  {}: ", name));
  }

  void hints(const Finding& finding) {
    for (const std::string& hint : finding.hints) {
      labelled("hint", hint.substr(0, hint.find('\n')));
      for (size_t at = hint.find('\n'); at != std::string::npos;) {
        const size_t end = hint.find('\n', at + 1);
        line("    " + printable(hint.substr(at + 1, end == std::string::npos ? end : end - at - 1)));
        at = end;
      }
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
  void timeline(const std::vector<Step>& steps) {
    const std::vector<std::string> threads = threads_of(steps);
    const size_t column = std::max<size_t>(10, (width_ - 5) / threads.size() - 2);
    std::string header = "     ";
    for (const std::string& thread : threads) header += pad(fit(printable(thread), column), column + 2);
    header.erase(header.find_last_not_of(' ') + 1);
    line(paint_(header, Style::Dim));
    size_t number = 0;
    for (const Step& step : steps) {
      std::string row;
      for (const std::string& thread : threads) {
        const bool here = thread == step.access->thread;
        const std::string cell = here ? fit(printable(operation(*step.access, step.variable)), column) : "|";
        row += here ? paint_(cell, step.of_unit ? Style::Plain : Style::Yellow) : paint_(cell, Style::Dim);
        row += std::string(column + 2 - width_of(cell), ' ');
      }
      row.erase(row.find_last_not_of(' ') + 1);
      line(fmt::format("  {}  {}", ++number, row));
    }
  }

  // The lines of the unit's own function first: between them the other thread came.
  void sources(const std::vector<Step>& steps) {
    for (const bool of_unit : {true, false}) {
      for (size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].of_unit == of_unit) source_of(i + 1, steps[i]);
      }
    }
  }

  void source_of(size_t number, const Step& step) {
    const AccessReport& access = *step.access;
    AccessReport own{.function = step.own.function, .file = step.own.file, .line = step.own.line};
    std::string text = fmt::format("  {}  {}  {}", number, printable(access.thread),
                                   paint_(printable(nearer(place(own))), Style::Bold));
    if (!own.function.empty()) text += "  in " + printable(own.function);
    const std::string holding =
        access.locks.empty() ? "" : printable(fmt::format("  holding {}", fmt::join(access.locks, ", ")));
    if (step.callee.empty()) text += holding;
    line(text);
    source_line(own, step.callee.empty() ? step.variable : step.callee);
    if (!step.callee.empty()) {
      line(fmt::format("     {} {}  {}  in {}{}", printable(access.op), printable(step.variable),
                       printable(nearer(place(access))), printable(access.function), holding));
      source_line(access, step.variable);
    }
    if (std::string library = inside(access); !library.empty()) line("     inside " + printable(library));
    callers(access, options_.theory ? kCallers : step.callee.empty() ? 1 : 0);
  }

  // The line, and below it a caret under what it is about.
  void source_line(const AccessReport& at, const std::string& name) {
    if (!options_.source || at.file.empty() || at.line == 0) return;
    const std::optional<std::string> source = options_.source(at.file, at.line);
    if (!source) return;
    std::string code = printable(*source);
    code.erase(0, std::min(code.find_first_not_of(' '), code.size()));
    const std::string number = fmt::format("{:>9} | ", at.line);
    line(paint_(fit(number + code, width_), Style::Dim));
    const auto [begin, length] = marked(code, name);
    if (length == 0 || number.size() + begin + length > width_) return;
    line(std::string(number.size() - 2, ' ') + "| " + std::string(width_of(code.substr(0, begin)), ' ') +
         paint_("^" + std::string(width_of(code.substr(begin, length)) - 1, '~'), Style::Green));
  }

  // Where the code has the last part of the name as a word; otherwise all of the code.
  static std::pair<size_t, size_t> marked(const std::string& code, const std::string& name) {
    auto in_word = [](char c) {
      return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    size_t end = name.size();
    while (end > 0 && !in_word(name[end - 1])) --end;
    if (const size_t bracket = name.find('['); bracket != std::string::npos) end = std::min(end, bracket);
    size_t begin = end;
    while (begin > 0 && in_word(name[begin - 1])) --begin;
    const std::string word = name.substr(begin, end - begin);
    for (size_t at = word.empty() ? std::string::npos : code.find(word); at != std::string::npos;
         at = code.find(word, at + 1)) {
      const bool whole = (at == 0 || !in_word(code[at - 1])) &&
                         (at + word.size() == code.size() || !in_word(code[at + word.size()]));
      if (whole) return {at, word.size()};
    }
    return {0, code.size()};
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

  // What a reader has to know to trust the result; how it was reached is for --stats.
  void render_facts() {
    bool any = false;
    for (const auto& [name, fact] : findings_.facts) {
      if (!options_.stats && is_statistic(name, findings_.findings.empty())) continue;
      any = true;
      out_ += wrap(printable(fmt::format("{}: {}", name, fact)), 2, width_, " ");
    }
    if (any) out_ += '\n';
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
