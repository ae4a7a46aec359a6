// Which events take and give back a lock. Condition waits release their mutex and wakes take it again; a
// semaphore that starts with one token and that every thread takes and gives back in turn is a lock too.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/core/trace.h"

namespace cleave::order {

struct LockOperation {
  enum Kind : uint8_t { None, Acquire, Release } kind = None;
  bool shared = false;
  uint32_t lock = 0;
};

class LockOperations {
 public:
  explicit LockOperations(const Trace& trace);

  LockOperation of(const Event& event) const;
  // By sync id: locks that the trace shows not to exclude (released by a thread that does not hold it, held
  // by two at once), and semaphores that are no locks.
  const std::vector<bool>& irregular() const { return irregular_; }

 private:
  void find_irregular(const Trace& trace);
  void find_token_locks(const Trace& trace);

  std::vector<bool> irregular_, token_lock_;
};

}  // namespace cleave::order
