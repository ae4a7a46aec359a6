// What happens at every scheduling point at which the thread goes on: inline, since that is nearly every access.
#pragma once

#include "runtime/control.h"

namespace cleave::runtime {

// What stands for every address: they differ from run to run, what they lead to does not.
inline constexpr uint64_t kSomeAddress = 1;

inline uint64_t without_address(uint64_t word) {
  return word >= UINT64_C(0x550000000000) && word < UINT64_C(0x800000000000) ? kSomeAddress : word;
}

inline void add_word(ControlThread* self, uint64_t word) {
  self->raw_step = self->raw_step * 3 + word;
  word = without_address(word);
  self->step = mix(self->step, word);
  if (word == kSomeAddress) return;
  self->value = self->value_words++ == 0 ? word : mix(self->value, word);
}

// Takes what the thread did since its last point into its hashes.
inline void absorb(ControlThread* self) {
  if (self->record == nullptr) return;
  const uint64_t* record = self->record;
  // Which way the branches went.
  self->step = mix(self->step, self->first_leg ? record[0] >> CLEAVE_HEADER_ADDRESS_BITS : CLEAVE_BRANCHES_NONE);
  for (uint32_t i = 1 + self->earlier_words; i <= self->segment->words; ++i) add_word(self, record[i]);
  self->record = nullptr;
  if (self->check != CLEAVE_NO_PLACE) plan_check_value(self);
}

// Where the record of the segment that runs now will stand.
inline void control_recorded(const uint64_t* record, const cleave_segment* segment, bool first_leg = true,
                             uint32_t earlier_words = 0) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return;
  self->record = record;
  self->segment = segment;
  self->first_leg = first_leg;
  self->earlier_words = earlier_words;
}

inline void log_step(ControlThread* thread, Point point, uint8_t fingerprint, const cleave_segment* segment) {
  cleave_control_area& area = control.file->fingerprints;
  if (area.used < area.capacity) entries<uint8_t>(area)[area.used++] = fingerprint;
  else control.file->end = CLEAVE_END_FULL;
  if (auto* step = append<cleave_control_step>(control.file->steps)) fill_step(step, thread, point, segment);
}

// True when the thread has come around a loop in which nothing changes: it had rather yield.
inline bool comes_around(ControlThread* self, const void* place, uint64_t step) {
  self->loop_hash = mix(self->loop_hash, step);
  if (place == self->anchor) return watch_loop(self);
  if (++self->loop_length > kLongestLoop) drop_anchor(self, place);
  return false;
}

}  // namespace cleave::runtime
