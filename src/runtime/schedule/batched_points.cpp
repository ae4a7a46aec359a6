// Points that are looked at together. Where a policy preempts nobody at an access (serial), a thread need not
// stop at each: it records a stretch of them as it does running free, and they are counted and hashed when it
// is over, out of the records. The schedule has the same points with the same fingerprints as if the thread
// had stopped at every one, and so they are compared one by one in a replay.
//
// A stretch is so many words of segments, whatever else goes into the buffer and however often that is
// emptied: nothing that differs from run to run may have a say in where the scheduler decides.
#include <string.h>

#include "runtime/record/modules.h"
#include "runtime/record/state.h"
#include "runtime/record/stream.h"
#include "runtime/schedule/control.h"
#include "runtime/schedule/control_point.h"

namespace cleave::runtime {
namespace {

// The segment's name: its address, which goes into the hashes. Its library may have been unloaded since.
const cleave_segment* segment_of(uint64_t header) {
  return reinterpret_cast<const cleave_segment*>(header & CLEAVE_HEADER_ADDRESS_MASK);
}
// What is known of it.
const cleave_segment* facts_of(uint64_t header) { return segment_at(header & CLEAVE_HEADER_ADDRESS_MASK); }

bool of_a_segment(uint64_t header) { return (header & CLEAVE_HEADER_ADDRESS_MASK) >= 4096; }

// A record of the runtime, or a gap.
const uint64_t* behind(const uint64_t* record) {
  size_t words = record_words(record);
  return record + (words != 0 ? words : 1);
}

// --- one point after the other, with everything that is kept of it

void look_at_leg(ControlThread* self, const cleave_segment* leg, uint32_t flags, uint64_t branches,
                 const uint64_t* words, uint32_t count, bool pointed) {
  if (!pointed && !(flags & CLEAVE_SEGMENT_ACCESS)) pass_segment(self, leg);
  if (!pointed && (flags & CLEAVE_SEGMENT_ACCESS)) {
    uint64_t step = count_point(self, CLEAVE_POINT_access, leg);
    if (self->stretch <= kWatchedWords) comes_around(self, leg, step, kStretchWords / kWatchedWords);
  }
  self->step = with_branches(self->step, branches);
  for (uint32_t i = 0; i < count; ++i) add_word(self, words[i]);
}

// The record up to `stop`, one of its legs, or to its end.
void look_at_record(ControlThread* self, const uint64_t* record, const cleave_segment* stop = nullptr) {
  const cleave_segment *segment = segment_of(record[0]), *facts = facts_of(record[0]);
  uint64_t branches = record[0] >> CLEAVE_HEADER_ADDRESS_BITS;
  bool pointed = self->pointed;
  self->pointed = false;
  if (facts->flags & CLEAVE_SEGMENT_LEGS) {
    uint32_t earlier = 0;
    for (uint32_t i = 1; segment + i != stop && earlier < facts->words; ++i) {
      look_at_leg(self, segment + i, facts[i].flags, branches, record + 1 + earlier, facts[i].words - earlier,
                  pointed);
      branches = CLEAVE_BRANCHES_NONE;
      earlier = facts[i].words;
      pointed = false;
    }
  } else {
    look_at_leg(self, segment, facts->flags, branches, record + 1, facts->words, pointed);
  }
  uint64_t words = 1u + facts->words;
  self->stretch -= words < self->stretch ? words : self->stretch;
}

// --- the same for many, of which only the fingerprints are kept

struct Hashes {
  uint64_t chain, step, raw;
  uint8_t* next;  // fingerprint
  uint32_t grouped;
  uint64_t points = 0, counted_chain = 0;

