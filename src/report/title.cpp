#include "report/title.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/steps.h"

namespace cleave::report {
namespace {

std::string named(const std::string& text, const char* otherwise) { return text.empty() ? otherwise : text; }

std::string triple_title(const Finding& finding) {
  const std::string unit = named(finding.unit, "a unit"), variable = named(finding.variable, "a location");
  const bool decides = finding.cause.rule == "decide-then-act";
  switch (finding.pattern) {
    case Pattern::RWR:
      return fmt::format("{} reads {} twice; another thread changes it in between", unit, variable);
    case Pattern::RWW:
      return fmt::format("{} {} {}, then changes it; another thread changes it in between", unit,
                         decides ? "decides on" : "reads", variable);
    case Pattern::WWR:
      return fmt::format("{} writes {} and reads it back; another thread changes it in between", unit,
                         variable);
    case Pattern::WRW:
      return fmt::format("{} writes {} twice; another thread reads the value in between", unit, variable);
    default:
      return fmt::format("{} accesses {} twice; another thread changes it in between", unit, variable);
  }
}

std::string verb_of(const AccessReport& access) {
  if (access.op == "read") return "reads";
  if (access.op == "write") return "writes";
  return access.op == "update" ? "updates" : "frees";
}

std::string cycle_title(const Finding& finding) {
  const std::vector<Step> steps = steps_of(finding);
  const std::string unit = named(finding.unit, "a unit");
  if (steps.size() < 2) return fmt::format("{} is split by other units", unit);
  const Step &first = steps.front(), &last = steps.back();
  const std::string after = first.variable == last.variable ? "it" : named(last.variable, "a location");
  const bool again = after == "it" && first.access->op == last.access->op;
  const std::string other = finding.split < finding.units.size() && finding.units.size() == 2
                                ? finding.units[1 - finding.split].name + " of another thread comes"
                                : "other threads come";
  return fmt::format("{} {} {}, then {} {}{}; {} in between", unit, verb_of(*first.access),
                     named(first.variable, "a location"), verb_of(*last.access), after, again ? " again" : "",
                     other);
}

std::string failure_title(const FailureReport& failure) {
  std::string text = "the program ";
  switch (failure.end) {
    case FailureEnd::Exit:
      text += fmt::format("ended with exit status {}", failure.number);
      break;
    case FailureEnd::Signal:
      text += fmt::format("was killed by signal {}", failure.number);
      break;
    case FailureEnd::Deadlock:
      text += "ended in a deadlock";
      break;
    case FailureEnd::Livelock:
      text += "ended in a livelock";
      break;
    case FailureEnd::TimeLimit:
      text += "did not end within its time limit";
      break;
  }
  return failure.runs > 1 ? text + fmt::format(" in {} of {} runs", failure.failed, failure.runs) : text;
}

}  // namespace

std::string title(const Finding& finding) {
  switch (finding.kind) {
    case FindingKind::Triple:
      return triple_title(finding);
    case FindingKind::Cycle:
      return cycle_title(finding);
    case FindingKind::HighLevelRace:
      return fmt::format(
          "{} is used as a whole in one place and piece by piece in another",
          named(finding.variable.empty() ? finding.set : finding.variable, "a set of variables"));
    case FindingKind::StaleValue:
      return fmt::format("{} uses a value of {} that may be out of date", named(finding.unit, "a function"),
                         named(finding.variable, "a location"));
    case FindingKind::Failure:
      return finding.failure ? failure_title(*finding.failure) : "the program failed";
  }
  return {};
}

std::string rule_word(const Finding& finding) {
  if (finding.kind == FindingKind::Triple && finding.pattern != Pattern::None)
    return std::string(word_of(finding.pattern));
  return std::string(word_of(finding.kind));
}

std::string rule_name(const Finding& finding) {
  switch (finding.kind) {
    case FindingKind::Cycle:
      return "units that no serial order explains";
    case FindingKind::HighLevelRace:
      return "high-level data race";
    case FindingKind::StaleValue:
      return "stale value";
    case FindingKind::Failure:
      return "failing run";
    case FindingKind::Triple:
      break;
  }
  switch (finding.pattern) {
    case Pattern::RWR:
      return "unrepeatable read";
    case Pattern::RWW:
      return "lost update";
    case Pattern::WWR:
      return "overwritten before it was read back";
    case Pattern::WRW:
      return "intermediate value seen by another thread";
    default:
      return "interleaved writes";
  }
}

std::string consequence(const Finding&) { return {}; }

std::vector<std::string> next_steps(const Finding& finding) {
  std::vector<std::string> steps;
  if (finding.failure) return steps;
  const std::vector<Step> list = steps_of(finding);
  const Step *first = nullptr, *last = nullptr;
  for (const Step& step : list) {
    if (!step.of_unit) continue;
    if (first == nullptr) first = &step;
    last = &step;
  }
  if (first == nullptr || first == last || first->own.line == 0 || last->own.line == 0) return steps;
  const std::string function = named(first->own.function, "the unit"),
                    variable = named(first->variable, "it");
  if (first->own.function != last->own.function || first->own.file != last->own.file)
    steps.push_back(
        fmt::format("Hold one lock over both accesses, here and wherever {} is changed.", variable));
  else if (first->own.line == last->own.line)
    steps.push_back(
        fmt::format("Make line {} of {} one step: hold one lock for all of it, or use one atomic operation.",
                    first->own.line, function));
  else
    steps.push_back(fmt::format("Hold one lock from line {} to line {} of {}, and wherever {} is changed.",
                                std::min(first->own.line, last->own.line),
                                std::max(first->own.line, last->own.line), function, variable));
  return steps;
}

std::string nearer(std::string text, const std::string& directory) {
  const std::string prefix = directory + "/";
  if (prefix.size() < 2) return text;
  for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
    if (at == 0 || text[at - 1] == ' ')
      text.erase(at, prefix.size());
    else
      ++at;
  }
  return text;
}

}  // namespace cleave::report
