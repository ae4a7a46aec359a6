#include "report/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "findings/place.h"
#include "report/value.h"
#include "trace/core/library.h"

namespace cleave::report {
namespace {

std::string or_else(const std::string& text, const char* otherwise) {
  return text.empty() ? otherwise : text;
}

// Which frame of the stack is the place of the access. A frame reads "function file:line".
size_t own_frame(const AccessReport& access) {
  const std::string own = fmt::format("{} {}:{}", access.function, access.file, access.line);
  const auto at = std::find(access.stack.begin(), access.stack.end(), own);
  return at == access.stack.end() ? 0 : static_cast<size_t>(at - access.stack.begin());
}

// Where the function of a frame ends and its file begins. Both may have blanks in them: "operator new", "/my
// code/a.cpp", "run<(lambda at /src/a.cpp:3:7)>".
size_t blank_before_file(std::string_view frame) {
  size_t blank = frame.rfind(" /");
  if (blank != frame.npos && frame.find_first_of(">)", blank) == frame.npos) return blank;
  return std::min(frame.rfind(' '), frame.size());
}
std::string_view function_of(std::string_view frame) { return frame.substr(0, blank_before_file(frame)); }
std::string_view file_of(std::string_view frame) {
  return frame.substr(std::min(frame.size(), blank_before_file(frame) + 1));
}

// "ended with exit status 1"
std::string failure_sentence(const FailureReport& failure) {
  switch (failure.end) {
    case FailureEnd::Exit:
      return fmt::format("ended with exit status {}", failure.number);
    case FailureEnd::Signal:
      return fmt::format("was killed by {}", failure_end(failure));
    case FailureEnd::Deadlock:
      return "ended in a deadlock";
    case FailureEnd::Livelock:
      return "ended in a livelock";
    case FailureEnd::TimeLimit:
      return "did not end within its time limit";
  }
  return {};
}

std::string value(const AccessReport& access) {
  return access.value.empty() ? "a value" : value_for_people(access);
}

std::string why_triple(const Finding& finding) {
  const AccessReport &first = finding.accesses[0], &remote = finding.accesses[1],
                     &second = finding.accesses[2];
  const std::string unit = or_else(finding.unit, "the unit"),
                    variable = or_else(finding.variable, "the location");
  switch (finding.pattern) {
    case Pattern::RWR:
      return fmt::format(
          "{} reads {} twice and {} writes it in between ({}, then {}): run without interruption, {} would "
          "read the "
          "same value twice.",
          unit, variable, remote.thread, value(first), value(second), unit);
    case Pattern::RWW:
      return fmt::format(
          "{} writes {} on the strength of the {} it had read, but {} has written {} in the meantime: that "
          "write is "
          "lost, which neither order of the two gives.",
          unit, value(second), value(first), remote.thread, value(remote));
    case Pattern::WWR:
      return fmt::format(
          "{} writes {} to {} and reads it back after {} has overwritten it: run without interruption, {} "
          "would "
          "read its own write.",
          unit, value(first), variable, remote.thread, unit);
    case Pattern::WRW:
      return fmt::format(
          "{} reads {}, which {} writes only on the way to {}: before {} or after it, nobody can see that "
          "value.",
          remote.thread, value(remote), unit, value(second), unit);
    default:
      return fmt::format(
          "{} writes {} between two writes of {}: the three writes conflict both ways round, so no serial "
          "order has "
          "them in this order.",
          remote.thread, variable, unit);
  }
}

std::string seeds_text(const std::vector<uint64_t>& seeds) {
  constexpr size_t kNamed = 12;
  std::string text;
  for (size_t i = 0; i < std::min(seeds.size(), kNamed); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", seeds[i]);
  return seeds.size() > kNamed ? text + fmt::format(" and {} more", seeds.size() - kNamed) : text;
}

std::string why_failure(const FailureReport& failure) {
  std::string text = "The program " + failure_sentence(failure);
  const bool directed = failure.first.empty();  // those of predict: plans lead them to a violation
  if (failure.runs > 1)
    text += fmt::format(" in {} of {} {}runs", failure.failed, failure.runs, directed ? "directed " : "");
  if (!failure.first.empty())
    text += fmt::format("{} {}", failure.failed > 1 ? ", first in" : ", in", failure.first);
  text += ".";
  if (failure.seeds.size() > 1) text += fmt::format(" Seeds: {}.", seeds_text(failure.seeds));
  return text;
}

// A triple that was predicted, not run: the recorded values belong to another order and would mislead.
std::string why_predicted(const Finding& finding) {
  const std::string unit = or_else(finding.unit, "the unit"), remote = finding.accesses[1].thread;
  switch (finding.pattern) {
    case Pattern::RWR:
      return fmt::format(
          "If {}'s write falls between the two reads, {} sees what was there before it and what it leaves: "
          "run without "
          "interruption, it sees the same value twice.",
          remote, unit);
    case Pattern::RWW:
      return fmt::format(
          "If {}'s write falls between the read and the write of {}, it is overwritten by what was computed "
          "without "
          "it: a lost update, which neither order of the two gives.",
          remote, unit);
    case Pattern::WWR:
      return fmt::format(
          "If {}'s write falls between the write and the read of {}, {} reads back what it has not written.",
          remote, unit, unit);
    case Pattern::WRW:
      return fmt::format(
          "If {}'s read falls between the two writes of {}, it sees a value that {} has only on the way to "
          "another.",
          remote, unit, unit);
    default:
      return fmt::format(
          "If {}'s write falls between the two writes of {}, the three are in an order that no serial order "
          "has.",
          remote, unit);
  }
}

}  // namespace

std::string failure_end(const FailureReport& failure) {
  if (failure.end == FailureEnd::Exit) return fmt::format("exit status {}", failure.number);
  if (failure.end == FailureEnd::Signal)
    return fmt::format("signal {} ({})", failure.number, strsignal(failure.number));
  return failure.end == FailureEnd::TimeLimit ? "time limit" : std::string(word_of(failure.end));
}

std::string headline(const Finding& finding) {
  std::string line(word_of(finding.verdict));
  switch (finding.kind) {
    case FindingKind::Triple:
      line += fmt::format(" {}", finding.pattern == Pattern::None ? "triple" : word_of(finding.pattern));
      break;
    case FindingKind::Cycle:
      line += fmt::format(" cycle of {} units", finding.units.size());
      break;
    case FindingKind::HighLevelRace:
      line += " high-level data race";
      break;
    case FindingKind::StaleValue:
      line += " stale value";
      break;
    case FindingKind::Failure:
      line += " failure";
      if (finding.failure) line += fmt::format(": {}", failure_end(*finding.failure));
      if (finding.failure && finding.failure->runs > 1)
        line += fmt::format(" in {} of {} runs", finding.failure->failed, finding.failure->runs);
      break;
  }
  if (!finding.variable.empty()) line += " on " + finding.variable;
  if (!finding.unit.empty()) line += " in " + finding.unit;
  if (!finding.set.empty() && finding.set != finding.variable) line += fmt::format(" (set {})", finding.set);
  return line;
}

std::string operation(const AccessReport& access, const std::string& variable) {
  std::string text = access.op;
  const std::string& name = access.variable.empty() ? variable : access.variable;
  if (!name.empty()) text += " " + name;
  if (!access.value.empty()) text += " = " + value_for_people(access);
  return text;
}

std::string cause(const Finding& finding) {
  const CauseReport& cause = finding.cause;
  if (cause.rule.empty()) return {};
  const bool same = cause.first.variable == cause.second.variable;
  const std::string first = fmt::format("`{}` (line {})", cause.first.variable, cause.first.line);
  const std::string second =
      fmt::format("{} (line {})", same ? "it" : "`" + cause.second.variable + "`", cause.second.line);
  const char* acted = cause.second.op == "read" ? "used" : "changed";
  if (cause.rule == "read-read")
    return fmt::format("`{}` read {}, then {}{}, and combined the values.", finding.unit, first, second,
                       same ? " again" : "");
  if (cause.rule == "write-write")
    return fmt::format("`{}` wrote {}, then {}, which others read together.", finding.unit, first, second);
  if (cause.rule == "write-read")
    return fmt::format("`{}` put a value into {}, then took {} from there.", finding.unit, first, second);
  return fmt::format("`{}` {} {}, then {} {}.", finding.unit,
                     cause.by_data && cause.second.op != "read" ? "computed with" : "decided on", first,
                     acted, second);
}

namespace {

std::string thread_and(const AccessReport& access, const char* verb) {
  return fmt::format("{} {}", or_else(access.thread, "a thread"), verb);
}

// What a free among the accesses makes of the violation; empty if there is none.
std::string what_is_freed(const AccessReport& free, const AccessReport& later, const std::string& variable) {
  if (free.op != kFreeOperation) return {};
  const std::string name = or_else(later.variable.empty() ? variable : later.variable, "the memory");
  if (later.op == kFreeOperation)
    return fmt::format("Double free: {}, which {} already, of {}. ", thread_and(later, "frees what"),
                       thread_and(free, "has freed"), name);
  return fmt::format("Use after free: {} {} after {} the memory it lies in. ",
                     thread_and(later, later.op == "read" ? "reads" : "writes"), name,
                     thread_and(free, "has freed"));
}

std::string what_is_freed(const Finding& finding) {
  if (finding.kind == FindingKind::Triple && finding.accesses.size() == 3)
    return what_is_freed(finding.accesses[1], finding.accesses[2], finding.variable);
  for (const EdgeReport& edge : finding.edges) {
    std::string text = what_is_freed(edge.first, edge.second, edge.variable);
    if (!text.empty()) return text;
  }
  return {};
}

std::string why_unserializable(const Finding& finding) {
  if (!finding.why.empty()) return finding.why;
  switch (finding.kind) {
    case FindingKind::Triple:
      if (finding.accesses.size() != 3) return {};
      return finding.verdict >= Verdict::Witnessed ? why_triple(finding) : why_predicted(finding);
    case FindingKind::Cycle:
      return "Each of these units has to come before the next, and the last before the first: no serial "
             "order has "
             "them all.";
    case FindingKind::HighLevelRace:
      return "One place takes these locations together, the other one after the other: between the two steps "
             "the "
             "first can change both.";
    case FindingKind::StaleValue:
      return "A value read in one critical section is used in a later one, where it may no longer hold.";
    case FindingKind::Failure:
      return finding.failure ? why_failure(*finding.failure) : std::string();
  }
  return {};
}

}  // namespace

std::string why(const Finding& finding) { return what_is_freed(finding) + why_unserializable(finding); }

std::string verdict_sentence(const Finding& finding) {
  if (finding.failure) {
    const FailureReport& failure = *finding.failure;
    const bool always = failure.runs > 1 && failure.failed == failure.runs && !failure.first.empty();
    return always ? "It failed in every run, so it may not depend on the schedule."
                  : "The program really failed; this finding does not name the units that caused it.";
  }
  switch (finding.verdict) {
    case Verdict::Infeasible:
      if (auto replayed = finding.stages.find("replay");
          replayed != finding.stages.end() && replayed->second == "atomic")
        return "An execution really did this, and a serial order explains it: it is no violation.";
      return "No execution does this.";
    case Verdict::Candidate:
      return "Nothing cheap rules it out; it has not been seen to happen.";
    case Verdict::Feasible:
      return "A model of the run says that an execution exists; it has not been run.";
    case Verdict::Witnessed:
      return finding.kind == FindingKind::Cycle
                 ? "The run did this. Values are not judged: a serial order may still have given the same "
                   "ones."
                 : "An execution really did this; whether it is non-atomic is not decided.";
    case Verdict::Confirmed:
      return finding.proof.empty()
                 ? "An execution really did this, and it is proved non-atomic."
                 : fmt::format("An execution really did this, and it is proved non-atomic ({}).",
                               finding.proof);
  }
  return {};
}

std::string how_often(const Finding& finding) {
  if (finding.occurrences < 2 || finding.failure) return {};
  return finding.kind == FindingKind::Cycle
             ? fmt::format("These units were in such a cycle {} times.", finding.occurrences)
             : fmt::format("Found {} times at these places.", finding.occurrences);
}

namespace {

std::string with_witness(std::string_view command, const Finding& finding) {
  if (finding.witness.empty()) return {};
  const bool plain =
      finding.witness.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+:@%") == std::string::npos;
  if (plain) return fmt::format("{} {}", command, finding.witness);
  std::string quoted = "'";
  for (char c : finding.witness) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return fmt::format("{} {}'", command, quoted);
}

}  // namespace

std::string replay_command(const Finding& finding) { return with_witness("cleave replay", finding); }

std::string explain_command(const Finding& finding) {
  return finding.failure ? with_witness("cleave explain", finding) : std::string();
}

std::string unit_label(const UnitReport& unit) {
  if (unit.thread.empty()) return or_else(unit.name, "unit");
  return unit.name.empty() ? unit.thread : unit.thread + " " + unit.name;
}

std::string place(const AccessReport& access) {
  if (access.file.empty()) return {};
  return access.line == 0 ? access.file : fmt::format("{}:{}", access.file, access.line);
}

std::vector<std::string> callers_of(const AccessReport& access) {
  std::vector<std::string> callers;
  for (size_t frame = own_frame(access) + 1; frame < access.stack.size(); ++frame) {
    const std::string& text = access.stack[frame];
    if (!is_library_type(text) && !is_system_file(file_of(text))) callers.push_back(text);
  }
  return callers;
}

std::string inside(const AccessReport& access) {
  if (own_frame(access) == 0) return {};
  const std::string& frame = access.stack.front();
  std::string name;
  int depth = 0;  // template arguments are left out
  for (char c : function_of(frame)) {
    if (c == '<') ++depth;
    if (depth == 0) name += c;
    if (c == '>' && depth > 0) --depth;
  }
  return name.starts_with("std::__atomic_base") || name.starts_with("std::atomic") ? std::string() : name;
}

}  // namespace cleave::report
