// What happens at every scheduling point at which the thread goes on: inline, since that is nearly every
// access.
#pragma once

#include "runtime/schedule/control.h"

namespace cleave::runtime {

// What stands for every address: they differ from run to run, what they lead to does not.
inline constexpr uint64_t kSomeAddress = 1;

inline uint64_t without_address(uint64_t word) {
  constexpr uint64_t kFrom = UINT64_C(0x550000000000), kTo = UINT64_C(0x800000000000);
  return word - kFrom < kTo - kFrom ? kSomeAddress : word;
}

// The hash of what a thread did since its last point goes on with which way the branches went, and with a
// word. At the point it goes into the thread's chain, with what the thread is about to do there.
inline uint64_t with_branches(uint64_t step, uint64_t branches) {
  return step + branches * UINT64_C(0xc2b2ae3d27d4eb4f);
}
inline uint64_t with_word(uint64_t step, uint64_t word) { return mix(step, without_address(word)); }
inline uint64_t with_place(uint64_t step, const cleave_segment* segment, Point what = CLEAVE_POINT_none) {
  return step ^ (static_cast<uint64_t>(what) << 12 | (reinterpret_cast<uintptr_t>(segment) & 0xfff));
}
inline uint64_t with_raw_word(uint64_t raw, uint64_t word) { return (raw << 5 | raw >> 59) + word; }

inline void add_word(ControlThread* self, uint64_t word) {
  self->raw_step = with_raw_word(self->raw_step, word);
  self->step = with_word(self->step, word);
  word = without_address(word);
  if (word == kSomeAddress) return;
  self->value = self->value_words++ == 0 ? word : mix(self->value, word);
}

inline void pass_segment(ControlThread* self, const cleave_segment* segment) {
  self->step = mix(self->step, with_place(0, segment));
  self->place = segment;
}

// Takes what the thread did since its last point into its hashes.
inline void absorb(ControlThread* self) {
  if (self->unseen != nullptr) absorb_unseen(self);
  if (self->record == nullptr) return;
  const uint64_t* record = self->record;
  uint64_t branches = self->first_leg ? record[0] >> CLEAVE_HEADER_ADDRESS_BITS : CLEAVE_BRANCHES_NONE;
  self->step = with_branches(self->step, branches);
  for (uint32_t i = 1 + self->earlier_words; i <= self->segment_words; ++i) add_word(self, record[i]);
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
  self->segment_words = segment->words;
  self->first_leg = first_leg;
  self->earlier_words = earlier_words;
}

inline bool kept_in_full() {
  return control.file->steps.used + sizeof(cleave_control_step) <= control.file->steps.capacity;
}

// The thread is at a point, everything before it is absorbed. Gives the hash of what it did since the last
// one.
inline uint64_t count_point(ControlThread* self, Point what, const cleave_segment* segment) {
  uint64_t step = with_place(self->step, segment, what);
  self->chain = mix(self->chain, step);
  self->step = 0;
  ++self->points;
  ++self->run_points;
  control.points.store(control.points.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (control.replaying) replay_point(self, what, segment);
  ++self->grouped;
  if (self->grouped == CLEAVE_CONTROL_GROUP || what != CLEAVE_POINT_access || kept_in_full())
    log_fingerprint(self, self->chain, what, segment);
  if (auto* entry = append<cleave_control_step>(control.file->steps)) fill_step(entry, self, what, segment);
  ++control.file->points;
  self->counted_chain = self->chain;
  self->value = 0;
  self->value_words = 0;
  if (segment != nullptr) self->place = segment;
  return step;
}

// True when the thread has come around a loop in which nothing changes: it had rather yield.
inline bool comes_around(ControlThread* self, const void* place, uint64_t step, uint64_t weight = 1) {
  self->loop_hash = mix(self->loop_hash, mix(step, self->raw_step));
  self->raw_step = 0;
  if (place == self->anchor) return watch_loop(self, weight);
  if (++self->loop_length > kLongestLoop) drop_anchor(self, place);
  return false;
}

}  // namespace cleave::runtime
