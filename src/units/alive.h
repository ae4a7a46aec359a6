#pragma once

#include <cstdint>
#include <vector>

#include "trace/core/trace.h"

namespace cleave {

// How many threads there are while events go by.
class Alive {
 public:
  // A thread is there from its fork, or from its first event on.
  Alive() = default;
  // One that nobody forks was there from the beginning: for a trace that is there as a whole.
  explicit Alive(const Trace& trace) {
    std::vector<bool> forked(trace.threads().size());
    for (const Event& event : trace.events()) {
      if (event.kind == EventKind::Fork) forked[event.object] = true;
    }
    for (size_t thread = 0; thread < forked.size(); ++thread) {
      if (!forked[thread]) begin(id_of<ThreadId>(thread));
    }
  }
  void feed(const Event& event) {
    begin(event.thread);
    if (event.kind == EventKind::Fork)
      begin(event.other());
    else if (event.kind == EventKind::Exit)
      end(event.thread);
    else if (event.kind == EventKind::Join)
      end(event.other());
  }
  bool alone() const { return count_ < 2; }

 private:
  enum class Stage : uint8_t { Unknown, Alive, Over };
  Stage& stage(ThreadId thread) {
    if (raw(thread) >= stages_.size()) stages_.resize(raw(thread) + size_t{1});
    return stages_[raw(thread)];
  }
  void begin(ThreadId thread) {
    if (stage(thread) != Stage::Unknown) return;
    stage(thread) = Stage::Alive;
    ++count_;
  }
  void end(ThreadId thread) {
    count_ -= stage(thread) == Stage::Alive;
    stage(thread) = Stage::Over;
  }
  std::vector<Stage> stages_;
  size_t count_ = 0;
};

}  // namespace cleave
