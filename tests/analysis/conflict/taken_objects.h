// The oracle's view of what objects reach through their pointers (docs/check.md, "Sets"), for the comparison
// with the full conflict graph: for each access, which object stands for the set of each other one then. It
// goes through the trace once, with names for objects and no ids, and shares nothing with the set map.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "trace/core/trace.h"
#include "trace/core/unit_flags.h"

namespace cleave::conflict {

class TakenObjects {
 public:
  explicit TakenObjects(const Trace& trace) : trace_(trace), at_(trace.size()) {
    for (size_t i = 0; i < trace.size(); ++i) {
      const Event& e = trace.events()[i];
      std::vector<Call>& calls = open_[raw(e.thread)];
      if (e.kind == EventKind::Begin) {
        calls.push_back(call_of(e));
      } else if (e.kind == EventKind::End && !calls.empty()) {
        calls.pop_back();
      } else if (e.kind == EventKind::Read || e.kind == EventKind::Write) {
        access(calls, e);
        at_[i] = taker_;
      }
    }
  }
  // The object whose set `object` is in, at an access.
  std::string whose(size_t event, const std::string& object) const { return last(at_[event], object); }

 private:
  // Critical sections play no part.
  struct Call {
    std::string object;
    bool may_take = false;
  };
  using Takers = std::map<std::string, std::string>;

  static std::string last(const Takers& takers, std::string object) {
    for (auto it = takers.find(object); it != takers.end(); it = takers.find(object)) object = it->second;
    return object;
  }
  Call call_of(const Event& e) const {
    const UnitNameInfo& name = trace_.unit_names()[e.object];
    if (e.object2 == UINT32_MAX) return {};
    const bool shows = name.flags & (UnitNameInfo::kGetter | kUnitSteps);
    return {trace_.objects()[e.object2].name, !shows};
  }
  void access(const std::vector<Call>& calls, const Event& e) {
    const std::string& variable = trace_.variables()[e.object].name;
    const std::string part = variable.substr(0, variable.find('.'));
    if (shared_.contains(part)) return;
    const bool taken = taker_.contains(part);
    if (taken && in_method_of_taker(calls, part)) return;
    if (taken && open_.size() > 1) {
      taker_.erase(part);
      shared_.insert(part);
      return;
    }
    const bool through = e.site != kNone<SiteId> && trace_.site(e.site).through_own;
    if (through && !calls.empty() && calls.back().may_take) take(calls.back().object, part);
  }
  bool in_method_of_taker(const std::vector<Call>& calls, const std::string& part) const {
    for (auto up = taker_.find(part); up != taker_.end(); up = taker_.find(up->second)) {
      for (const Call& call : calls) {
        if (call.object == up->second) return true;
      }
    }
    return false;
  }
  void take(const std::string& by, const std::string& part) {
    constexpr int kMost = 8;  // how often, and how deep
    taker_.erase(part);
    const std::string whole = last(taker_, by);
    if (whole == part) return;
    if (++times_[part] > kMost || below_[part] >= kMost) {
      shared_.insert(part);
      return;
    }
    taker_[part] = whole;
    below_[whole] = std::max(below_[whole], below_[part] + 1);
  }

  const Trace& trace_;
  std::vector<Takers> at_;
  std::map<uint32_t, std::vector<Call>> open_;  // by thread, of all that have done something
  Takers taker_;
  std::set<std::string> shared_;
  std::map<std::string, int> times_, below_;
};

}  // namespace cleave::conflict
