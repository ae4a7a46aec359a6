// The tool's side of abi/flow.h: how much a run may write, how far we have read, and what came of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "abi/flow.h"
#include "base/result.h"
#include "base/temporary.h"

namespace cleave::exec {

class Flow {
 public:
  static Result<Flow> make(uint64_t most_bytes, uint64_t allowed_lag = CLEAVE_FLOW_NO_LIMIT);
  Flow(Flow&& other) noexcept;
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;
  // Whoever still records stops, and goes on unrecorded.
  ~Flow();

  const std::string& path() const { return file_->path(); }
  // We are done with so many bytes of the trace; wakes whoever waits for that.
  void consumed(uint64_t bytes);
  void close();

  uint64_t written() const;
  uint64_t records() const;
  uint64_t waits() const;  // how often the program had to wait for us
  bool waiting() const;    // it does now
  bool cut() const;        // the limit was reached

 private:
  Flow() = default;
  void wake();
  std::optional<TemporaryFile> file_;
  cleave_flow* page_ = nullptr;
};

// The limit for a trace at this path: `asked` (0: 8 GB), and never more than half of what is free on its file
// system.
uint64_t most_trace_bytes(const std::string& path, uint64_t asked);

// The most that a trace which is read while it is written may hold in memory: 2 GB, or an eighth of what is
// available.
uint64_t most_live_bytes();

}  // namespace cleave::exec
