// The site tables of a program, from the module chunks of one of its traces: which segments stand at a place
// in the source, and what is at a segment or an address.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "schedule/plan.h"
#include "tables/site_tables.h"

namespace cleave::exec {

struct ModuleTables {
  std::string name;
  uint64_t identity = 0;
  std::vector<uint64_t> globals;  // addresses
  SiteTables tables;
};

struct SegmentPlace {
  uint64_t identity = 0;  // of the module
  uint32_t segment = 0;
};

// Whether events of this kind come from such a slot: atomics from hooks, synchronization from calls.
bool gives(const Slot& slot, EventKind kind);

class ProgramTables {
 public:
  // Modules up to the end of the file or to the first damaged chunk.
  static Result<ProgramTables> read(const std::string& trace);

  const std::vector<ModuleTables>& modules() const { return modules_; }
  // All segments with a slot at the milestone's place of its kind of operation.
  std::vector<SegmentPlace> find(const Milestone& milestone) const;
  // The same where the file may be named by the end of its path, and no function is asked for.
  std::vector<SegmentPlace> find_by_end(const Milestone& place) const;
  // All segments that write a variable which is accessed at that place, told by its name.
  std::vector<SegmentPlace> writers_like(const Milestone& place) const;
  // "write of balance at bank.cpp:12 (Account::set)", "bank.cpp:12"; empty if the segment is not known.
  // What the segment begins with, or (`its_end`) ends with.
  std::string describe(uint64_t identity, uint32_t segment, bool its_end) const;
  // The global at the address: "queue_lock", "accounts+16"; empty if there is none.
  std::string name_of(uint64_t address) const;

 private:
  // All segments with a slot of that kind for which `fits(tables, site)`.
  template <typename Fits>
  std::vector<SegmentPlace> places_of(EventKind kind, const Fits& fits) const;

  std::vector<ModuleTables> modules_;
};

}  // namespace cleave::exec
