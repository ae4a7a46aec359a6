#include "hunt/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace cleave::hunt {
namespace {

constexpr unsigned kRenewals = 2;
constexpr size_t kTargets = 2000;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

struct Places {
  std::set<std::pair<std::string, uint32_t>> lines;
  std::set<std::string> functions;
};

Places places_of(const Finding& finding) {
  Places places;
  auto add = [&](const AccessReport& access) {
    if (access.line != 0) places.lines.emplace(base_name(access.file), access.line);
    if (!access.function.empty()) places.functions.insert(access.function);
  };
  for (const AccessReport& access : finding.accesses) add(access);
  for (const AccessReport& access : finding.path) add(access);
  for (const EdgeReport& edge : finding.edges) {
    add(edge.first);
    add(edge.second);
  }
  for (const UnitReport& unit : finding.units) places.functions.insert(unit.name);
  if (!finding.unit.empty()) places.functions.insert(finding.unit);
  return places;
}

template <typename Value>
size_t common(const std::set<Value>& a, const std::set<Value>& b) {
  return static_cast<size_t>(
      std::count_if(a.begin(), a.end(), [&](const Value& value) { return b.contains(value); }));
}

// Synchronization rules it out, whatever the data.
bool possible(const prediction::Candidate& candidate) {
  return candidate.reached == prediction::Reached::Locks;
}

}  // namespace

bool alike(const Finding& a, const Finding& b) {
  const Places left = places_of(a), right = places_of(b);
  if (common(left.lines, right.lines) >= 2) return true;
  return !a.variable.empty() && a.variable == b.variable && common(left.functions, right.functions) != 0;
}

bool Targets::is_wanted(const Finding& finding) const {
  return std::any_of(wanted_.begin(), wanted_.end(),
                     [&](const Finding& each) { return alike(each, finding); });
}

size_t Targets::add(const std::shared_ptr<const Lesson>& lesson) {
  size_t fresh = 0;
  for (size_t c = 0; c < lesson->keys.size(); ++c) {
    if (!possible(lesson->prediction.candidates[c])) continue;
    auto found = targets_.find(lesson->keys[c]);
    if (found == targets_.end()) {
      if (targets_.size() == kTargets) continue;
      Target target;
      target.lesson = lesson;
      target.candidate = c;
      if (auto known = known_.find(lesson->keys[c]); known != known_.end()) {
        target.state = known->second;
        target.attempt = target.state.attempts;
      }
      target.wanted = is_wanted(lesson->findings[c]);
      targets_.emplace(lesson->keys[c], std::move(target));
      ++fresh;
      continue;
    }
    Target& target = found->second;
    if (target.busy || target.attempt < 3 || target.renewed == kRenewals ||
        target.verdict > Verdict::Candidate)
      continue;
    target.lesson = lesson;
    target.candidate = c;
    target.attempt = 0;
    target.state.done = false;
    ++target.renewed;
  }
  return fresh;
}

Target* Targets::next() {
  Target* best = nullptr;
  auto rank = [](const Target& target) {
    const prediction::Candidate& candidate = target.what();
    return std::tuple(!target.wanted, target.verdict >= Verdict::Witnessed, target.state.attempts,
                      candidate.refuted(), -static_cast<int>(candidate.verdict()),
                      candidate.pattern == Pattern::WWW, candidate.triple());
  };
  for (auto& [key, target] : targets_) {
    if (target.busy || target.state.done || target.verdict == Verdict::Confirmed) continue;
    if (best == nullptr || rank(target) < rank(*best)) best = &target;
  }
  if (best != nullptr) best->busy = true;
  return best;
}

std::vector<std::string> Targets::wanted_missed() const {
  std::vector<std::string> sentences;
  for (const Finding& wanted : wanted_) {
    const Target* like = nullptr;
    bool shown = false;
    for (const auto& [key, target] : targets_) {
      if (!target.wanted || !alike(wanted, target.finding())) continue;
      like = &target;
      shown = shown || target.verdict == Verdict::Confirmed;
    }
    if (shown) continue;
    const std::string name = fmt::format("{} {}", wanted.id, wanted.variable);
    if (like == nullptr)
      sentences.push_back(fmt::format("{}: no execution came to its accesses", name));
    else
      sentences.push_back(fmt::format(
          "{}: {}", name, like->state.note.empty() ? "not proved by any execution" : like->state.note));
  }
  return sentences;
}

std::map<std::string, TargetState> Targets::state() const {
  std::map<std::string, TargetState> state = known_;
  for (const auto& [key, target] : targets_) state[key] = target.state;
  return state;
}

}  // namespace cleave::hunt
