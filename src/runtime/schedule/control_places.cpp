// Segments that the request speaks of, by address: open addressing, filled as modules register. A segment
// stands there once for each of its groups.
#include "runtime/schedule/control_places.h"

#include "runtime/record/message.h"
#include "runtime/record/system.h"
#include "runtime/schedule/control.h"

namespace cleave::runtime {
namespace {

PlaceEntry* table;
uint32_t table_mask;
const cleave_segment kGone{};  // stands where a segment of an unloaded library stood

uint32_t slot_of(const cleave_segment* segment) {
  return static_cast<uint32_t>((reinterpret_cast<uintptr_t>(segment) >> 2) * UINT64_C(0x9e3779b97f4a7c15) >>
                               40) &
         table_mask;
}

}  // namespace

PlacesOf::PlacesOf(const cleave_segment* segment) : segment_(segment), slot_(slot_of(segment)) {}

bool PlacesOf::next(uint32_t* group) {
  while (table[slot_].segment != nullptr) {
    const PlaceEntry& entry = table[slot_];
    slot_ = (slot_ + 1) & table_mask;
    if (entry.segment != segment_) continue;
    *group = entry.group;
    return true;
  }
  return false;
}

bool in_group(const cleave_segment* segment, uint32_t group) {
  PlacesOf places(segment);
  for (uint32_t found = 0; places.next(&found);)
    if (found == group) return true;
  return false;
}

void start_places() {
  uint64_t places = count_of<cleave_control_place>(control.file->places);
  uint64_t size = 16;
  while (size < places * 2) size *= 2;
  table = static_cast<PlaceEntry*>(map_memory(size * sizeof(PlaceEntry), Purpose::Asked));
  if (table == nullptr) fail("no memory for the places of a plan");
  table_mask = static_cast<uint32_t>(size - 1);
}

void places_module(const cleave_module* module) {
  cleave_control_place* places = entries<cleave_control_place>(control.file->places);
  for (uint64_t i = 0, count = count_of<cleave_control_place>(control.file->places); i < count; ++i) {
    if (places[i].identity != module->identity || places[i].segment >= module->segment_count) continue;
    const cleave_segment* segment = module->segments + places[i].segment;
    uint32_t slot = slot_of(segment);
    while (table[slot].segment != nullptr && table[slot].segment != &kGone) slot = (slot + 1) & table_mask;
    table[slot] = {segment, places[i].group};
  }
}

void places_module_gone(const cleave_module* module) {
  for (uint32_t slot = 0; slot <= table_mask; ++slot) {
    const cleave_segment* segment = table[slot].segment;
    if (segment >= module->segments && segment < module->segments + module->segment_count)
      table[slot].segment = &kGone;
  }
}

}  // namespace cleave::runtime
