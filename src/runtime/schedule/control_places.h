// Which of the places that a plan or a constraint speaks of a segment stands at.
#pragma once

#include <stdint.h>

#include "abi/record.h"

namespace cleave::runtime {

struct PlaceEntry {
  const cleave_segment* segment;
  uint32_t group;
};

// The groups of a segment, one after the other.
class PlacesOf {
 public:
  explicit PlacesOf(const cleave_segment* segment);
  bool next(uint32_t* group);  // false: there are no more

 private:
  const cleave_segment* segment_;
  uint32_t slot_;
};

bool in_group(const cleave_segment* segment, uint32_t group);
void start_places();
void places_module(const cleave_module* module);
void places_module_gone(const cleave_module* module);

}  // namespace cleave::runtime
