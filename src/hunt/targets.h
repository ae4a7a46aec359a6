// The candidates of a hunt, and which of them is tried next.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hunt/lesson.h"
#include "hunt/state.h"

namespace cleave::hunt {

struct Target {
  std::shared_ptr<const Lesson> lesson;  // of the trace that plans are made from
  size_t candidate = 0;                  // in that lesson
  TargetState state;
  unsigned attempt = 0;  // the next plan from this lesson
  unsigned renewed = 0;  // how often a later run gave it another trace to plan from
  bool relax = false;    // the last plan could not be followed: its constraints are next
  bool busy = false;     // being tried now
  bool wanted = false;
  Verdict verdict = Verdict::Candidate;

  const prediction::Candidate& what() const { return lesson->prediction.candidates[candidate]; }
  const Finding& finding() const { return lesson->findings[candidate]; }
};

class Targets {
 public:
  static constexpr unsigned kAttempts = 10;

  // `known`: what an earlier hunt did about them.
  Targets(std::vector<Finding> wanted, std::map<std::string, TargetState> known)
      : wanted_(std::move(wanted)), known_(std::move(known)) {}

  // Takes the candidates of a run that no run had before; how many. One that was tried in vain gets the new
  // run to plan from: it came closer.
  size_t add(const std::shared_ptr<const Lesson>& lesson);
  // The most promising one that is not done, null if there is none. It is busy from now on.
  Target* next();
  std::map<std::string, Target>& all() { return targets_; }
  const std::map<std::string, Target>& all() const { return targets_; }

  // Which of the wanted findings are like no target, or like none that was shown; sentences.
  std::vector<std::string> wanted_missed() const;
  std::map<std::string, TargetState> state() const;

 private:
  bool is_wanted(const Finding& finding) const;

  std::vector<Finding> wanted_;
  std::map<std::string, TargetState> known_;
  std::map<std::string, Target> targets_;  // by key
};

// Whether two findings, of whatever engine, speak of the same accesses: the same variable and a function in
// common, or two lines in common.
bool alike(const Finding& a, const Finding& b);

}  // namespace cleave::hunt
