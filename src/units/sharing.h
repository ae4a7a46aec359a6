// What of a trace other threads can get between: which locations several threads touch while more than one of
// them runs, and which locations belong together.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "trace/core/trace.h"
#include "units/sets.h"

namespace cleave::units {

// Locations that are bound together: those of one set, and the atomics of its object.
enum class GroupId : uint32_t {};

class Sharing {
 public:
  // O(events). Asks `sets` about every variable.
  Sharing(const Trace& trace, SetMap& sets);

  // No other thread runs: before the first is started, after the last is joined.
  bool alone(EventIndex event) const { return alone_[raw(event)]; }
  // Another thread than this one writes the location, or touches it, while several run.
  bool written_by_other(VariableId variable, ThreadId thread) const {
    return other(variables_[raw(variable)].writer, thread);
  }
  bool touched_by_other(VariableId variable, ThreadId thread) const {
    return other(variables_[raw(variable)].user, thread);
  }
  GroupId group(VariableId variable) const { return variables_[raw(variable)].group; }

 private:
  static constexpr uint32_t kNobody = UINT32_MAX, kSeveral = UINT32_MAX - 1;
  struct Variable {
    uint32_t user = kNobody, writer = kNobody;  // a thread, or one of the two above
    GroupId group = kNone<GroupId>;
  };
  static bool other(uint32_t who, ThreadId thread) { return who != kNobody && who != raw(thread); }
  static void note(uint32_t& who, ThreadId thread) {
    who = who == kNobody || who == raw(thread) ? raw(thread) : kSeveral;
  }
  void find_alone(const Trace& trace);
  void find_groups(const Trace& trace, SetMap& sets);

  std::vector<bool> alone_;
  std::vector<Variable> variables_;
};

}  // namespace cleave::units
