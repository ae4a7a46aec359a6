#include "report/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/value.h"
#include "trace/library.h"

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

std::string why(const Finding& finding) {
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
  }
  return {};
}

std::string verdict_sentence(const Finding& finding) {
  switch (finding.verdict) {
    case Verdict::Infeasible:
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
  if (finding.occurrences < 2) return {};
  return finding.kind == FindingKind::Cycle
             ? fmt::format("These units were in such a cycle {} times.", finding.occurrences)
             : fmt::format("Found {} times at these places.", finding.occurrences);
}

std::string replay_command(const Finding& finding) {
  if (finding.witness.empty()) return {};
  const bool plain =
      finding.witness.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+:@%") == std::string::npos;
  if (plain) return "cleave replay " + finding.witness;
  std::string quoted = "'";
  for (char c : finding.witness) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return "cleave replay " + quoted + "'";
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