  __attribute__((always_inline)) void leg(const cleave_segment* leg, uint32_t flags, uint64_t branches,
                                          const uint64_t* words, uint32_t count, bool pointed) {
    if (__builtin_expect(!pointed, 1)) {
      if (__builtin_expect(flags & CLEAVE_SEGMENT_ACCESS, 1)) {
        chain = mix(chain, with_place(step, leg, CLEAVE_POINT_access));
        step = 0;
        ++points;
        counted_chain = chain;
        if (++grouped == CLEAVE_CONTROL_GROUP) {
          *next++ = static_cast<uint8_t>(chain >> 56);
          grouped = 0;
        }
      } else {
        step = mix(step, with_place(0, leg));
      }
    }
    step = with_branches(step, branches);
    for (uint32_t i = 0; i < count; ++i) {
      step = with_word(step, words[i]);
      raw = with_raw_word(raw, words[i]);
    }
  }
};

// Gives where it stopped: at `to` or where the stretch comes to its last part.
const uint64_t* hash_records(ControlThread* self, const uint64_t* record, const uint64_t* to) {
  cleave_control_area& area = control.file->fingerprints;
  uint8_t* first = entries<uint8_t>(area) + area.used;
  Hashes hashes{self->chain, self->step, self->raw_step, first, self->grouped};
  bool pointed = self->pointed;
  const cleave_segment* last = self->place;
  uint64_t left = self->stretch;
  while (record < to && left > kWatchedWords) {
    uint64_t header = record[0];
    if (__builtin_expect(!of_a_segment(header), 0)) {
      record = behind(record);
      continue;
    }
    const cleave_segment* facts = facts_of(header);
    uint32_t words = facts->words;
    uint64_t branches = header >> CLEAVE_HEADER_ADDRESS_BITS;
    last = segment_of(header);
    if (facts->flags & CLEAVE_SEGMENT_LEGS) {
      for (uint32_t earlier = 0; earlier < words; earlier = facts->words) {
        ++last;
        ++facts;
        hashes.leg(last, facts->flags, branches, record + 1 + earlier, facts->words - earlier, pointed);
        branches = CLEAVE_BRANCHES_NONE;
        pointed = false;
      }
    } else {
      hashes.leg(last, facts->flags, branches, record + 1, words, pointed);
      pointed = false;
    }
    record += 1 + words;
    left -= 1 + words;
  }
  uint64_t points = hashes.points;
  area.used += static_cast<uint64_t>(hashes.next - first);
  control.file->points += points;
  self->chain = hashes.chain;
  if (points != 0) self->counted_chain = hashes.counted_chain;
  self->grouped = hashes.grouped;
  self->step = hashes.step;
  self->raw_step = hashes.raw;
  self->pointed = pointed;
  self->place = last;
  self->stretch = left;
  self->points += points;
  self->run_points += points;
  self->value = 0;
  self->value_words = 0;
  control.points.store(control.points.load(std::memory_order_relaxed) + points, std::memory_order_relaxed);
  return record;
}

// Room for the fingerprints of so many words of records, and nothing else is kept of their points.
bool only_fingerprints(uint64_t words) {
  const cleave_control_area& area = control.file->fingerprints;
  return !kept_in_full() && area.capacity - area.used > words;
}

void look_at(ControlThread* self, const uint64_t* record, const uint64_t* to) {
  if (self->stretch > kWatchedWords && only_fingerprints(static_cast<uint64_t>(to - record)))
    record = hash_records(self, record, to);
  while (record < to) {
    if (!of_a_segment(record[0])) {
      record = behind(record);
      continue;
    }
    look_at_record(self, record);
    record += 1 + facts_of(record[0])->words;
  }
}

// Where the unseen records end; where they begin, if the cursor has gone elsewhere: a thread that has ended
// records nowhere.
const uint64_t* end_of_unseen(const ControlThread* self) {
  constexpr uint64_t kMostWords = UINT64_C(1) << 16;  // more than a buffer has
  const uint64_t* cursor = __atomic_load_n(&self->block->cursor, __ATOMIC_ACQUIRE);
  return reinterpret_cast<uintptr_t>(cursor) - reinterpret_cast<uintptr_t>(self->unseen) < kMostWords * 8
             ? cursor
             : self->unseen;
}

}  // namespace

void absorb_unseen(ControlThread* self) {
  const uint64_t *from = self->unseen, *to = end_of_unseen(self);
  self->unseen = to;
  if (from < to) look_at(self, from, to);
}

void absorb_up_to(ControlThread* self, const uint64_t* record, const cleave_segment* leg) {
  const uint64_t* from = self->unseen;
  self->unseen = nullptr;
  look_at(self, from, record);
  look_at_record(self, record, leg);
}

void control_crashed() {
  ControlThread* self = controlled_self();
  if (self == nullptr || self->unseen == nullptr || control.holder.load() != self) return;
  const uint64_t* to = end_of_unseen(self);
  const uint64_t *last = nullptr, *record = self->unseen;
  while (record < to) {
    last = of_a_segment(record[0]) ? record : nullptr;
    record = last != nullptr ? record + 1 + facts_of(record[0])->words : behind(record);
  }
  const uint64_t* from = self->unseen;
  self->unseen = nullptr;
  if (last == nullptr) return look_at(self, from, to);
  look_at(self, from, last);
  // The legs it has come to are those that have stored something: of each the first word is.
  const cleave_segment* facts = facts_of(last[0]);
  const size_t stored = stored_words(last, facts->words);
  uint32_t leg = 0;
  if (facts->flags & CLEAVE_SEGMENT_LEGS)
    for (leg = 1; facts[leg].words < stored;) ++leg;
  bool whole = leg == 0 || facts[leg].words == facts->words;
  look_at_record(self, last, whole ? nullptr : segment_of(last[0]) + leg + 1);
}

uint64_t* begin_stretch(ControlThread* self, const uint64_t* record) {
  self->block = &__cleave_thread;
  self->unseen = record;
  self->pointed = true;
  uint64_t words = self->stretch > self->asks_for ? self->stretch : self->asks_for;
  return __cleave_thread.cursor + words;
}

void leave_stretch(ControlThread* self) {
  self->unseen = nullptr;
  self->stretch = 0;
  __cleave_thread.limit = nullptr;
}

void no_stretches() {
  ControlThread* self = controlled_self();
  if (!control.many || self == nullptr) return;
  ensure_turn(self);
  absorb(self);
  control.many = false;
  if (self->unseen != nullptr) leave_stretch(self);
}

}  // namespace cleave::runtime
