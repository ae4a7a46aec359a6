// The scheduler inside the program: one turn, and a policy that is asked who has it next.
//
// Under control exactly one thread runs between two scheduling points: the holder of the turn. Everything
// that blocks is modelled: a thread that cannot go on gives the turn away and is woken when somebody does
// what it waits for. The real objects stay in use underneath (try-operations on them, which cannot block
// because nobody else runs), so code that was not instrumented sees them as they are.
//
// Thread contract. The scheduler's state is changed under `control.lock` with signals blocked: by the holder,
// and by threads that come back from a system call. What only the holder changes (waiting threads, virtual
// time) it may read without the lock.
//
// Cost: a point at which the holder goes on is some ten nanoseconds, and less where the policy lets many be
// looked at together; a switch is one futex wake and one futex wait.
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include <atomic>

#include "abi/control.h"
#include "abi/record.h"
#include "runtime/interpose/real.h"
#include "runtime/record/spin_lock.h"
#include "runtime/record/state.h"

namespace cleave::runtime {

using Point = cleave_point;

enum class Standing : uint8_t {
  Ready,    // could run, or runs
  Waiting,  // for `object`, and until `deadline` if it has one
  Outside,  // in a system call, without the turn
  Held,     // by the plan
  Ended,
};

// What the futex of a thread that waits for its turn says.
enum : uint32_t { kAwake, kWoken, kAsleep };

// A thread that has not given the turn away for so many points has to let others go first, whatever the
// policy says: it may well wait for them in a way that control_spin.cpp does not see.
inline constexpr uint64_t kLongestRun = UINT64_C(1) << 22;

struct ControlThread {
  std::atomic<uint32_t> futex{kAwake};
  uint32_t busy = 0;      // depth of SignalsBlocked
  bool deferred = false;  // a signal came meanwhile; all are blocked, and the mask was
  uint64_t deferred_mask = 0;
  bool cancelled_anywhere = false;  // asynchronous cancellation: a signal that is not ours to defer
  uint32_t index = 0, parent = 0, ordinal = 0, children = 0;
  uint32_t request = CLEAVE_NO_PLACE;  // same path in the request's tree
  std::atomic<int> tid{0};
  std::atomic<bool> arrived{false};      // it waits for its first turn
  uint64_t turn = 0, recorded_turn = 0;  // number of its newest turn, and of the one that its trace knows of
  uint32_t clock_reads = 0;              // in this turn
  pthread_t handle{};
  bool handle_known = false, cancelled = false;
  std::atomic<bool> reaps{
      false};  // waits, with the turn, for the system to be done with a thread that has ended
  uint32_t exit_rounds = 0;
  void* (*start)(void*) = nullptr;
  void* argument = nullptr;

  Standing standing = Standing::Ready;
  Point waits_in = CLEAVE_POINT_none;
  const volatile void* object = nullptr;
  const volatile void* mutex = nullptr;
  uint64_t deadline = UINT64_MAX;  // virtual nanoseconds
  uint64_t idle_at_hold = 0;       // idle_nanoseconds() when the plan began to hold it
  bool woken = false;              // somebody did what it waits for
  bool timed_out = false;
  ControlThread *bucket_next = nullptr, *bucket_previous = nullptr;
  bool in_bucket = false;
  uint32_t ready_slot = CLEAVE_NO_PLACE, timed_slot = CLEAVE_NO_PLACE;

  uint64_t run_points = 0;         // of the current run
  uint64_t rest_at = kLongestRun;  // so many of them, and others go first
  uint64_t points = 0;
  uint64_t chain = 0;          // hash of everything it did
  uint64_t counted_chain = 0;  // the same at its last point
  uint32_t grouped = 0;        // points that have no fingerprint yet
  uint64_t step = 0;           // hash of what it did since its last point
  uint64_t raw_step = 0;       // the same with addresses: a walk through equal values is no loop that waits
  uint64_t value = 0;          // of that, for people: the one word that is no address, or the hash
  uint32_t value_words = 0;
  const uint64_t* record = nullptr;         // where the segment that runs now is recorded
  const cleave_segment* segment = nullptr;  // that segment: a name, its library may be gone by now
  uint32_t segment_words = 0;               // of it
  bool first_leg = true;                    // of that segment: the branches in the record's header are its
  uint32_t earlier_words = 0;               // of it, of legs before that one
  uint64_t* open_record = nullptr;  // of all legs of a segment; the thread is at the point before `open_leg`
  const cleave_segment* open_leg = nullptr;
  uint64_t open_words[CLEAVE_SEGMENT_MAX_WORDS];  // what its legs had stored when it was parted
  const cleave_segment* place = nullptr;          // last segment of the thread: where it is, for people

