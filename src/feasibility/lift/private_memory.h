// What one thread is known to have left in memory, byte by byte: expressions that its later loads get back.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include "feasibility/lift/thread_cursor.h"

namespace cleave {

class PrivateMemory {
 public:
  explicit PrivateMemory(ExpressionPool& pool) : pool_(pool) {}

  // `bytes` from 1 to 8; the lane may be narrower (a bool in a byte).
  void store(uint64_t address, const ThreadCursor& lane, uint32_t bytes);
  void forget(uint64_t address, uint64_t bytes);
  // Unknown when any byte is.
  ThreadCursor load(uint64_t address, uint32_t bytes, uint8_t width);
  void copy(uint64_t to, uint64_t from, uint64_t bytes);

 private:
  struct Byte {
    ExpressionId expression;  // of width 8 * count, of which this is byte `index`
    uint8_t index, count;
    uint8_t concrete;
    bool invented, lost;
  };
  ExpressionPool& pool_;
  boost::unordered_flat_map<uint64_t, Byte> bytes_;
};

}  // namespace cleave
