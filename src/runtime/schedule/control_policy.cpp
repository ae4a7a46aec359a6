// The policies that need nothing but the set of ready threads: serial, random, pct; and noise, which has no
// turn.
#include <time.h>

#include "runtime/record/system.h"
#include "runtime/schedule/control.h"

namespace cleave::runtime {
namespace {

constexpr bool kIsSync[] = {
    false,
#define CLEAVE_POINT(name, number, word, sync) (sync) != 0,
#include "abi/control_points.def"
#undef CLEAVE_POINT
};

uint64_t split_mix(uint64_t* state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

uint64_t below(uint64_t word, uint64_t bound) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(word) * bound >> 64);
}

// Serial: one thread until it cannot go on, then the next in order of creation.
bool serial_preempts(ControlThread*, Point) { return false; }
ControlThread* serial_choose(ControlThread* holder, bool yields) {
  return holder != nullptr && !yields ? holder : next_in_turn(holder);
}

// Random: at every synchronization operation, and at an access one time in `access_odds`, one of those who
// could run goes on. The seed chooses the odds, so that some runs switch at every access, some rarely, some
// at synchronization operations only; and whether threads that start others are faster than these. They often
// have more to do until they start the next than that has: as fast as they, no two of them would overlap.
bool random_preempts(ControlThread*, Point point) {
  if (kIsSync[point]) return true;
  return control.access_odds != 0 && below(next_random(), control.access_odds) == 0;
}
ControlThread* random_ready() {
  uint64_t all = 0;
  for (uint32_t i = 0; i < control.ready_count; ++i) all += control.ready[i]->speed;
  uint64_t drawn = random_below(all);
  uint32_t at = 0;
  while (drawn >= control.ready[at]->speed) drawn -= control.ready[at++]->speed;
  return control.ready[at];
}
ControlThread* random_choose(ControlThread* holder, bool yields) {
  ControlThread* chosen = random_ready();
  return (yields && holder != nullptr) || chosen->waits_in_loop() ? next_in_turn(chosen) : chosen;
}

// Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): random distinct priorities, the highest
// ready thread runs; at d-1 random points of the run the running thread's priority falls below all others'. A
// thread that waits in a loop falls too, or the one it waits for would never run.
void next_change() {
  uint64_t depth = control.file->pct_depth;
  if (depth == 0 || control.pct_changes + 1 >= depth) {
    control.pct_next = UINT64_MAX;
    return;
  }
  // The smallest of the r changes that are left is uniform among r draws.
  uint64_t left = depth - 1 - control.pct_changes;
  uint64_t from = control.pct_changes == 0 ? 0 : control.pct_next;
  uint64_t span = control.file->pct_points > from ? control.file->pct_points - from : 1;
  uint64_t smallest = span;
  for (uint64_t i = 0; i < left; ++i) {
    uint64_t drawn = random_below(span);
    if (drawn < smallest) smallest = drawn;
  }
  control.pct_next = from + smallest + 1;
}

bool pct_preempts(ControlThread* holder, Point) {
  if (control.points.load(std::memory_order_relaxed) >= control.pct_next) {
    holder->priority = --control.pct_lowest;
    ++control.pct_changes;
    next_change();
    return true;
  }
  return control.reconsider;
}
ControlThread* pct_choose(ControlThread* holder, bool yields) {
  if (yields && holder != nullptr) holder->priority = --control.pct_lowest;
  ControlThread* best = control.ready[0];
  for (uint32_t i = 1; i < control.ready_count; ++i)
    if (control.ready[i]->priority > best->priority) best = control.ready[i];
  return best;
}

// Reverse: as serial, but the youngest thread comes first. First: one thread, chosen by the seed (1 is the
// first that was started), runs as soon as it can; the others as under serial.
ControlThread* reverse_choose(ControlThread* holder, bool yields) {
  if (holder != nullptr && !yields) return holder;
  ControlThread* best = nullptr;
  for (uint32_t i = 0; i < control.ready_count; ++i) {
    ControlThread* thread = control.ready[i];
    bool waits = thread->waits_in_loop() || (yields && thread == holder);
    bool best_waits = best != nullptr && (best->waits_in_loop() || (yields && best == holder));
    if (best == nullptr || waits < best_waits || (waits == best_waits && thread->index > best->index))
      best = thread;
  }
  return best;
}

bool first_preempts(ControlThread*, Point) { return control.reconsider; }
ControlThread* first_choose(ControlThread* holder, bool yields) {
  uint64_t wanted = control.file->seed;
  if (wanted < control.thread_count) {
    ControlThread* thread = control.threads[wanted];
    if (thread->standing == Standing::Ready && !thread->waits_in_loop() && !(yields && thread == holder))
      return thread;
  }
  return serial_choose(holder, yields);
}

constexpr PolicyFunctions kReverse{serial_preempts, reverse_choose};
constexpr PolicyFunctions kFirst{first_preempts, first_choose};
constexpr PolicyFunctions kSerial{serial_preempts, serial_choose};
constexpr PolicyFunctions kRandom{random_preempts, random_choose};
constexpr PolicyFunctions kPct{pct_preempts, pct_choose};

__thread uint64_t noise_state __attribute__((tls_model("initial-exec")));

}  // namespace

