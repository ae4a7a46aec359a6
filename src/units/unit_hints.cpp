#include "units/unit_hints.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "findings/place.h"
#include "trace/core/library.h"
#include "units/alive.h"

namespace cleave {
namespace {

// What one call has done to one variable so far.
struct Touched {
  UnitId last = kNone<UnitId>;  // the last unit; an access without one counts as a unit each time
  uint32_t units = 0;
  bool written = false;
};

struct Call {
  UnitNameId name = kNone<UnitNameId>;
  std::unordered_map<uint32_t, Touched> touched;
};

class Hints {
 public:
  Hints(const Trace& trace, const UnitMap& units)
      : trace_(trace), units_(units), alive_(trace), calls_(trace.threads().size()) {
    find_shared();
  }

  void feed(EventIndex at) {
    const Event& event = trace_.event(at);
    alive_.feed(event);
    std::vector<Call>& calls = calls_[raw(event.thread)];
    if (event.kind == EventKind::Begin) {
      calls.push_back({.name = event.unit(), .touched = {}});
    } else if (event.kind == EventKind::End && !calls.empty()) {
      end(calls);
    } else if (is_access(event.kind) && shared_[raw(event.variable())] && !calls.empty() && !alive_.alone()) {
      touch(calls.back(), event, at);
    }
  }

  std::vector<UnitHint> found() && {
    for (std::vector<Call>& calls : calls_) {
      while (!calls.empty()) end(calls);
    }
    std::vector<UnitHint> result;
    for (auto& [name, hint] : hints_) result.push_back(std::move(hint));
    std::sort(result.begin(), result.end(), [](const UnitHint& a, const UnitHint& b) {
      return std::tie(b.calls, a.function) < std::tie(a.calls, b.function);
    });
    return result;
  }

 private:
  bool in_machinery(const VariableInfo& variable) const {
    ObjectId object = variable.object;
    while (object != kNone<ObjectId> && trace_.object(object).outer != kNone<ObjectId>)
      object = trace_.object(object).outer;
    return is_std_internal(variable.name) ||
           (object != kNone<ObjectId> && is_std_internal(trace_.object(object).type));
  }

  // Touched by two threads, and written. What a thread does while it is the only one, such as main's
  // initialisation, shares nothing with anybody.
  void find_shared() {
    std::vector<ThreadId> first(trace_.variables().size(), kNone<ThreadId>);
    std::vector<bool> both(first.size()), written(first.size());
    Alive alive(trace_);
    for (const Event& event : trace_.events()) {
      alive.feed(event);
      if (!is_access(event.kind) || alive.alone()) continue;
      if (librarys_own(trace_, event) && (event.atomic() || in_machinery(trace_.variable(event.variable()))))
        continue;
      uint32_t variable = raw(event.variable());
      if (first[variable] == kNone<ThreadId>) first[variable] = event.thread;
      if (first[variable] != event.thread) both[variable] = true;
      if (writes(event.kind)) written[variable] = true;
    }
    shared_.resize(first.size());
    for (size_t v = 0; v < first.size(); ++v) shared_[v] = both[v] && written[v];
  }

  void touch(Call& call, const Event& event, EventIndex at) {
    Touched& touched = call.touched[raw(event.variable())];
    UnitId unit = units_.unit_of(at);
    if (unit == kNone<UnitId> || unit != touched.last) ++touched.units;
    touched.last = unit;
    touched.written |= writes(event.kind);
  }

  // A call that is named keeps what it did to itself, so that its callers are not named for the same.
  void end(std::vector<Call>& calls) {
    Call call = std::move(calls.back());
    calls.pop_back();
    const Touched* worst = nullptr;
    uint32_t variable = UINT32_MAX;
    for (const auto& [v, touched] : call.touched) {
      if (touched.units < 2 || !touched.written) continue;
      if (worst && (worst->units > touched.units || (worst->units == touched.units && variable < v)))
        continue;
      worst = &touched;
      variable = v;
    }
    if (worst) return note(call.name, VariableId{variable}, worst->units);
    if (calls.empty()) return;
    for (const auto& [v, touched] : call.touched) {
      Touched& outer = calls.back().touched[v];
      outer.units +=
          touched.units - (outer.units != 0 && outer.last == touched.last && touched.last != kNone<UnitId>);
      outer.last = touched.last;
      outer.written |= touched.written;
    }
  }

  void note(UnitNameId name, VariableId variable, uint32_t units) {
    const std::string& function = trace_.unit_name(name).name;
    UnitHint& hint = hints_[function];
    ++hint.calls;
    if (units <= hint.units) return;
    hint.function = function;
    hint.variable = trace_.variable(variable).name;
    hint.units = units;
  }

  const Trace& trace_;
  const UnitMap& units_;
  Alive alive_;
  std::vector<bool> shared_;
  std::vector<std::vector<Call>> calls_;
  std::map<std::string, UnitHint> hints_;
};

}  // namespace

std::vector<UnitHint> unit_hints(const Trace& trace, const UnitMap& units) {
  Hints hints(trace, units);
  for (size_t i = 0; i < trace.size(); ++i) hints.feed(EventIndex{i});
  return std::move(hints).found();
}

}  // namespace cleave
