// Work in a child process, so that a crash there is a value here.
//
// The child is a copy of this process (fork) and sends messages, which arrive in order; what was sent before
// it died has arrived. It cannot outlive us, not even when we are killed, leaves no core file, and what it
// prints on standard error is kept for the answer. Cost: a fork, and a copy of each message.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cleave {

struct ApartOptions {
  uint64_t memory = 0;                      // bytes of address space that the child may add to ours; 0: any
  std::chrono::milliseconds time_limit{0};  // then it is killed; 0: none
};

struct ApartEnd {
  enum class How : uint8_t { Finished, Signalled, Exited, TimeLimit, Interrupted };
  How how = How::Finished;
  int number = 0;    // Signalled: the signal; Exited: the status
  std::string said;  // on standard error, its first line

  // "signal 11 (Segmentation fault): what it said".
  std::string sentence() const;
};

using Send = std::function<void(std::string_view)>;

// Runs `work` in the child and calls `take` here for each message. When interrupted() becomes true the child
// is killed at once. `work` may throw: that is as if it had exited with status 1. An Error when no child
// could be started.
//
// The child has one thread, the caller's: `work` must not touch a lock that another thread may have held.
Result<ApartEnd> run_apart(const std::function<void(const Send&)>& work,
                           const std::function<void(std::string_view)>& take,
                           const ApartOptions& options = {});

// Bytes that this process can still have: what the system calls available, and what is left below the limits
// of its control groups. UINT64_MAX if nothing says so.
uint64_t available_memory();

}  // namespace cleave
