// The turn: who has it, how it goes from one thread to another, and what happens when nobody can take it.
#include <errno.h>
#include <linux/futex.h>
#include <string.h>

#include "runtime/record/message.h"
#include "runtime/record/scrub.h"
#include "runtime/record/state.h"
#include "runtime/record/system.h"
#include "runtime/schedule/control.h"
#include "runtime/schedule/control_point.h"

namespace cleave::runtime {
namespace {

// A waiting thread looks up this often whether the holder sleeps in a call that we do not know.
constexpr uint64_t kLookNanoseconds = UINT64_C(200) * 1000 * 1000;

// So long a plan waits for somebody to come back from a system call, when it holds all the others.
constexpr uint64_t kPatience = UINT64_C(1000) * 1000 * 1000;

// The trace's first word of every turn: between turns nothing else orders plain accesses of different
// threads.
void record_turn(ControlThread* self) {
  if (self->recorded_turn == self->turn) return;
  self->recorded_turn = self->turn;
  if (state.mode.load(std::memory_order_relaxed) == Mode::Recording)
    record(kRecord_turn, self->turn, stamp_now());
}

void wake_up(ControlThread* thread) {
  if (thread->futex.exchange(kWoken, std::memory_order_seq_cst) != kAsleep) return;
  system_call(SYS_futex, reinterpret_cast<long>(&thread->futex), FUTEX_WAKE_PRIVATE, 1);
}

}  // namespace

void enter_scheduler() { control.lock.lock(); }

void leave_scheduler() {
  ControlThread* thread = control.wakes;
  control.wakes = nullptr;
  control.lock.unlock();
  if (thread != nullptr) wake_up(thread);
}

void give_turn(ControlThread* next) {
  end_idle();
  next->turn = ++control.turns;
  control.file->holder = next->index;
  control.holder.store(next, std::memory_order_seq_cst);
  if (next != controlled) control.wakes = next;
}

namespace {

// Nobody needs to sleep: the clock is put forward.
ControlThread* pass_time(ControlThread* thread) {
  uint64_t now = virtual_now();
  if (thread->deadline > now && thread->deadline != kSpurious)
    control.skipped.fetch_add(thread->deadline - now, std::memory_order_relaxed);
  force_ready(thread);
  expire(virtual_now());
  return thread;
}

// Who is next; null when everybody waits for somebody outside. Under the lock.
ControlThread* pick(ControlThread* holder, bool yields) {
  control.reconsider = false;
  if (control.replaying) return replay_next();
  if (control.file->policy == CLEAVE_POLICY_SWITCHES) {
    uint32_t how = holder != nullptr ? CLEAVE_RUN_PREEMPTED : CLEAVE_RUN_GAVE_AWAY;
    if (ControlThread* next = take_switch(control.holder.load(), how))
      return next->standing == Standing::Waiting ? pass_time(next) : next;
  }
  bool random = control.sampling || control.file->policy == CLEAVE_POLICY_RANDOM ||
                control.file->policy == CLEAVE_POLICY_PCT;
  for (;;) {
    if (drain_is_spent()) return end_drain();
    if (somebody_is_due()) {
      ControlThread* due = expire(virtual_now());
      if (due != nullptr && !random && !control.planning) return due;
    }
    bool idle = control.ready_count == 0;
    if (control.timed_count != 0) {
      if (random && random_below(64) == 0 && control.draining == nullptr)
        return pass_time(control.timed[random_below(control.timed_count)]);
      ControlThread* first = earliest();
      bool soon = first != nullptr && first->deadline <= control.drain_deadline;
      if (soon && control.outside == 0 && (idle || (yields && all_ready_spin()))) return pass_time(first);
    }
    if (!idle && control.draining != nullptr && yields && all_ready_spin()) return end_drain();
    if (!idle) return control.policy->choose(holder, yields);
    if (control.draining == nullptr) {
      if (control.outside != 0 && waits_in_circle()) end_process(CLEAVE_END_DEADLOCK);
      if (control.outside != 0 || control.ended == control.thread_count) return nullptr;
    }
    if (control.progress != control.progress_at_probe) {
      control.progress_at_probe = control.progress;
      if (probe_waiting()) continue;
    }
    if (control.held != 0) {
      stop_plan(CLEAVE_PLAN_STUCK, nullptr);
      continue;
    }
    if (control.draining != nullptr) return end_drain();
    end_process(CLEAVE_END_DEADLOCK);
  }
}

// The run of `self` ends; somebody else gets the turn, if there is somebody. Under the lock.
void pass_turn(ControlThread* self, uint32_t how, bool yields) {
  ControlThread* next = pick(how == CLEAVE_RUN_PREEMPTED ? self : nullptr, yields);
  if (next == self && how == CLEAVE_RUN_PREEMPTED) return;
  log_run(self, how);
  if (next != nullptr) return give_turn(next);
  control.file->holder = CLEAVE_NO_PLACE;
  control.holder.store(nullptr, std::memory_order_seq_cst);
  begin_idle();
  // Whoever is due next waits for its time from now on, and not until the next look.
  if (ControlThread* due = earliest(); due != nullptr && due != self) control.wakes = due;
}

// Nanoseconds of processor time that a thread of ours has had.
uint64_t processor_time(int tid) {
  timespec time{};
  constexpr int kOfOneThread = 4, kScheduled = 2;
  if (system_call(SYS_clock_gettime, static_cast<long>((~tid << 3) | kOfOneThread | kScheduled),
                  reinterpret_cast<long>(&time)) != 0)
    return 0;
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

// What a waiting thread has seen of the holder when it looked up.
struct Seen {
  uint64_t points = UINT64_MAX;
  uint64_t processor = 0;
};

// A holder that computes for so long without coming to a point may wait for another thread in a loop that has
// none: a lock in assembly, say. Where that has happened once it is known.
constexpr uint64_t kBlind = UINT64_C(2) * 1000 * 1000 * 1000, kBlindAgain = UINT64_C(50) * 1000 * 1000;
constexpr uint32_t kBlindSpots = 64;
const void* blind_spots[kBlindSpots];
std::atomic<uint32_t> blind_spot_count{0};

bool is_blind_spot(const void* place) {
  for (uint32_t i = 0, count = blind_spot_count.load(); i < count && i < kBlindSpots; ++i)
    if (blind_spots[i] == place) return true;
  return false;
}

bool runs_blindly(const ControlThread* holder, int tid, const Seen& seen) {
  bool known = control.replaying || is_blind_spot(holder->place);
  return processor_time(tid) - seen.processor > (known ? kBlindAgain : kBlind);
}

void note_blind_spot(const ControlThread* holder) {
  if (is_blind_spot(holder->place)) return;
  uint32_t count = blind_spot_count.load();
  if (count < kBlindSpots) {
    blind_spots[count] = holder->place;
    blind_spot_count.store(count + 1);
  }
  if (count == 0 && !control.replaying)
    say("a thread has computed for 2 s without coming to a scheduling point, perhaps in a loop that waits "
        "and "
        "that Cleave cannot see into (inline assembly); the other threads go on beside it");
}

// State letter of a thread of ours: S sleeps.
char state_of(int tid) {
  char path[64] = "/proc/self/task/", digits[16], text[512];
  size_t count = 0, length = strlen(path);
  do digits[count++] = static_cast<char>('0' + tid % 10);
  while (tid /= 10);
  while (count > 0) path[length++] = digits[--count];
  memcpy(path + length, "/stat", 6);
  long descriptor = system_call(SYS_open, reinterpret_cast<long>(path), 0x80000);
  if (descriptor < 0) return '?';
  long got = system_call(SYS_read, descriptor, reinterpret_cast<long>(text), sizeof text);
  system_call(SYS_close, descriptor);
  for (long at = got; at-- > 2;)
    if (text[at - 2] == ')') return text[at];
  return '?';
}

// The holder sleeps somewhere in the system and we did not see it go there, or runs where we do not see it:
// take the turn from it.
void look_after_holder(Seen* seen) {
  uint64_t points = control.points.load(std::memory_order_relaxed);
  ControlThread* holder = control.holder.load();
  int tid = holder != nullptr ? holder->tid.load() : 0;
  if (tid == 0 || seen->points != points) {
    *seen = {tid == 0 ? UINT64_MAX : points, tid == 0 ? 0 : processor_time(tid)};
    return;
  }
  if (holder->reaps.load() || state.finished.load()) return;
  if (control.replaying && !replay_takes_turn(holder)) return;
  bool blind = holder->unseen == nullptr && runs_blindly(holder, tid, *seen);
  if (!blind && state_of(tid) != 'S') return;
  enter_scheduler();
  bool asleep = control.holder.load() == holder && holder->standing == Standing::Ready &&
                control.points.load(std::memory_order_relaxed) == points && holder->futex.load() == kAwake;
  if (asleep) {
    // If it wakes up now, it shall come here with its next access, and find that it does not have the turn.
    control.holder.store(nullptr, std::memory_order_seq_cst);
    if (holder->block != nullptr) __atomic_store_n(&holder->block->limit, nullptr, __ATOMIC_SEQ_CST);
    system_call(SYS_membarrier, 1 /* of all threads */, 0, 0);
    asleep = blind || state_of(tid) == 'S';
    if (!asleep) control.holder.store(holder, std::memory_order_seq_cst);
  }
  if (asleep) {
    if (holder->unseen != nullptr) absorb_unseen(holder);
    if (blind) note_blind_spot(holder);
    leave_ready(holder);
    holder->standing = Standing::Outside;
    ++control.outside;
    pass_turn(holder, CLEAVE_RUN_TAKEN, false);
  }
  leave_scheduler();
}

// Everybody else is outside: time goes by as it really does. This thread's may be over, and so may the
// patience with those that the plan waits for while it holds this one: all idle time counts, since a wait
// that times out again and again does not bring the plan on.
void look_while_idle(ControlThread* self) {
  if (control.replaying || control.holder.load() != nullptr) return;
  enter_scheduler();
  if (control.holder.load() == nullptr) {
    if (self->standing == Standing::Waiting && virtual_now() >= self->deadline) force_ready(self);
    if (self->standing == Standing::Held && idle_nanoseconds() - self->idle_at_hold > kPatience)
      stop_plan(CLEAVE_PLAN_STUCK, nullptr);
    if (control.ready_count != 0)
      if (ControlThread* next = pick(nullptr, false)) give_turn(next);
  }
  leave_scheduler();
}

// How long the thread sleeps before it looks up.
uint64_t longest_sleep(const ControlThread* self) {
  uint64_t look = kLookNanoseconds * (1 + control.thread_count / 16);
  if (self->standing != Standing::Waiting || self->deadline == UINT64_MAX || control.holder.load() != nullptr)
    return look;
  uint64_t now = virtual_now();
  uint64_t left = self->deadline > now ? self->deadline - now : 1000;
  return left < look ? left : look;
}

// The turn is often back within less time than it takes to fall asleep and be woken. How long to look is
// learned: longer after it came, shorter after it did not, so that a busy machine or a long run costs little.
bool comes_soon(const ControlThread* self) {
  uint32_t spins = control.spins.load(std::memory_order_relaxed);
  for (uint32_t left = spins; left != 0; --left) {
    if (self->futex.load(std::memory_order_relaxed) == kWoken) {
      control.spins.store(spins < kMostSpins / 2 ? spins * 2 : kMostSpins, std::memory_order_relaxed);
      return true;
    }
    __builtin_ia32_pause();
  }
  if (spins > kFewestSpins) control.spins.store(spins / 2, std::memory_order_relaxed);
  return false;
}

__attribute__((noinline)) void wait_for_turn(ControlThread* self) {
  bool stayed = control.holder.load() == self && self->turn == self->recorded_turn;
  if (self->open_record != nullptr && !stayed) settle_legs(self);
  Seen seen;
  for (;;) {
    self->futex.store(kAwake, std::memory_order_seq_cst);
    if (control.holder.load(std::memory_order_seq_cst) == self) break;
    if (comes_soon(self)) continue;
    uint32_t awake = kAwake;
    if (!self->futex.compare_exchange_strong(awake, kAsleep)) continue;
    uint64_t wait = longest_sleep(self);
    timespec limit{static_cast<time_t>(wait / 1000000000), static_cast<long>(wait % 1000000000)};
    long result = system_call(SYS_futex, reinterpret_cast<long>(&self->futex), FUTEX_WAIT_PRIVATE, kAsleep,
                              reinterpret_cast<long>(&limit));
    if (result != -ETIMEDOUT) continue;
    look_while_idle(self);
    look_after_holder(&seen);
  }
  self->clock_reads = 0;
  if (!control.many && self->unseen != nullptr) leave_stretch(self);
  if (control.leaving != 0) await_leaving();
  record_turn(self);
}

}  // namespace

void await_turn(ControlThread* self) {
  wait_for_turn(self);
  scrub_stack<kDeep>();
}

void control_main_begins() {
  if (state.mode.load() == Mode::Recording) record(kRecord_turn, 0, stamp_now());
}

void take_turn(ControlThread* self) {
  SignalsBlocked blocked;
  enter_scheduler();
  if (self->standing == Standing::Outside) {
    --control.outside;
    make_ready(self);
    if (control.holder.load() == nullptr) {
      ControlThread* next = pick(nullptr, false);
      if (next != nullptr) give_turn(next);
    }
  } else if (self->standing == Standing::Waiting) {  // a signal handler on top of a wait
    force_ready(self);
  }
  leave_scheduler();
  await_turn(self);
}

namespace {

// Whether the turn may go to somebody else at this point. Nothing but what the thread did so far decides.
bool decides(ControlThread* self, Point what, const cleave_segment* segment, uint64_t step, bool* yields) {
  // Within a stretch a thread comes to an access only because its buffer was full, or somebody looked after
  // it.
  bool access = control.many && what == CLEAVE_POINT_access,
       within = access && self->stretch >= self->asks_for;
  if (!within || self->stretch <= kWatchedWords) {
    const void* where = segment != nullptr ? static_cast<const void*>(segment) : self->place;
    if (comes_around(self, where, step, within ? kStretchWords / kWatchedWords : 1)) *yields = true;
  }
  if (within) return false;
  if (drain_is_spent()) return true;
  if (access) {
    self->stretch = control.timed_count == 0 ? kStretchWords : kWatchedWords;
    if (self->waits_in_loop()) *yields = true;
  }
  if (self->keeps_turn) {
    self->keeps_turn = false;
    return false;
  }
  if (self->run_points >= self->rest_at) {
    self->rest_at = self->run_points + control.longest_run;
    *yields = true;
  }
  if (!*yields && !control.policy->preempts(self, what) && !somebody_is_due()) return false;
  return control.ready_count != 1 || control.timed_count != 0;
}

__attribute__((noinline)) void come_to_point(ControlThread* self, Point what, const cleave_segment* segment,
                                             bool yields) {
  ensure_turn(self);
  if (control.sampling) sampling_executed(self);
  absorb(self);
  uint64_t step = count_point(self, what, segment);
  if (control.sampling) sampling_point(self, what, segment);
  if (control.replaying) {
    if (!replay_preempts(self)) {
      if (control.watching) plan_point(self, segment);
      return;
    }
  } else {
    if (control.planning) plan_point(self, segment);
    if (!decides(self, what, segment, step, &yields)) return;
  }
  SignalsBlocked blocked;
  enter_scheduler();
  pass_turn(self, CLEAVE_RUN_PREEMPTED, yields);
  leave_scheduler();
  await_turn(self);
  if (control.watching) plan_point(self, segment);
}

}  // namespace

void point(ControlThread* self, Point what, const cleave_segment* segment, bool yields) {
  come_to_point(self, what, segment, yields);
  scrub_stack<kShallow>();
}

void block(ControlThread* self, Point in, const volatile void* object, uint64_t deadline,
           const volatile void* mutex) {
  SignalsBlocked blocked;
  if (control.replaying) replay_gives_away(self, in);
  enter_scheduler();
  self->waits_in = in;
  self->object = object;
  self->mutex = mutex;
  self->deadline = deadline;
  self->woken = self->timed_out = false;
  self->standing = Standing::Waiting;
  leave_ready(self);
  enter_timed(self);
  enter_bucket(self);
  pass_turn(self, CLEAVE_RUN_GAVE_AWAY, false);
  leave_scheduler();
  await_turn(self);
  self->deadline = UINT64_MAX;
  self->waits_in = CLEAVE_POINT_none;
  scrub_stack<kShallow>();
}

void hold(ControlThread* self) {
  SignalsBlocked blocked;
  enter_scheduler();
  self->standing = Standing::Held;
  self->idle_at_hold = idle_nanoseconds();
  ++control.held;
  leave_ready(self);
  pass_turn(self, CLEAVE_RUN_PREEMPTED, false);
  leave_scheduler();
  await_turn(self);
}

void go_outside(ControlThread* self) {
  SignalsBlocked blocked;
  if (control.replaying) replay_gives_away(self, CLEAVE_POINT_call_out);
  enter_scheduler();
  self->standing = Standing::Outside;
  self->waits_in = CLEAVE_POINT_call_out;
  ++control.outside;
  leave_ready(self);
  pass_turn(self, CLEAVE_RUN_GAVE_AWAY, false);
  leave_scheduler();
  scrub_stack<kShallow>();
}

void come_back(ControlThread* self) {
  SignalsBlocked blocked;
  enter_scheduler();
  if (self->standing == Standing::Outside) --control.outside;
  make_ready(self);
  if (control.holder.load() == nullptr) {
    ControlThread* next = pick(nullptr, false);
    if (next != nullptr) give_turn(next);
  }
  leave_scheduler();
  await_turn(self);
  self->waits_in = CLEAVE_POINT_none;
  scrub_stack<kShallow>();
}

void end_turn(ControlThread* self) {
  SignalsBlocked blocked;
  if (control.replaying) replay_gives_away(self, CLEAVE_POINT_exit);
  enter_scheduler();
  self->standing = Standing::Ended;
  ++control.ended;
  if (self->index != 0) control.leaving = self->tid.load();
  leave_ready(self);
  if (control.planning) plan_ended(self);
  pass_turn(self, CLEAVE_RUN_GAVE_AWAY, false);
  leave_scheduler();
}

}  // namespace cleave::runtime
