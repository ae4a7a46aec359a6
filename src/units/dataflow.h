// What each access of a recorded run depends on: the tables of dependence/flow.h instantiated along the
// records of each thread. Calls are those that took place, so virtual calls, callbacks and function objects
// need no guess; what goes through memory is followed by address, within a thread. Linear in the records,
// times the operands of an instruction.
#pragma once

#include <functional>
#include <vector>

#include "dependence/flow.h"
#include "trace/recorded/reader.h"
#include "units/tags.h"

namespace cleave::units {

// An access, and which reads of its thread it depends on.
struct AccessFlow {
  EventIndex event = kNone<EventIndex>;
  TagSet value;           // of a write: what is written
  TagSet address;         // where it goes
  TagSet control;         // whether it happens
  TagSet decided;         // the same, but only what branches of the program's own code look at
  bool compares = false;  // a compare-exchange
};

// Told of one thread after the other.
class FlowListener {
 public:
  virtual ~FlowListener() = default;
  virtual void begin_thread(ThreadId thread) = 0;
  // Every event of the thread that is not an access, in order.
  virtual void event(EventIndex event) = 0;
  virtual void access(const AccessFlow& access) = 0;
  // The tag of a read, or of the reading part of an update, after access() was told. `compares`: a
  // compare-exchange made it. False: not worth following.
  virtual bool tag(EventIndex event, bool compares, Tag* tag) = 0;
  // Values that meet in one write, branch, list of arguments or result (MoTH, definition 2).
  virtual void meeting(const TagSet& values, bool in_branch) = 0;
  // Whether a value that the thread writes there may be found there again by itself alone.
  virtual bool carries(VariableId variable) = 0;
};

// The trace must have its records (a text or imported trace has none: nothing is told then).
void follow_values(const RecordedTrace& recorded, const dependence::ProgramFlow& program,
                   FlowListener& listener);

}  // namespace cleave::units