uint64_t next_random() { return split_mix(&control.random); }
uint64_t random_below(uint64_t bound) { return below(next_random(), bound); }

const PolicyFunctions* policy_functions(uint32_t policy) {
  switch (policy) {
    case CLEAVE_POLICY_RANDOM:
      return &kRandom;
    case CLEAVE_POLICY_PCT:
      return &kPct;
    case CLEAVE_POLICY_POS:
      return &kPosPolicy;
    case CLEAVE_POLICY_RF:
      return &kRfPolicy;
    case CLEAVE_POLICY_REVERSE:
      return &kReverse;
    case CLEAVE_POLICY_FIRST:
      return &kFirst;
    case CLEAVE_POLICY_PLAN:
      return &kPlanPolicy;
    case CLEAVE_POLICY_SWITCHES:
      return &kSwitchesPolicy;
    default:
      return &kSerial;
  }
}

void start_policy() {
  constexpr uint8_t kOdds[] = {1, 1, 1, 2, 3, 6, 24, 0};
  constexpr uint32_t kStartersSpeed = 32;
  control.access_odds = kOdds[random_below(sizeof kOdds)];
  control.starters_speed = random_below(2) == 0 ? kStartersSpeed : 1;
  if (control.file->policy != CLEAVE_POLICY_PCT) return;
  next_change();
  // More than all threads together are expected to need: the thread with the highest priority waits for one
  // of the others.
  constexpr uint64_t kLeast = UINT64_C(1) << 14;
  uint64_t expected = control.file->pct_points;
  control.longest_run = expected < kLeast ? kLeast : expected < kLongestRun ? expected : kLongestRun;
}

void policy_new_thread(ControlThread* thread) {
  if (control.file->policy == CLEAVE_POLICY_SWITCHES) return switches_new_thread(thread);
  if (controlled != nullptr && controlled != thread) controlled->speed = control.starters_speed;
  // 32 random bits above, the index below: distinct, and the order is random.
  thread->priority = static_cast<int64_t>((next_random() >> 33) << 20 | thread->index) + 1;
}

ControlThread* next_in_turn(ControlThread* after) {
  // Ready threads in cyclic order of their indexes behind `after`: first those that do not spin, then those
  // that do, `after` itself last of all.
  uint32_t from = after != nullptr ? after->index + 1 : 0;
  ControlThread* best = nullptr;
  uint64_t best_rank = UINT64_MAX;
  for (uint32_t i = 0; i < control.ready_count; ++i) {
    ControlThread* thread = control.ready[i];
    uint64_t rank = thread->index - from;  // wraps: smaller indexes come later
    rank &= UINT32_MAX;
    if (thread->waits_in_loop()) rank += UINT64_C(1) << 33;
    if (rank < best_rank) {
      best = thread;
      best_rank = rank;
    }
  }
  return best;
}

void make_noise(Point point) {
  if (noise_state == 0)
    noise_state = control.file->seed * UINT64_C(0x2545f4914f6cdd1d) + static_cast<uint64_t>(current_tid());
  uint64_t drawn = split_mix(&noise_state);
  // About one synchronization operation in 16, and one time in 32 that the thread comes by (reserve.cpp).
  if ((drawn & (kIsSync[point] ? 15 : 31)) != 0) return;
  if ((drawn >> 8 & 3) != 0) return yield_processor();
  timespec pause{0, static_cast<long>(below(split_mix(&noise_state), 500000))};
  system_call(SYS_nanosleep, reinterpret_cast<long>(&pause));
}

}  // namespace cleave::runtime
