// The oracle's view of units that the heuristics make (docs/check.md, "Units"), for the comparison with the
// full conflict graph: methods on their object, functions that are additional units for what they touch,
// getters, steps of iterators, rounds of loops, and critical sections. It goes through a thread from its
// start, keeps nothing for later, and shares nothing with the tracker.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/conflict/taken_objects.h"
#include "trace/core/trace.h"
#include "trace/core/unit_flags.h"

namespace cleave::conflict {

class HeuristicUnits {
 public:
  explicit HeuristicUnits(const Trace& trace)
      : trace_(trace), taken_(trace), nodes_(trace.size()), quiet_(trace.size()) {
    for (size_t t = 0; t < trace.threads().size(); ++t) follow(ThreadId{static_cast<uint32_t>(t)});
    keep();
  }

  // The node that an access belongs to; nothing: it is none.
  std::optional<int> node_of(size_t event) const { return nodes_[event]; }
  // An access of an additional unit to what no other thread has touched before: no edge enters it.
  bool quiet(size_t event) const { return quiet_[event]; }

 private:
  enum class Kind { Section, Method, Function, Getter, Step, Walk };
  // What a call is an additional unit for. Once another call has come between, it is so a round at a time.
  struct Use {
    bool now = false, in_round = false, left = false, through_getter = false;
  };
  struct Call {
    Kind kind = Kind::Function;
    uint32_t lock = UINT32_MAX;
    std::string object;
    int number = 0, round = 0;  // of the call, of its current round
    bool loops = false, locks_in_rounds = false;
    int locks_before = 0;  // of the thread, when the round began
    std::map<std::string, Use> uses;
    std::map<std::string, int> node_of_set;
    bool declared = false;  // one of these is of its own object
  };

  static bool shows(const Call& call) {
    return call.kind == Kind::Getter || call.kind == Kind::Step || call.kind == Kind::Walk;
  }
  int fresh() { return next_++; }
  std::string set_of(size_t event) const {
    const std::string& name = trace_.variables()[trace_.events()[event].object].name;
    return taken_.whose(event, name.substr(0, name.find('.')));
  }
  // Whether the call is of a method on the set, by then.
  bool declares(const Call& call, const std::string& set, size_t event) const {
    const bool method = call.kind == Kind::Method || call.kind == Kind::Step || call.kind == Kind::Walk;
    return method && !call.object.empty() && taken_.whose(event, call.object) == set;
  }

  // What a unit has touched it keeps while it is open, until another thread writes it.
  void keep() {
    struct Last {
      ThreadId thread{};
      int node = 0;
    };
    std::map<uint32_t, std::vector<Last>> last;  // by variable: of each thread, since another one wrote
    for (size_t i = 0; i < trace_.size(); ++i) {
      const Event& e = trace_.events()[i];
      if (!nodes_[i]) continue;
      std::vector<Last>& touches = last[e.object];
      for (const Last& touch : touches) {
        const auto over = over_.find(touch.node);
        if (touch.thread == e.thread && (over == over_.end() || over->second > i)) nodes_[i] = touch.node;
      }
      std::erase_if(
          touches, [&](const Last& touch) { return touch.thread == e.thread || e.kind == EventKind::Write; });
      touches.push_back({e.thread, *nodes_[i]});
    }
  }

  void over(const Call& call) {
    over_.try_emplace(call.number, now_);
    over_.try_emplace(call.round, now_);
    for (const auto& [set, node] : call.node_of_set) over_.try_emplace(node, now_);
  }

