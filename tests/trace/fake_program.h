// A made-up program with a few globals, locks and heap blocks, for tests of the reader.
#pragma once

#include "trace/fake_recorder.h"

namespace cleave {

class FakeProgram {
 public:
  static constexpr uint32_t kGlobals = 8, kLocks = 4;
  static constexpr uint64_t kGlobalBase = 0x10000, kLockBase = 0x20000, kHeapBase = 0x7f0000000000;
  // Segments of the module.
  enum Segment : uint32_t {
    kRead,
    kWrite,
    kReadWrite,
    kEnter,
    kExit,
    kCall,
    kUnitBegin,
    kUnitEnd,
    kHook,
    kRead4,
    kWrite4,
    kLanding,
    kInlined,
    kField,
    kUpdate  // a read and a write of the same memory
  };

  FakeProgram();

  FakeRecorder recorder;
  uint64_t global(uint32_t index) const { return kGlobalBase + 8 * index; }
  uint64_t lock(uint32_t index) const { return kLockBase + 64 * index; }

  void read(uint32_t thread, uint32_t index, uint64_t value) {
    recorder.segment(thread, kRead, {global(index), value});
  }
  void write(uint32_t thread, uint32_t index, uint64_t value) {
    recorder.segment(thread, kWrite, {global(index), value});
  }
  void atomic(uint32_t thread, uint64_t address, uint32_t op, uint64_t old_value, uint64_t value) {
    uint64_t number = recorder.ticket(address);
    recorder.record(
        thread, RecordKind::atomic,
        {recorder.segment_address(kHook), address, number, op | 5u << 8 | 8u << 16, old_value, value});
  }
};

}  // namespace cleave
