// Partial order sampling (Yuan, Yang, Gu, CAV 2018): what each thread is about to do has a random priority,
// the highest goes first, and what raced with it and lost is drawn anew. So every partial order has a chance,
// whatever number of switches it needs.
//
// Reads-from constraints (after Wolff et al., ASPLOS 2024) bias it: each is a small automaton that boosts or
// delays whoever is about to make one of its accesses. A delayed thread still runs when nobody else can, so
// no constraint makes a run end differently from what the program can do.
#include "runtime/record/message.h"
#include "runtime/record/system.h"
#include "runtime/schedule/control.h"
#include "runtime/schedule/control_places.h"

namespace cleave::runtime {
namespace {

// Addresses are known when an access has happened, not before: those of a place are taken to be the ones of
// the last time. That decides what counts as a race, so a wrong guess costs a draw and no more.
struct Learned {
  const cleave_segment* segment;
  uint64_t address;
};
constexpr uint32_t kLearned = 1u << 12;
Learned* learned;

Learned& learned_at(const cleave_segment* segment) {
  return learned[(reinterpret_cast<uintptr_t>(segment) >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}

// Where it will access memory, as far as that can be told; the place itself where nothing is known.
uint64_t target_of(const cleave_segment* segment) {
  const Learned& known = learned_at(segment);
  return known.segment == segment ? known.address : reinterpret_cast<uintptr_t>(segment);
}

enum class Phase : uint8_t { Waits, Armed, Over };
struct Automaton {
  Phase phase;
  uint32_t armed_by;  // thread
  uint64_t seen;      // occurrences of `after`
};
Automaton* automata;

const cleave_control_constraint& constraint(uint32_t index) {
  return entries<cleave_control_constraint>(control.file->constraints)[index];
}

bool at(const cleave_segment* segment, uint32_t group) {
  return group != CLEAVE_NO_PLACE && in_group(segment, group);
}

// The constrained access comes: it is what the automaton waits for, or it is too late for that.
void executed(uint32_t index, const ControlThread* self, const cleave_segment* segment) {
  const cleave_control_constraint& mine = constraint(index);
  Automaton& automaton = automata[index];
  if (automaton.phase == Phase::Over) return;
  const bool negative = (mine.flags & CLEAVE_CONSTRAINT_NEGATIVE) != 0;
  const bool others = automaton.armed_by != self->index;
  if (at(segment, mine.then) && (negative || others) && (automaton.phase == Phase::Armed) != negative) {
    automaton.phase = Phase::Over;
    ++control.file->constraints_met;
    return;
  }
  if (automaton.phase == Phase::Armed && at(segment, mine.between) && !(at(segment, mine.after) && others))
    automaton.phase = mine.after == CLEAVE_NO_PLACE ? Phase::Over : Phase::Waits;
  if (automaton.phase == Phase::Waits && at(segment, mine.after) && ++automaton.seen >= mine.occurrence)
    automaton = {Phase::Armed, self->index, automaton.seen};
}

// -1: somebody else should go first; 1: this one should.
int urge_of(uint32_t index, const ControlThread* thread) {
  const cleave_control_constraint& mine = constraint(index);
  const Automaton& automaton = automata[index];
  if (automaton.phase == Phase::Over) return 0;
  const bool after = at(thread->pending, mine.after), then = at(thread->pending, mine.then),
             between = at(thread->pending, mine.between);
  const bool others = automaton.armed_by != thread->index;
  const bool armed = automaton.phase == Phase::Armed;
  if (mine.flags & CLEAVE_CONSTRAINT_NEGATIVE) {
    if (then) return armed ? -1 : 1;
    return armed && between && !after ? 1 : 0;
  }
  if (armed) return then && others ? 1 : between ? -1 : 0;
  return after ? 1 : then ? -1 : 0;
}

int urge_of(const ControlThread* thread) {
  if (thread->waits_in_loop()) return -2;
  if (thread->pending == nullptr) return 0;
  int urge = 0;
  for (uint32_t i = 0; i < control.constraint_count; ++i) {
    int one = urge_of(i, thread);
    if (one < 0) return -1;
    if (one > 0) urge = 1;
  }
  return urge;
}

// Everybody may be preempted everywhere.
bool always_preempts(ControlThread*, Point) { return true; }

ControlThread* choose(ControlThread* holder, bool yields) {
  if (yields && holder != nullptr) holder->priority = --control.pct_lowest;
  ControlThread* best = nullptr;
  int best_urge = 0;
  for (uint32_t i = 0; i < control.ready_count; ++i) {
    ControlThread* thread = control.ready[i];
    int urge = yields && thread == holder ? -2 : urge_of(thread);
    if (best != nullptr && (urge < best_urge || (urge == best_urge && thread->priority < best->priority)))
      continue;
    best = thread;
    best_urge = urge;
  }
  return best;
}

}  // namespace

constinit const PolicyFunctions kPosPolicy{always_preempts, choose};
constinit const PolicyFunctions kRfPolicy{always_preempts, choose};

void start_sampling() {
  const uint32_t policy = control.file->policy;
  control.sampling = policy == CLEAVE_POLICY_POS || policy == CLEAVE_POLICY_RF;
  if (!control.sampling) return;
  learned = static_cast<Learned*>(map_memory(kLearned * sizeof(Learned), Purpose::Own));
  if (learned == nullptr) fail("no memory for the scheduler");
  if (policy != CLEAVE_POLICY_RF) return;
  control.constraint_count =
      static_cast<uint32_t>(count_of<cleave_control_constraint>(control.file->constraints));
  if (control.constraint_count == 0) return;
  start_places();
  automata =
      static_cast<Automaton*>(map_memory(control.constraint_count * sizeof(Automaton), Purpose::Asked));
  if (automata == nullptr) fail("no memory for the constraints");
  for (uint32_t i = 0; i < control.constraint_count; ++i)
    automata[i] = {constraint(i).after == CLEAVE_NO_PLACE ? Phase::Armed : Phase::Waits, CLEAVE_NO_PLACE, 0};
}

void draw_priority(ControlThread* thread) {
  // Distinct: random bits above, the index below.
  thread->priority = static_cast<int64_t>((next_random() >> 33) << 20 | thread->index) + 1;
}

void sampling_executed(ControlThread* self) {
  const cleave_segment* segment = self->pending;
  if (segment == nullptr) return;
  if (self->record != nullptr && self->segment_words > self->earlier_words) {
    uint64_t word = self->record[1 + self->earlier_words];
    constexpr uint64_t kLeastAddress = UINT64_C(1) << 16;
    if (word >= kLeastAddress && word != CLEAVE_UNWRITTEN) learned_at(segment) = {segment, word};
  }
  uint64_t target = target_of(segment);
  for (uint32_t i = 0; i < control.thread_count; ++i) {
    ControlThread* other = control.threads[i];
    if (other != self && other->pending != nullptr && other->standing == Standing::Ready &&
        target_of(other->pending) == target)
      draw_priority(other);
  }
  for (uint32_t i = 0; i < control.constraint_count; ++i) executed(i, self, segment);
  self->pending = nullptr;
}

void sampling_point(ControlThread* self, Point, const cleave_segment* segment) {
  self->pending = segment;
  draw_priority(self);
}

}  // namespace cleave::runtime
