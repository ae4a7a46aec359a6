// Serializable traces of any size for benchmarks: every unit has a timestamp, and an access is only made if
// all conflicting ones so far have smaller timestamps (timestamp ordering), so every edge of the conflict
// graph leads from a smaller one to a larger one and there is no cycle. Units of all threads overlap and
// conflict all the time, which is the hard case for a checker; with `overlap` off, conflicting units never
// overlap (two-phase locking), as in a program that is properly locked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "trace/core/trace.h"

namespace cleave::bench {

struct TraceSize {
  uint64_t events = 1'000'000;
  uint32_t threads = 8, variables = 1000;
  bool overlap = true;
  uint32_t unit_length = 8;  // accesses, on average
  uint64_t seed = 1;
};

// Gives events one after another, so that a trace need not fit into memory.
class SerializableTrace {
 public:
  explicit SerializableTrace(const TraceSize& size)
      : size_(size), random_(size.seed), threads_(size.threads), variables_(size.variables) {}

  // The names behind the ids.
  static void name(TraceBuilder& builder, const TraceSize& size);
  static Trace tables(const TraceSize& size);
  // False when the trace has its length.
  bool next(Event& event);

 private:
  struct Thread {
    uint64_t stamp = 0;  // 0: in no unit
    uint32_t left = 0;
    std::vector<uint32_t> touched;
  };
  struct Variable {
    uint64_t read = 0, written = 0;  // largest timestamps; two-phase locking: until when nobody else may
    uint32_t readers = 0, writer = UINT32_MAX;
  };
  bool may(uint32_t thread, uint32_t variable, bool write) const;
  void touch(uint32_t thread, uint32_t variable, bool write);

  TraceSize size_;
  Random random_;
  std::vector<Thread> threads_;
  std::vector<Variable> variables_;
  uint64_t made_ = 0, stamps_ = 0;
};

// RAPID's STD line of an event, with its line end.
void append_rapid_line(std::string& text, const Event& event, uint64_t location);

}  // namespace cleave::bench