  // Many points at once (control_many.cpp).
  cleave_thread_block* block = nullptr;  // of the inline code
  const uint64_t* unseen = nullptr;  // the records from here to the block's cursor are not in the hashes yet
  bool pointed = false;              // the first of them has had its first point
  uint64_t stretch = 0;              // words left until the scheduler decides again
  uint64_t asks_for = 0;             // words of the record that is about to be written

  // A loop that does the same again and again (control_spin.cpp).
  const void* anchor = nullptr;
  uint64_t loop_hash = 0, last_loop_hash = 0;
  uint32_t repeats = 0, loop_length = 0;
  bool spinning = false;
  // The same with a loop that counts its rounds: an atomic operation that finds the same and changes nothing.
  const void* polled = nullptr;  // where it is
  uint64_t polled_value = 0;
  uint32_t polls = 0, other_atomics = 0;
  bool polling = false;
  bool waits_in_loop() const { return spinning || polling; }

  int64_t priority = 0;                     // pct, pos: of what it is about to do
  const cleave_segment* pending = nullptr;  // pos, rf: the access that it is about to make
  uint32_t speed = 1;                       // random: how often it is chosen, beside the others
  uint32_t* visits = nullptr;               // plan: of each group
  uint32_t milestone = CLEAVE_NO_PLACE;     // plan: its next
  uint32_t not_arrived =
      CLEAVE_NO_PLACE;      // plan: the first it has not come to; those before it wait for a point
  bool keeps_turn = false;  // plan: what its milestone stands for must happen before anybody else runs
  uint32_t check = CLEAVE_NO_PLACE;  // plan: milestone whose value is known at the next point
  uint64_t next_switch = 0;          // switches: the first that may still come
  uint64_t pinned_at = UINT64_MAX;   // replay: its next value from outside
};

// The oracle. Must not block.
struct PolicyFunctions {
  // The holder could go on: shall somebody else be considered? At every point, without the lock: cheap.
  bool (*preempts)(ControlThread* holder, Point point);
  // Who of the ready threads is next, under the lock. `holder` is null when it cannot go on; `yields` when it
  // had rather not. There is at least one ready thread.
  ControlThread* (*choose)(ControlThread* holder, bool yields);
};

struct Control {
  bool on = false;
  bool noise = false;
  bool replaying = false, planning = false;
  bool watching = false;  // replay: milestones are told to a debugger
  bool many =
      false;  // nobody is preempted at an access: many are recorded before the scheduler looks at them
  std::atomic<uint32_t> spins{0};  // looks for the turn before a thread goes to sleep
  SpinLock lock;
  std::atomic<ControlThread*> holder{nullptr};
  uint64_t turns = 0;              // handed out so far
  ControlThread* wakes = nullptr;  // who is to be woken when the lock is given back
  int leaving = 0;                 // tid of a thread that has ended its last turn, but may not be gone yet
  const PolicyFunctions* policy = nullptr;
  cleave_control_header* file = nullptr;
  uint64_t random = 0;

  ControlThread** threads = nullptr;
  uint32_t thread_count = 0;
  ControlThread** by_request = nullptr;
  ControlThread** ready = nullptr;
  uint32_t ready_count = 0;
  ControlThread** timed = nullptr;
  uint32_t timed_count = 0;
  uint32_t outside = 0, held = 0, ended = 0;
  bool reconsider = false;  // somebody became ready since the last choice
  // Virtual time: so much for each point, and what was skipped, given to those who asked the time, or really
  // waited while everybody was outside (control_time.cpp). Changed by the holder, or under the lock while
  // nobody holds.
  std::atomic<uint64_t> skipped{0};
  std::atomic<uint64_t> idle_since{0};   // real time at which the turn became nobody's; 0: somebody has it
  std::atomic<uint64_t> idle_before{0};  // nanoseconds for which it was nobody's before that, all in all
  uint64_t next_due = UINT64_MAX;        // no deadline is earlier than this
  std::atomic<uint64_t> points{0};       // written by the holder only
  uint64_t progress = 0;                 // tells a deadlock from a chance to look again
  uint64_t progress_at_probe = UINT64_MAX;
  uint64_t spin_yields = 0;  // since somebody did something new
  uint64_t polls = 0;        // of threads that do nothing else, while all that could run do that
  uint64_t longest_run = kLongestRun;

