// Fields by offset: the path from a class to the byte at an offset of it, through members held by value and
// arrays.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tables/site_tables.h"

namespace cleave {

// "balance", "slots[3]", "inner.count"; fields of a base class stand as if they were the class's own. Empty
// when no field is there. stop_at_system: a member whose class is the system's (std::mutex) is not looked
// into.
std::string field_path(const SiteTables& tables, uint32_t type, uint64_t offset, bool stop_at_system);

// What the declarations on the way to that byte say about it: VariableInfo::Flags, and its CLEAVE_SET. A
// pointer held by a std::unique_ptr counts as owned.
struct FieldFacts {
  uint32_t flags = 0;
  std::string set;
};
FieldFacts field_facts(const SiteTables& tables, uint32_t type, uint64_t offset);
// How many bytes from there on belong to that innermost field; an array counts as a whole. UINT64_MAX if
// there is none.
uint64_t field_room(const SiteTables& tables, uint32_t type, uint64_t offset);
// The same, but 0 where the way ends in a class, at a byte that none of its fields has: what comes after it
// is another's.
uint64_t leaf_room(const SiteTables& tables, uint32_t type, uint64_t offset);

// Whether class `inner` (by name) lies by value at `offset` of class `type`; gives its path with a dot:
// "inner.".
bool member_path(const SiteTables& tables, uint32_t type, uint64_t offset, std::string_view inner,
                 std::string* path);

// "int[10]" → 10 elements; 0 if the type is no array. "int[2][3]" is an array of 6 elements.
uint64_t array_elements(std::string_view type_name);

}  // namespace cleave