  void follow(ThreadId thread) {
    std::vector<Call> calls;
    locks_ = 0;
    for (size_t i = 0; i < trace_.size(); ++i) {
      const Event& e = trace_.events()[i];
      if (e.thread != thread) continue;
      now_ = i;
      if (e.kind == EventKind::Begin) {
        begin(calls, e);
      } else if (e.kind == EventKind::End) {
        end(calls);
      } else if (e.kind == EventKind::Acquire) {
        locks_ += locks_for_its_caller(calls) ? 0 : 1;
        calls.push_back({.kind = Kind::Section,
                         .lock = e.object,
                         .object = "",
                         .number = fresh(),
                         .uses = {},
                         .node_of_set = {}});
      } else if (e.kind == EventKind::Release) {
        for (size_t c = calls.size(); c-- > 0;) {
          if (calls[c].lock != e.object) continue;
          over(calls[c]);
          calls.erase(calls.begin() + static_cast<ptrdiff_t>(c));
          break;
        }
      } else if (e.kind == EventKind::Read || e.kind == EventKind::Write) {
        access(calls, i, e);
      }
    }
  }

  static bool locks_for_its_caller(const std::vector<Call>& calls) {
    for (size_t c = calls.size(); c-- > 0;) {
      if (calls[c].kind != Kind::Section) return shows(calls[c]);
    }
    return false;
  }

  void begin(std::vector<Call>& calls, const Event& e) {
    const UnitNameInfo& name = trace_.unit_names()[e.object];
    Call call;
    call.number = fresh();
    call.round = fresh();
    call.locks_before = locks_;
    if (e.object2 != UINT32_MAX) call.object = trace_.objects()[e.object2].name;
    if (name.flags & UnitNameInfo::kGetter) {
      call.kind = Kind::Getter;
    } else if (name.flags & kUnitSteps) {
      call.kind = name.flags & kUnitWalks ? Kind::Walk : Kind::Step;
    } else if (name.source == UnitSource::Method) {
      call.kind = Kind::Method;
    }
    if (name.flags & kUnitRound) {
      call.kind = Kind::Step;  // an empty one
      next_round(calls);
    }
    calls.push_back(call);
  }
  void next_round(std::vector<Call>& calls) {
    for (size_t c = calls.size(); c-- > 0;) {
      if (calls[c].kind == Kind::Section) continue;
      calls[c].loops = true;
      if (calls[c].locks_before != locks_) calls[c].locks_in_rounds = true;
      calls[c].locks_before = locks_;
      end_round(calls[c]);
      for (auto& [set, use] : calls[c].uses) {
        if (use.now && (use.through_getter || calls[c].locks_in_rounds)) use = {.left = true};
      }
      return;
    }
  }
  void end_round(Call& call) {
    over_.try_emplace(call.round, now_);
    call.round = fresh();
    for (auto& [set, use] : call.uses) use.in_round = false;
  }
  void end(std::vector<Call>& calls) {
    for (size_t c = calls.size(); c-- > 0;) {
      if (calls[c].kind == Kind::Section) continue;
      over(calls[c]);
      calls.erase(calls.begin() + static_cast<ptrdiff_t>(c));
      return;
    }
  }

  void access(std::vector<Call>& calls, size_t event, const Event& e) {
    const std::string set = set_of(event);
    nodes_[event] = owner(calls, set, event, e);
  }

  // A method on its own object takes the access, the outermost of those; before it, a call that uses the set
  // already, or the outermost section. A method ends what is used around it.
  int owner(std::vector<Call>& calls, const std::string& set, size_t event, const Event& e) {
    size_t user = calls.size(), method = calls.size(), section = calls.size();
    bool hidden = false;  // what shows another object hides its sections
    for (size_t c = 0; c < calls.size() && method == calls.size(); ++c) {
      Call& call = calls[c];
      // Steps are methods too, of their own objects.
      if (declares(call, set, event)) {
        method = c;
      } else if (call.kind == Kind::Section) {
        if (!hidden && user == calls.size() && section == calls.size() && !keeps_itself_whole(calls, c, set))
          section = c;
      } else if (auto use = call.uses.find(set); user == calls.size() && section == calls.size() &&
                                                 use != call.uses.end() &&
                                                 (use->second.now || use->second.in_round)) {
        user = c;
      }
      if (shows(call) && method == calls.size()) hidden = true;
    }
    if (section < calls.size()) return of_section(calls, section, set, event);
    if (method < calls.size()) {
      if (user == calls.size()) return of_call(calls[method], set, true);
      Use& use = calls[user].uses[set];
      if (use.in_round) end_round(calls[user]);
      if (use.now) use = {.left = true};
      return owner(calls, set, event, e);
    }
    if (user == calls.size()) {
      for (size_t c = 0; c < calls.size(); ++c) {
        if (calls[c].kind == Kind::Method || calls[c].kind == Kind::Function) user = c;
      }
    }
    if (user == calls.size()) {
      over_.emplace(next_, now_);
      return fresh();
    }
    quiet_[event] = !touched_by_others(event, e);
    return use(calls, user, set);
  }