  uint64_t pct_next = UINT64_MAX;  // point of the next priority change
  uint32_t pct_changes = 0;
  int64_t pct_lowest = 0;
  uint64_t access_odds = 2;  // random: one in so many; 0: never
  uint32_t starters_speed = 1;

  bool sampling = false;          // pos, rf
  uint32_t constraint_count = 0;  // rf

  uint32_t plan_next = 0, plan_total = 0;
  uint64_t replay_run = 0;

  ControlThread* draining = nullptr;     // it is about to end the process, and lets the others go on first
  uint64_t drain_until = 0;              // that point
  uint64_t drain_deadline = UINT64_MAX;  // who sleeps for longer is not waited for
};
extern Control control;
extern __thread ControlThread* controlled __attribute__((tls_model("initial-exec")));

inline constexpr uint32_t kControlThreads = 1u << 20;
inline constexpr uint32_t kFewestSpins = 32, kMostSpins = 8192;  // about 1 to 200 microseconds
// Deadline of a wait that may end without a reason (--spurious).
inline constexpr uint64_t kSpurious = UINT64_MAX - 1;

// The calling thread if it is scheduled by us; null if not (not under control, in a fork's child, after its
// end).
inline ControlThread* controlled_self() { return __builtin_expect(control.on, 0) ? controlled : nullptr; }

inline uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

// Keeps signal handlers away while the scheduler's own state is in motion, and until the thread has the turn.
// Two system calls would cost as much as the switch itself, so the program's handlers, which are ours in a
// controlled run, are only told to come back later: signals.cpp, defer().
class SignalsBlocked {
 public:
  SignalsBlocked() : self_(controlled), cheap_(self_ != nullptr && !self_->cancelled_anywhere) {
    if (cheap_) {
      ++self_->busy;
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      uint64_t all = ~UINT64_C(0);
      system_call(SYS_rt_sigprocmask, 0, reinterpret_cast<long>(&all), reinterpret_cast<long>(&mask_), 8);
    }
  }
  ~SignalsBlocked() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (!cheap_) {
      restore(mask_);
    } else if (--self_->busy == 0 && __builtin_expect(self_->deferred, 0)) {
      self_->deferred = false;
      restore(self_->deferred_mask);
    }
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  static void restore(uint64_t mask) {
    system_call(SYS_rt_sigprocmask, 2, reinterpret_cast<long>(&mask), 0, 8);
  }

  ControlThread* self_;
  bool cheap_;
  uint64_t mask_ = 0;
};

// Takes the lock; gives it back and wakes whoever got the turn meanwhile, who would otherwise wake up to a
// lock that is held.
void enter_scheduler();
void leave_scheduler();

class ControlLock {
 public:
  ControlLock() { enter_scheduler(); }
  ~ControlLock() { leave_scheduler(); }

