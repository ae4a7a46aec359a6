// The last steps of a reordering, one event at a time, from the state that a closed prefix leaves behind.
//
// A thread that has read another value than recorded goes on only as far as that cannot show: up to its next
// branch, and what it writes from there on is unknown. What it accesses could still depend on the value as an
// address or an index; so only reads of the triple's own location, whose content does not say where it lies,
// may change before a thread's last event (the caller asks for that).
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <optional>
#include <vector>

#include "analysis/predict/trace_index.h"

namespace cleave::prediction {

class Steps {
 public:
  Steps(const TraceIndex& facts, std::vector<Position> prefix)
      : facts_(facts), prefix_(prefix), now_(std::move(prefix)), tainted_(prefix_.size(), false) {}

  enum class Outcome : uint8_t {
    Done,
    ChangedValue,  // done, but it read another value than recorded: the thread is tainted from here on
    Blocked,       // a lock is held by `blocker`
    Impossible,
  };

  // The next event of the thread.
  Outcome step(uint32_t thread);

  Position now(uint32_t thread) const { return now_[thread]; }
  uint32_t blocker() const { return blocker_; }
  const std::vector<EventNumber>& events() const { return events_; }
  // What the last event, an access, reads or writes in this order; nothing if that is not known.
  std::optional<uint64_t> value() const { return value_; }
  // Whether the last event, if it read, read from the write it read from in the recorded run.
  bool kept_source() const { return kept_source_; }

 private:
  struct Written {
    EventNumber event;
    bool known;  // what was written
  };
  bool lock_free(uint32_t thread, order::LockUse use);
  bool forked(uint32_t thread) const;
  bool partners_done(uint32_t thread, Position at) const;
  bool token_left(SyncId semaphore) const;
  Outcome access(EventNumber e, const Event& event);
  Written last_write(uint32_t variable) const;
  Outcome synchronize(uint32_t thread, Position at, const Event& event);

  const TraceIndex& facts_;
  std::vector<Position> prefix_, now_;
  std::vector<bool> tainted_;
  std::vector<EventNumber> events_;
  boost::unordered_flat_map<uint32_t, Written> written_;  // since the prefix: variable → last write
  uint32_t blocker_ = 0;
  bool kept_source_ = true;
  std::optional<uint64_t> value_;
};

}  // namespace cleave::prediction
