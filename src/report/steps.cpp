#include "report/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace cleave::report {
namespace {

bool same_access(const AccessReport& a, const AccessReport& b) {
  return a.thread == b.thread && a.op == b.op && a.variable == b.variable && a.value == b.value &&
         a.stack == b.stack && a.function == b.function && a.file == b.file && a.line == b.line;
}

SourcePlace place_of_access(const AccessReport& access) {
  SourcePlace place{access.function, access.file, access.line};
  if (place.line != 0) return place;
  // The compiler gave this access no line: the nearest caller in the same file that has one stands for it.
  for (const std::string& frame : access.stack) {
    SourcePlace caller = place_of_frame(frame);
    if (caller.line != 0 && caller.file == access.file) return caller;
  }
  return place;
}

// The name of a function without its arguments and with at most its class: what a call in the source shows.
std::string called_name(const std::string& function) {
  std::string name;
  int depth = 0;
  for (char c : function) {
    if (c == '<') ++depth;
    if (depth == 0) name += c;
    if (c == '>' && depth > 0) --depth;
  }
  if (size_t arguments = name.find('('); arguments != std::string::npos && arguments > 0)
    name.resize(arguments);
  size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

bool is_named(const std::string& function, const std::string& unit) {
  return !unit.empty() && (function == unit || function.starts_with(unit + "("));
}

// The innermost frame of that function, and what it calls; false if it is not on the stack.
bool find_own(const AccessReport& access, const std::string& unit, Step& step) {
  if (is_named(access.function, unit)) return true;
  std::string callee = access.function;
  for (const std::string& frame : access.stack) {
    SourcePlace place = place_of_frame(frame);
    if (is_named(place.function, unit) && place.line != 0) {
      step.own = std::move(place);
      step.callee = called_name(callee);
      return true;
    }
    callee = place.function;
  }
  return false;
}

// Units that are not functions (a critical section, say) have no frame of their own: the innermost function
// that is on the way to both accesses, at different lines, is where the unit was cut.
std::string common_function(const AccessReport& first, const AccessReport& second) {
  size_t a = first.stack.size(), b = second.stack.size();
  std::string common;
  while (a > 0 && b > 0) {
    const std::string &x = first.stack[--a], &y = second.stack[--b];
    const SourcePlace left = place_of_frame(x), right = place_of_frame(y);
    if (left.function != right.function) break;
    common = left.function;
    if (x != y) break;
  }
  return common;
}

void find_own_places(const Finding& finding, std::vector<Step>& steps) {
  Step *first = nullptr, *last = nullptr;
  for (Step& step : steps) {
    step.own = place_of_access(*step.access);
    if (!step.of_unit) continue;
    if (first == nullptr) first = &step;
    last = &step;
  }
  if (first == nullptr || first == last) return;
  const bool found = find_own(*first->access, finding.unit, *first);
  if (find_own(*last->access, finding.unit, *last) && found) return;
  const std::string common = common_function(*first->access, *last->access);
  find_own(*first->access, common, *first);
  find_own(*last->access, common, *last);
}

}  // namespace

SourcePlace place_of_frame(std::string_view frame) {
  size_t blank = frame.rfind(" /");
  if (blank == frame.npos || frame.find_first_of(">)", blank) != frame.npos)
    blank = std::min(frame.rfind(' '), frame.size());
  SourcePlace place{.function = std::string(frame.substr(0, blank))};
  std::string_view file = frame.substr(std::min(frame.size(), blank + 1));
  const size_t colon = file.rfind(':');
  if (colon == file.npos) {
    place.file = file;
    return place;
  }
  const char* end = file.data() + file.size();
  const auto read = std::from_chars(file.data() + colon + 1, end, place.line);
  if (read.ptr != end || read.ec != std::errc()) place.line = 0;
  place.file = file.substr(0, colon);
  return place;
}

std::vector<Step> steps_of(const Finding& finding) {
  std::vector<Step> steps;
  for (const AccessReport& access : finding.accesses) {
    steps.push_back({.access = &access,
                     .variable = access.variable.empty() ? finding.variable : access.variable,
                     .of_unit = access.role != Role::Remote});
  }
  const size_t n = finding.edges.size(), split = finding.split < n ? finding.split : 0;
  for (size_t i = 0; i < n; ++i) {
    const EdgeReport& edge = finding.edges[(split + i) % n];
    auto add = [&](const AccessReport& access, bool of_unit) {
      if (access.op.empty()) return;
      if (!steps.empty() && same_access(*steps.back().access, access)) return;
      steps.push_back({.access = &access,
                       .variable = access.variable.empty() ? edge.variable : access.variable,
                       .of_unit = of_unit});
    };
    add(edge.first, i == 0);
    add(edge.second, i + 1 == n);
  }
  find_own_places(finding, steps);
  return steps;
}

std::vector<std::string> threads_of(const std::vector<Step>& steps) {
  std::vector<std::string> threads;
  for (const Step& step : steps) {
    if (std::find(threads.begin(), threads.end(), step.access->thread) == threads.end())
      threads.push_back(step.access->thread);
  }
  return threads;
}

}  // namespace cleave::report