 private:
  SignalsBlocked blocked_;
};

// --- control.cpp: start, what the hooks call
void start_control();  // from initialise(); nothing unless CLEAVE_CONTROL is set
void control_module(const cleave_module* module);
void control_module_gone(const cleave_module* module);  // about to be unloaded
void control_segment(const cleave_segment* segment);    // from __cleave_reserve, before room is made
void control_settle();                                  // before the buffer is given away
void control_moved();                                   // afterwards: the cursor stands somewhere else
void control_range(const cleave_segment* segment);
void control_atomic_begin(const cleave_segment* segment);
void control_atomic_end(uint64_t old_value, uint64_t new_value);
void control_thread_begins();    // the thread has its number; waits for its first turn
void control_main_begins();      // the main thread has it from the start
void control_point(Point what);  // before a synchronization operation takes its ticket
void stop_control_in_child();

// For interposers whose operation takes effect, or its ticket, before anything here is called.
inline void scheduling_point(Point what) {
  if (__builtin_expect(state.controlled, 0)) control_point(what);
}

// --- reserve.cpp: somebody else gets the turn between two legs: those that have run become records of their
// own.
void settle_legs(ControlThread* self);

// --- control_file.cpp: what stands in the file
template <typename Entry>
Entry* entries(const cleave_control_area& area) {
  return reinterpret_cast<Entry*>(reinterpret_cast<char*>(control.file) + area.offset);
}
template <typename Entry>
uint64_t count_of(const cleave_control_area& area) {
  return area.used / sizeof(Entry);
}
template <typename Entry>
Entry* append(cleave_control_area& area) {
  if (area.used + sizeof(Entry) > area.capacity) return nullptr;
  Entry* entry = reinterpret_cast<Entry*>(reinterpret_cast<char*>(control.file) + area.offset + area.used);
  area.used += sizeof(Entry);
  return entry;
}
bool attach_control_file(const char* path);
void log_thread(ControlThread* thread);
void log_run(ControlThread* thread, uint32_t how);
// Of the points that have none. In a replay it is compared first.
void log_fingerprint(ControlThread* thread, uint64_t chain, Point what, const cleave_segment* segment);
void fill_step(cleave_control_step* step, ControlThread* thread, Point point, const cleave_segment* segment);
void log_module(const cleave_module* module);
void locate(const cleave_segment* segment, uint32_t* module, uint32_t* index);
// A value from outside: in a replay what it was then, else what is in `bytes`, which is noted.
void pin(ControlThread* thread, cleave_pinned source, void* bytes, uint64_t size);
// The same for a number of the scheduler's own.
uint32_t pin_choice(ControlThread* thread, uint32_t choice);

// --- control_turn.cpp
void point(ControlThread* self, Point what, const cleave_segment* segment = nullptr, bool yields = false);
// A thread that does not have the turn (a signal handler's, one it was taken from) waits for it.
void take_turn(ControlThread* self);
inline void ensure_turn(ControlThread* self) {
  if (__builtin_expect(control.holder.load(std::memory_order_relaxed) != self, 0)) take_turn(self);
}
// The holder cannot go on until woken, timed out, or asked to look again. Returns with the turn.
void block(ControlThread* self, Point in, const volatile void* object, uint64_t deadline = UINT64_MAX,
           const volatile void* mutex = nullptr);
// Around a call that may block outside: gives the turn away, takes it back.
void go_outside(ControlThread* self);
void come_back(ControlThread* self);
void hold(ControlThread* self);      // by the plan; returns with the turn
void end_turn(ControlThread* self);  // the thread has ended
void await_turn(ControlThread* self);
void give_turn(ControlThread* next);  // under the lock

// --- control_sets.cpp: ready, timed, waiting. Under the lock unless said otherwise.
void make_ready(ControlThread* thread);
void leave_ready(ControlThread* thread);
void enter_timed(ControlThread* thread);
void leave_timed(ControlThread* thread);
void enter_bucket(ControlThread* thread);
void force_ready(ControlThread* thread);  // it looks again, or finds its time over
bool probe_waiting();                     // all whose condition can be looked at again become ready
void wake_one(ControlThread* thread);
bool all_ready_spin();
// The first of those whose deadline is not after `now`, which all become ready; null if there is none.
ControlThread* expire(uint64_t now);
ControlThread* earliest();  // of those with a deadline; null when all could only wake spuriously
// By the holder; take the lock themselves.
uint32_t wake(const volatile void* object, uint32_t most = UINT32_MAX);
uint32_t count_waiters(const volatile void* object, Point in);
ControlThread* waiter_at(const volatile void* object, Point in, uint32_t number);
void wake_waiter(ControlThread* thread);

// --- control_policy.cpp
uint64_t next_random();
uint64_t random_below(uint64_t bound);
const PolicyFunctions* policy_functions(uint32_t policy);
void start_policy();
void policy_new_thread(ControlThread* thread);
void make_noise(Point point);
ControlThread* next_in_turn(ControlThread* after);  // ready, not spinning if there is one

// --- control_many.cpp: points that are looked at together
inline constexpr uint64_t kStretchWords = UINT64_C(1) << 16;  // of records between two decisions
inline constexpr uint64_t kWatchedWords = UINT64_C(1)
                                          << 11;  // of these the last, where loops that wait are looked for
void absorb_unseen(ControlThread* self);
// The same up to the point before `leg` of `record`, from where on the thread comes to every point.
void absorb_up_to(ControlThread* self, const uint64_t* record, const cleave_segment* leg);
// The thread was interrupted in the middle of its last record, and will not go on.
void control_crashed();
// The record that begins at `record` has had its first point; so many words may be written before the thread
// asks.
uint64_t* begin_stretch(ControlThread* self, const uint64_t* record);
void leave_stretch(ControlThread* self);  // by the thread itself, when everything is absorbed
void no_stretches();                      // from now on; by the holder

// --- control_spin.cpp
// The thread is at its anchor again, which counts as `weight` times. True when nothing changed on the way: it
// had rather yield.
bool watch_loop(ControlThread* self, uint64_t weight);
// The anchor did not come back: a new one.
void drop_anchor(ControlThread* self, const void* place);
// The thread has done an atomic operation at its place. True when it had rather yield at its next point.
void watch_polls(ControlThread* self, uint64_t old_value, uint64_t new_value);
inline constexpr uint32_t kLongestLoop = 64;  // points

// --- control_drain.cpp: main returns, or somebody calls exit, while other threads could go on
void control_drain();
bool drain_is_spent();       // they have had all the points that they get
ControlThread* end_drain();  // under the lock: the thread that ends the process, which is ready again

// --- control_plan.cpp
void start_plan();
bool watches_milestones();
void plan_new_thread(ControlThread* thread);
// A thread is held at points only, and after the point was counted: else a replay would not know where it
// stood.
void plan_pass(ControlThread* self, const cleave_segment* segment);   // a segment without a point
void plan_point(ControlThread* self, const cleave_segment* segment);  // null: a point in a call
void plan_check_value(ControlThread* self);
void plan_ended(ControlThread* thread);
void stop_plan(cleave_plan_why why, ControlThread* thread);  // under the lock
extern const PolicyFunctions kPlanPolicy;

// --- control_switches.cpp
void switches_new_thread(ControlThread* thread);
// Under the lock: to whom `holder` shall hand over now, if a switch says so and that thread can run or its
// wait has a deadline; null otherwise. Each switch is asked for once.
ControlThread* take_switch(ControlThread* holder, uint32_t how);
extern const PolicyFunctions kSwitchesPolicy;

// --- control_sampling.cpp: partial order sampling, and reads-from constraints on top of it
void start_sampling();
// The thread is at a new point: what it did at the last one has happened. By the holder, before it is
// decided who goes on.
void sampling_point(ControlThread* self, Point what, const cleave_segment* segment);
// What the record of its last point says, before it is absorbed.
void sampling_executed(ControlThread* self);
void draw_priority(ControlThread* thread);
extern const PolicyFunctions kPosPolicy, kRfPolicy;

// --- control_replay.cpp
void replay_point(ControlThread* self, Point what, const cleave_segment* segment);
// The next fingerprint, of the thread's last `points` points.
void replay_fingerprint(ControlThread* self, uint8_t fingerprint, uint32_t points, Point what,
                        const cleave_segment* segment);
bool replay_preempts(ControlThread* self);
bool replay_drains(const ControlThread* self);
bool replay_takes_turn(const ControlThread* holder);  // where it slept and lost the turn then
void replay_gives_away(ControlThread* self, Point what);
ControlThread* replay_next();  // under the lock
[[noreturn]] void diverged(cleave_divergence how, ControlThread* thread, Point what,
                           const cleave_segment* segment, uint64_t detail = 0);

// --- control_report.cpp
void describe_waits();
ControlThread* thread_of_tid(int tid);
ControlThread* has_object(const ControlThread* waiter);  // who has what it waits for
bool waits_in_circle();  // threads that wait for one another, whatever the others do
void note_lost_signal(const volatile void* condition, ControlThread* by);
[[noreturn]] void end_process(cleave_control_end end);

// --- control_threads.cpp, control_locks.cpp, control_waits.cpp, control_time.cpp: they replace the real
// functions
ControlThread* new_control_thread(ControlThread* parent);
extern RealFunctions original;  // what was in `real` before we replaced it
void watch_thread_exit(ControlThread* self);
void await_leaving();  // by the holder
void replace_thread_calls();
void replace_lock_calls();
void replace_wait_calls();
void replace_time_calls();

// --- control_time.cpp: virtual time. It does not depend on how fast the machine is, or two runs with the
// same seed would differ; only while everybody is outside it goes with the real one.
void start_clocks();
uint64_t virtual_now();
uint64_t deadline_of(clockid_t clock, const timespec* time);
uint64_t deadline_in(const timespec& time);
uint64_t idle_nanoseconds();  // for which the turn was nobody's, in real time, all in all
void begin_idle();            // under the lock: the turn is nobody's
void end_idle();              // under the lock: somebody gets it
inline bool somebody_is_due() { return control.timed_count != 0 && virtual_now() >= control.next_due; }

}  // namespace cleave::runtime
