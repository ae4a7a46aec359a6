// A plan: milestones that an execution shall pass in this order. Between them everything is free. The
// scheduler holds back a thread that reaches a later milestone, lets others help, and gives up when nobody
// else can run (AtomChase II-A).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "trace/core/event.h"
#include "trace/core/trace.h"

namespace cleave {

// The `occurrence`-th time (from 1) that the thread comes to this place in the source for this kind of
// operation.
struct Milestone {
  std::string thread;  // path in the creation tree
  EventKind kind = EventKind::Read;
  std::string file;
  uint32_t line = 0, column = 0;  // line 0: what belongs to no one line of the function; column 0: any
  std::string function;           // empty: any
  uint64_t occurrence = 1;
  std::optional<uint64_t> value;  // what an access must read or write there; the plan stops if it does not
  std::string note;               // first, remote, second …: shown to people
  friend bool operator==(const Milestone&, const Milestone&) = default;

  std::string sentence() const;  // "thread 0.1 reads at bank.cpp:12 (2nd time)"
};

struct Plan {
  std::vector<Milestone> milestones;
  friend bool operator==(const Plan&, const Plan&) = default;
};

// The milestones of these events of a trace, in the order given. Occurrences are counted as the scheduler
// counts them: per access, however many bytes it touches. `visit_of` knows them (0: not this one); without it
// they are guessed from the events, which fails where straight code has two accesses at one place. Cost: one
// pass over the trace.
Result<Plan> plan_of(const Trace& trace, const std::vector<EventIndex>& events,
                     const std::function<uint64_t(EventIndex)>& visit_of = {});

// Milestones of one thread must stand in the order in which the thread can reach them.
Status validate(const Plan& plan);

}  // namespace cleave
