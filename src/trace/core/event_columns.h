// Events of an imported trace as they stand in its file: up to 65536 of them, field by field. A field that is
// the same for all takes two bytes; one that compresses well is a frame of zstd; any other has as many bits a
// value as its largest one needs, and is read where it lies in the file. Reading is one short loop a field,
// without a branch an event.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trace/core/trace.h"

namespace cleave {

inline constexpr size_t kColumnEvents = 65536;  // of one block

// The events [begin, end) of the trace, at most kColumnEvents, as one block.
std::string write_columns(const Trace& trace, size_t begin, size_t end);

// One more than the largest id of each kind, and how far that goes for what an event names; none (UINT32_MAX)
// plus one is 0.
struct IdLimits {
  explicit IdLimits(const Trace& tables);
  uint32_t threads, sites, contexts;
  std::array<uint32_t, 256> object{}, object2{}, unknown;  // by kind of event; unknown: there is no such kind
};

class ColumnReader {
 public:
  // `block` must stay while it is read. False: it is damaged.
  bool open(std::span<const uint8_t> block);
  size_t left() const { return count_ - at_; }
  // The next `count` events, not more than are left, with `updates` as (position in out, what it read). Every
  // id must be within the limits. False: the block is damaged.
  bool read(const IdLimits& limits, size_t count, Event* out,
            std::vector<std::pair<uint32_t, uint64_t>>& updates);
  // Program data of the events of the last read(): (position in out, data).
  std::span<const std::pair<size_t, SymbolicInfo>> symbolic() const { return given_; }

  // The fields in the order in which they stand in a block.
  enum Field : uint8_t {
    kKind,
    kThread,
    kObject,
    kWidth,
    kBranches,
    kSite,
    kContext,
    kObject2,
    kValue,
    kOld,
    kFields
  };

 private:
  struct Column {
    enum Form : uint8_t { kSame, kBits, kPacked };
    Form form = kSame;
    uint8_t bits = 0;
    uint64_t same = 0;
    const uint8_t* data = nullptr;  // of kBits: 8 bytes more may be read than there are values
    std::string unpacked;           // of kPacked
  };
  template <typename Put>
  static void each(const Column& column, size_t from, size_t count, Put put);
  bool open_column(Column& column, std::span<const uint8_t>& rest, size_t values);
  bool open_symbolic(std::span<const uint8_t> rest);
  bool ids_hold(const IdLimits& limits, std::span<const Event> events) const;

  std::array<Column, kFields> columns_;
  std::vector<std::pair<size_t, SymbolicInfo>> symbolic_, given_;
  size_t next_symbolic_ = 0;
  size_t count_ = 0, at_ = 0, updates_ = 0, next_update_ = 0;
};

}  // namespace cleave
