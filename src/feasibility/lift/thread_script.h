// What a thread recorded, in the form a walk consumes it: slots in program order, records of hooks, branch
// outcomes.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "trace/recorded/records.h"

namespace cleave {

struct ScriptSlot {
  const SegmentPlan* segment = nullptr;  // null: a record of the runtime
  uint32_t slot = 0, leg = 0;
  uint64_t record = 0;
  RecordKind kind = RecordKind::segment;
  uint64_t address = 0, value = 0;    // of reads, writes; value of results, switches, tokens, calls
  std::vector<uint64_t> words;        // payload of a runtime's record
  const SegmentPlan* hook = nullptr;  // segment that a hook's record (atomic, fence, range) refers to

  const SlotPlan& plan() const { return segment->slots[slot]; }
  bool is(SlotKind wanted) const { return segment != nullptr && plan().kind == wanted; }
  // The segment that says which function this belongs to; null for a record that says nothing of that.
  const SegmentPlan* place() const { return segment != nullptr ? segment : hook; }
};

class ThreadScript {
 public:
  // Up to the record of that number; nothing after it has happened as far as the trace knows.
  ThreadScript(const TraceFile& file, size_t thread, uint64_t last)
      : file_(file), cursor_(file, thread), last_(last) {}

  // The next slot, or null at the end. Slots of a segment come one by one.
  const ScriptSlot* peek();
  void pop() { ahead_.pop_front(); }
  // The next branch outcome; nullopt when the records end before it.
  std::optional<bool> outcome();

 private:
  bool fetch();
  const SegmentPlan* hook_of(const ScriptSlot& slot) const;
  const TraceFile& file_;
  RecordCursor cursor_;
  uint64_t last_;
  std::deque<ScriptSlot> ahead_;
  std::deque<bool> outcomes_;
  bool ended_ = false;
};

}  // namespace cleave
