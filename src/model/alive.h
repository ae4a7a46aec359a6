#pragma once

#include <vector>

#include "trace/trace.h"

namespace cleave {

// How many threads there are while the trace is gone through. One that nobody forks was there from the beginning.
class Alive {
 public:
  explicit Alive(const Trace& trace) : over_(trace.threads().size()), count_(trace.threads().size()) {
    for (const Event& event : trace.events()) count_ -= event.kind == EventKind::Fork;
  }
  void feed(const Event& event) {
    if (event.kind == EventKind::Fork) ++count_;
    else if (event.kind == EventKind::Exit) end(event.thread);
    else if (event.kind == EventKind::Join) end(ThreadId{event.object});
  }
  bool alone() const { return count_ < 2; }

 private:
  void end(ThreadId thread) {
    count_ -= !over_[raw(thread)];
    over_[raw(thread)] = true;
  }
  std::vector<bool> over_;
  size_t count_;
};

}  // namespace cleave
