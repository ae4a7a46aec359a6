// The slow side of the inline code: what happens when a buffer is full.
#include <string.h>

#include "runtime/record/message.h"
#include "runtime/record/scrub.h"
#include "runtime/record/state.h"
#include "runtime/schedule/control.h"
#include "runtime/schedule/control_point.h"

namespace cleave::runtime {
namespace {

// Where records go that nobody will read: of threads that have written their exit, and of all threads once
// the process is ending. Shared, because it is garbage.
uint64_t nowhere[1024];

uint64_t* go_nowhere(bool late) {
  if (late && state.mode.load(std::memory_order_relaxed) == Mode::Recording)
    state.late.fetch_add(1, std::memory_order_relaxed);
  __cleave_thread.cursor = nowhere;
  __cleave_thread.limit = late ? nowhere : nowhere + 1024;  // late ones are counted one by one
  return nowhere;
}

// Makes sure that `words` fit behind the cursor.
uint64_t* make_room(Thread* thread, size_t words) {
  Stream& stream = *thread->stream;
  if (__cleave_thread.cursor + words <= stream.end) return __cleave_thread.cursor;
  if (stream.base + words > stream.end)
    fail("a segment is longer than a buffer; rebuild the program with this Cleave");
  if (state.controlled) control_settle();
  if (state.mode.load(std::memory_order_relaxed) == Mode::Recording) {
    flush_own(stream);
    if (state.controlled) {
      control_moved();
      scrub_stack<kDeep>();
    }
  } else {
    if (stream.claimed.load(std::memory_order_acquire) != Claim::Free) return nullptr;
    __cleave_thread.cursor = stream.base;
    if (state.controlled) control_moved();
  }
  return __cleave_thread.cursor + words <= stream.end ? __cleave_thread.cursor : nullptr;
}

void set_limit(const Stream& stream, size_t at_least) {
  uint64_t* cursor = __cleave_thread.cursor;
  if (state.one_at_a_time) {
    __cleave_thread.limit = nullptr;
    return;
  }
  size_t left = static_cast<size_t>(stream.end - cursor);
  size_t step = state.controlled ? kNoiseWords : kStampWords;
  if (state.mode.load(std::memory_order_relaxed) != Mode::Recording) step = left;
  if (step < at_least) step = at_least;
  __cleave_thread.limit = cursor + (step < left ? step : left);
}

}  // namespace

uint64_t* room_for(size_t words) {
  Thread* thread = own_thread();
  if (thread == nullptr) {
    go_nowhere(true);
    return nullptr;
  }
  uint64_t* place = make_room(thread, words);
  if (place != nullptr) set_limit(*thread->stream, words);
  return place;
}

namespace {

void flush_if_older_than(uint64_t age) {
  Thread* thread = current_thread;
  if (thread == nullptr || __cleave_thread.cursor == nullptr) return;
  Stream& stream = *thread->stream;
  if (__cleave_thread.cursor == stream.base || stamp_now() - stream.flush_stamp < age) return;
  if (state.controlled) control_settle();
  flush_own(stream);
  if (state.controlled) control_moved();
  set_limit(stream, 0);
  if (state.controlled) scrub_stack<kDeep>();
}

}  // namespace

void flush_if_old() {
  constexpr uint64_t kOld = UINT64_C(1) << 28;  // about a tenth of a second
  flush_if_older_than(kOld);
}

void flush_now() { flush_if_older_than(0); }

namespace {

// Under control the limit is 0, so that every segment comes here, except for stretches in which nothing is
// decided.
uint64_t* reserve_in_turn(Thread* thread, size_t words, const cleave_segment* segment) {
  ControlThread* self = controlled_self();
  if (self != nullptr) self->asks_for = words;
  control_segment(segment);
  uint64_t* place = make_room(thread, words);
  if (place == nullptr) return go_nowhere(false);
  if (self != nullptr && control.many && thread->stream == &thread->main) {
    uint64_t* end = begin_stretch(self, place);
    __cleave_thread.limit = end < thread->stream->end ? end : thread->stream->end;
    return place;
  }
  __cleave_thread.limit = nullptr;
  control_recorded(place, segment);
  return place;
}

const cleave_segment* descriptor_of(const uint64_t* record) {
  return reinterpret_cast<const cleave_segment*>(record[0] & CLEAVE_HEADER_ADDRESS_MASK);
}

// Before a leg that is not the first. As long as nobody else runs in between, the record of the whole segment
// goes on.
uint64_t* leg_in_turn(Thread* thread, uint64_t* record, const cleave_segment* leg) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return record;
  if (self->unseen != nullptr) absorb_up_to(self, record, leg);
  const cleave_segment* before = leg - 1;
  self->open_leg = leg;
  if (descriptor_of(record)->flags & CLEAVE_SEGMENT_LEGS) {
    self->open_record = record;
  } else {  // this segment was parted before, and is from there on
    memcpy(self->open_words, record + 1, before->words * sizeof *record);
    record[0] = word_of(before) | (record[0] & ~CLEAVE_HEADER_ADDRESS_MASK);
    __cleave_thread.cursor = record + 1 + before->words;
  }
  control_segment(leg);
  if (self->open_record != nullptr) {
    self->open_record = nullptr;
    control_recorded(record, leg, false, before->words);
    return record;
  }
  uint64_t* place = make_room(thread, 1u + leg->words);
  if (place == nullptr) return go_nowhere(false);
  memcpy(place + 1, self->open_words, before->words * sizeof *place);
  place[0] = word_of(leg) | CLEAVE_BRANCHES_NONE << CLEAVE_HEADER_ADDRESS_BITS;
  __cleave_thread.cursor = place + 1 + leg->words;
  __cleave_thread.limit = nullptr;
  control_recorded(place, leg, false, before->words);
  return place;
}

}  // namespace

