// Events in total order, a batch at a time, with memory bounded by what is open and not by the length of the
// trace. The checker of `cleave check` runs on this, on a finished file and on one that is still being
// written.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "trace/core/trace.h"

namespace cleave {

// An access with other bounds than the earlier ones has split a location: `whole` never appears again, what
// was known of it holds for every id in `parts`.
struct VariableSplit {
  VariableId whole;
  std::vector<VariableId> parts;
  size_t before = 0;  // position in the batch of the event that it precedes
};

// What has ceased to exist: memory that was given back, locations that were split. No later event has these
// ids, until they denote something else.
struct FreedIds {
  std::vector<VariableId> variables;
  std::vector<ObjectId> objects;
  std::vector<SyncId> syncs;
  void clear() {
    variables.clear();
    objects.clear();
    syncs.clear();
  }
  void append(const FreedIds& more);
};

class EventSource {
 public:
  virtual ~EventSource() = default;

  // The next events, or an empty span at the end. A span is valid until the next call.
  virtual Result<std::span<const Event>> next() = 0;
  // Splits that took place in the last batch, in their order.
  virtual std::span<const VariableSplit> splits() const { return {}; }
  // What ended in the last batch. Its events, and the tables as long as that batch is the last one, still
  // know it; from the next batch on the ids may denote something else. Empty where ids are not used again
  // (ReadOptions::reuse_ids).
  virtual const FreedIds& freed() const {
    static const FreedIds none;
    return none;
  }
  // What an Update of the last batch read; `position` counts within the batch.
  virtual uint64_t old_value(size_t position) const = 0;
  // Names of everything seen so far. The tables only grow, but for ids that are used again; events() of it is
  // empty.
  virtual const Trace& tables() const = 0;
  // False when the trace ends in the middle: killed program, truncated file.
  virtual bool complete() const { return true; }
};

struct Batch;
struct TouchedEntries;

// A source that gives its batches away, so that a thread of its own can read it (read_ahead.h).
class BatchSource : public EventSource {
 public:
  // The last batch, instead of a copy of it. What `into` held is filled again.
  virtual void take(Batch& into) = 0;
  // Which entries of the tables change while events are read. Null: the tables are whole once the source is
  // open, and next() does not look at them any more.
  virtual TouchedEntries* touched() { return nullptr; }
};

// A loaded trace as a source.
class TraceSource final : public EventSource {
 public:
  explicit TraceSource(const Trace& trace) : trace_(trace) {}
  Result<std::span<const Event>> next() override;
  uint64_t old_value(size_t position) const override;
  const Trace& tables() const override { return trace_; }
  bool complete() const override { return !trace_.ends_early(); }

 private:
  static constexpr size_t kBatch = 4096;
  const Trace& trace_;
  size_t begin_ = 0, end_ = 0;
};

}  // namespace cleave
