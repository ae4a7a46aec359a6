// The modules (translation units) of a recorded program: their tables, and their segments prepared for
// decoding.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "abi/record.h"
#include "base/ids.h"
#include "tables/site_tables.h"

namespace cleave {

struct Module;

// A slot with its operands resolved as far as the module alone can: addresses of globals are numbers now.
struct SlotPlan {
  SlotKind kind{};
  uint8_t width = 0;
  Source address_source = Source::None;  // Word: that and address_constant; Constant: address_constant
  Source value_source = Source::None;    // Word or Constant
  uint16_t address_index = 0;            // payload word
  uint16_t value_index = 0;
  uint32_t site = kNoIndex;
  uint32_t inlined_at = kNoIndex;
  uint32_t aux = kNoIndex;
  uint64_t address_constant = 0;
  uint64_t value_constant = 0;
};

// Where a record has the address of an access: a payload word, and what is added to it.
struct AddressPlan {
  uint16_t index = 0;
  uint64_t constant = 0;
};

struct SegmentPlan {
  const Module* module = nullptr;
  uint32_t index = 0;  // within the module
  uint16_t words = 0;
  bool events = false;    // at least one slot that gives an event or changes the stack
  bool accesses = false;  // at least one read or write
  std::vector<SlotPlan> slots;
  std::vector<AddressPlan>
      addresses;  // of reads and writes, one for each place in memory; globals are not among them
};

struct Module {
  uint32_t number = 0;            // in the order of the file
  uint64_t offset = 0;            // of its chunk in the file
  uint64_t address = 0;           // of the segment array
  uint64_t identity = 0;          // finds the bitcode in the binary
  std::string name;               // source file
  std::vector<uint64_t> globals;  // addresses, in the order of tables.globals
  SiteTables tables;
  std::vector<SegmentPlan> segments;
};

// All modules of a trace. Lookups are by header address; of two modules that had the same address one after
// the other, the one loaded last before the chunk counts.
class Modules {
 public:
  // Null on success, else what is wrong with the body.
  const char* add(std::span<const uint8_t> body, uint64_t offset);

  // The segment whose descriptor is at `address`, for a record in the chunk at `offset`; null if there is
  // none.
  const SegmentPlan* find(uint64_t address, uint64_t offset) const {
    const CacheLine& line = cache_[address * 0x9e3779b97f4a7c15ull >> 52];
    if (line.address == address && line.offset_begin <= offset && offset < line.offset_end)
      return line.segment;
    return find_slowly(address, offset);
  }
  const std::deque<Module>& all() const { return modules_; }

 private:
  struct CacheLine {
    uint64_t address = 0, offset_begin = 0, offset_end = 0;  // valid for chunks in [begin, end)
    const SegmentPlan* segment = nullptr;
  };
  const SegmentPlan* find_slowly(uint64_t address, uint64_t offset) const;

  std::deque<Module> modules_;
  mutable std::vector<CacheLine> cache_ = std::vector<CacheLine>(4096);
};

}  // namespace cleave