void settle_legs(ControlThread* self) {
  uint64_t* record = self->open_record;
  self->open_record = nullptr;
  memcpy(self->open_words, record + 1, (self->open_leg - 1)->words * sizeof *record);
  uint64_t branches = record[0] & ~CLEAVE_HEADER_ADDRESS_MASK;
  __cleave_thread.cursor = record;
  for (const cleave_segment* leg = descriptor_of(record) + 1; leg != self->open_leg; ++leg) {
    uint64_t* place = make_room(own_thread(), 1u + leg->words);
    if (place == nullptr) return;
    memcpy(place + 1, self->open_words, leg->words * sizeof *place);
    place[0] = word_of(leg) | branches;
    branches = CLEAVE_BRANCHES_NONE << CLEAVE_HEADER_ADDRESS_BITS;
    __cleave_thread.cursor = place + 1 + leg->words;
  }
}

}  // namespace cleave::runtime

using namespace cleave::runtime;

extern "C" uint64_t* __cleave_reserve(uint64_t words, const cleave_segment* segment) {
  Thread* thread = own_thread();
  if (thread == nullptr) return go_nowhere(true);
  bool legs = segment->flags & CLEAVE_SEGMENT_LEGS;
  if (state.one_at_a_time) return reserve_in_turn(thread, words, legs ? segment + 1 : segment);
  if (__builtin_expect(state.controlled, 0)) control_segment(segment);
  bool stamped = state.mode.load(std::memory_order_relaxed) == Mode::Recording;
  uint64_t* place = make_room(thread, words + 2);
  if (place == nullptr) return go_nowhere(false);
  if (stamped) record(kRecord_stamp, stamp_now());
  set_limit(*thread->stream, words);
  if (state.controlled && legs) __cleave_thread.limit = nullptr;  // noise wants to come between them too
  return __cleave_thread.cursor;
}

extern "C" uint64_t* __cleave_leg(uint64_t* record, const cleave_segment* leg) {
  Thread* thread = own_thread();
  if (thread == nullptr || !state.controlled) return record;
  Stream& stream = *thread->stream;
  if (!state.one_at_a_time) {
    control_segment(leg);
    set_limit(stream, 0);
    return record;
  }
  if (record < stream.base || record >= stream.end) return record;  // going nowhere
  return leg_in_turn(thread, record, leg);
}

extern "C" void __cleave_branches_full(void) { record(kRecord_branches); }