  // In the section a method of the object has taken a lock of its own.
  static bool keeps_itself_whole(const std::vector<Call>& calls, size_t section, const std::string& set) {
    for (size_t m = section + 1; m < calls.size(); ++m) {
      const bool declares =
          calls[m].kind == Kind::Method || calls[m].kind == Kind::Step || calls[m].kind == Kind::Walk;
      if (!declares || calls[m].object.empty() || calls[m].object != set) continue;
      for (size_t inner = m + 1; inner < calls.size(); ++inner) {
        if (calls[inner].kind == Kind::Section && calls[inner].lock != calls[section].lock) return true;
      }
    }
    return false;
  }

  int use(std::vector<Call>& calls, size_t user, const std::string& set) {
    // The innermost of those that show it decides how it was reached.
    bool getter = false;
    for (const Call& call : calls) {
      if (shows(call)) getter = call.kind != Kind::Walk;
    }
    Call& call = calls[user];
    Use& use = call.uses[set];
    const bool in_round =
        !use.now && (call.locks_in_rounds || (getter && call.loops) || use.in_round || use.left);
    if (in_round) {
      use.in_round = true;
      return call.round;
    }
    use.through_getter = getter && (!use.now || use.through_getter);
    use.now = true;
    return of_call(call, set, false);
  }

  // What a call touches besides its own object's set is one with that. Its object may come into another's set
  // while it goes on: that is a set of its own.
  int of_call(Call& call, const std::string& set, bool declared) {
    auto [known, first] = call.node_of_set.try_emplace(set, call.number);
    if (!first) return known->second;
    if (declared && call.declared) known->second = fresh();
    call.declared |= declared;
    return known->second;
  }

  // What one call touches directly in a section is one node; anything else one for each set. The first touch
  // decides.
  int of_section(std::vector<Call>& calls, size_t section, const std::string& set, size_t event) {
    auto [known, first] = calls[section].node_of_set.try_emplace(set, 0);
    if (!first) return known->second;
    const Call* direct = nullptr;
    for (size_t c = 0; c < calls.size(); ++c) {
      if (calls[c].kind == Kind::Method || calls[c].kind == Kind::Function) direct = &calls[c];
      if (c > section && declares(calls[c], set, event)) return known->second = fresh();
    }
    if (direct == nullptr) return known->second = fresh();
    auto [node, made] = merged_.try_emplace({calls[section].number, direct->number}, 0);
    if (made) node->second = fresh();
    return known->second = node->second;
  }

  bool touched_by_others(size_t event, const Event& e) const {
    for (size_t i = 0; i < event; ++i) {
      const Event& before = trace_.events()[i];
      const bool is_access = before.kind == EventKind::Read || before.kind == EventKind::Write;
      if (is_access && before.object == e.object && before.thread != e.thread) return true;
    }
    return false;
  }

  const Trace& trace_;
  const TakenObjects taken_;
  std::vector<std::optional<int>> nodes_;
  std::vector<bool> quiet_;
  std::map<std::pair<int, int>, int> merged_;
  std::map<int, size_t> over_;  // by node: when it ended; not there: it goes on
  size_t now_ = 0;
  int next_ = 1;   // 0 is the round of what has none
  int locks_ = 0;  // that the thread has taken so far
};

}  // namespace cleave::conflict
