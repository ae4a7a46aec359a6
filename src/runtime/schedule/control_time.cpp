// Time under control. Nobody sleeps: a sleep is a wait that ends when the scheduler likes, at the latest when
// its time is over or nobody else can run, and the clocks are put forward by what was not slept. They are
// virtual: every point takes some time, and every look at a clock. What the program reads is noted and given
// back in a replay, like random bytes and thread ids.
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>

#include "runtime/schedule/control.h"

namespace cleave::runtime {
namespace {

constexpr uint64_t kSecond = 1000000000;
constexpr uint64_t kPointNanoseconds = 100;
constexpr uint64_t kReadNanoseconds = 1000;
constexpr uint32_t kReadsInATurn = 64;

uint64_t nanoseconds(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * kSecond + static_cast<uint64_t>(time.tv_nsec);
}
timespec time_of(uint64_t nanoseconds) {
  return {static_cast<time_t>(nanoseconds / kSecond), static_cast<long>(nanoseconds % kSecond)};
}

// What the clocks said when control began, those of the processor apart: they begin at zero.
constexpr clockid_t kClocks = 12;
uint64_t at_start[kClocks];

uint64_t real_now() {
  timespec now{};
  system_call(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&now));
  return nanoseconds(now);
}

int virtual_clock(clockid_t clock, timespec* time) {
  control_settle();
  if (clock == CLOCK_THREAD_CPUTIME_ID) {
    *time = time_of(controlled->points * kPointNanoseconds);
    return 0;
  }
  if (clock == CLOCK_PROCESS_CPUTIME_ID) {
    *time = time_of(control.points.load(std::memory_order_relaxed) * kPointNanoseconds);
    return 0;
  }
  if (clock < 0 || clock >= kClocks || at_start[clock] == 0) return REAL(clock_gettime)(clock, time);
  *time = time_of(at_start[clock] + virtual_now());
  return 0;
}

// Who asks for the time takes some. Who does nothing else waits for it to pass, or for somebody else to do
// something until then: others go first.
void ask_the_time(ControlThread* self) {
  if (control.holder.load(std::memory_order_relaxed) != self) return;
  control.skipped.fetch_add(kReadNanoseconds, std::memory_order_relaxed);
  if (++self->clock_reads % kReadsInATurn == 0) point(self, CLEAVE_POINT_yield, nullptr, true);
}

void sleep_until(ControlThread* self, uint64_t deadline) {
  point(self, CLEAVE_POINT_sleep, nullptr);
  block(self, CLEAVE_POINT_sleep, self, deadline);
  if (self->cancelled) pthread_testcancel();
}

int controlled_nanosleep(const timespec* time, timespec* left) {
  ControlThread* self = controlled_self();
  if (self == nullptr || time->tv_nsec < 0 || static_cast<uint64_t>(time->tv_nsec) >= kSecond ||
      time->tv_sec < 0)
    return original.nanosleep(time, left);
  sleep_until(self, deadline_in(*time));
  if (left != nullptr) *left = {};
  return 0;
}

int controlled_clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  ControlThread* self = controlled_self();
  if (self == nullptr || time->tv_nsec < 0 || static_cast<uint64_t>(time->tv_nsec) >= kSecond ||
      time->tv_sec < 0)
    return original.clock_nanosleep(clock, flags, time, left);
  bool absolute = flags & TIMER_ABSTIME;
  sleep_until(self, absolute ? deadline_of(clock, time) : deadline_in(*time));
  if (left != nullptr && !absolute) *left = {};
  return 0;
}

int controlled_usleep(useconds_t microseconds) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return original.usleep(microseconds);
  sleep_until(self, deadline_in(time_of(static_cast<uint64_t>(microseconds) * 1000)));
  return 0;
}

unsigned controlled_sleep(unsigned seconds) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return original.sleep(seconds);
  sleep_until(self, deadline_in({static_cast<time_t>(seconds), 0}));
  return 0;
}

}  // namespace

void start_clocks() {
  for (clockid_t clock = 0; clock < kClocks; ++clock) {
    timespec now{};
    bool of_the_processor = clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
    if (!of_the_processor && REAL(clock_gettime)(clock, &now) == 0) at_start[clock] = nanoseconds(now);
  }
}

uint64_t virtual_now() {
  uint64_t now = control.points.load(std::memory_order_relaxed) * kPointNanoseconds +
                 control.skipped.load(std::memory_order_relaxed);
  uint64_t since = control.idle_since.load(std::memory_order_relaxed);
  return since == 0 ? now : now + (real_now() - since);
}

uint64_t idle_nanoseconds() {
  uint64_t since = control.idle_since.load(std::memory_order_relaxed);
  return control.idle_before.load(std::memory_order_relaxed) + (since == 0 ? 0 : real_now() - since);
}

void begin_idle() { control.idle_since.store(real_now(), std::memory_order_relaxed); }

void end_idle() {
  uint64_t since = control.idle_since.load(std::memory_order_relaxed);
  if (since == 0) return;
  control.idle_since.store(0, std::memory_order_relaxed);
  uint64_t idle = real_now() - since;
  control.skipped.fetch_add(idle, std::memory_order_relaxed);
  control.idle_before.fetch_add(idle, std::memory_order_relaxed);
}

uint64_t deadline_in(const timespec& time) {
  control_settle();
  uint64_t deadline = virtual_now() + nanoseconds(time);
  return deadline < virtual_now() || deadline >= kSpurious ? kSpurious - 1 : deadline;
}

uint64_t deadline_of(clockid_t clock, const timespec* time) {
  control_settle();
  timespec now{};
  virtual_clock(clock, &now);
  uint64_t then = time->tv_sec < 0 ? 0 : nanoseconds(*time);
  uint64_t left = then > nanoseconds(now) ? then - nanoseconds(now) : 0;
  return deadline_in(time_of(left));
}

void replace_time_calls() {
  real.nanosleep = controlled_nanosleep;
  real.clock_nanosleep = controlled_clock_nanosleep;
  real.usleep = controlled_usleep;
  real.sleep = controlled_sleep;
}

}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE int clock_gettime(clockid_t clock, timespec* time) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return REAL(clock_gettime)(clock, time);
  ask_the_time(self);
  int result = virtual_clock(clock, time);
  if (result == 0) pin(self, CLEAVE_PINNED_TIME, time, sizeof *time);
  return result;
}

INTERPOSE int gettimeofday(timeval* time, void* zone) {
  ControlThread* self = controlled_self();
  int result = REAL(gettimeofday)(time, zone);
  if (self == nullptr || result != 0) return result;
  ask_the_time(self);
  timespec now{};
  virtual_clock(CLOCK_REALTIME, &now);
  *time = {now.tv_sec, now.tv_nsec / 1000};
  pin(self, CLEAVE_PINNED_TIME, time, sizeof *time);
  return 0;
}

INTERPOSE time_t time(time_t* place) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return REAL(time)(place);
  ask_the_time(self);
  timespec now{};
  virtual_clock(CLOCK_REALTIME, &now);
  time_t seconds = now.tv_sec;
  pin(self, CLEAVE_PINNED_TIME, &seconds, sizeof seconds);
  if (place != nullptr) *place = seconds;
  return seconds;
}

INTERPOSE int timespec_get(timespec* time, int base) {
  if (controlled_self() == nullptr || base != TIME_UTC) return REAL(timespec_get)(time, base);
  return clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

INTERPOSE clock_t clock() {
  if (controlled_self() == nullptr) return REAL(clock)();
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<clock_t>(nanoseconds(used) / (kSecond / CLOCKS_PER_SEC));
}

// Of what these count we know only that it is time.
INTERPOSE int getrusage(__rusage_who_t who, rusage* usage) {
  int result = REAL(getrusage)(who, usage);
  ControlThread* self = controlled_self();
  if (self != nullptr && result == 0) pin(self, CLEAVE_PINNED_TIME, usage, sizeof *usage);
  return result;
}

INTERPOSE clock_t times(tms* used) {
  clock_t result = REAL(times)(used);
  ControlThread* self = controlled_self();
  if (self == nullptr) return result;
  pin(self, CLEAVE_PINNED_TIME, &result, sizeof result);
  if (used != nullptr) pin(self, CLEAVE_PINNED_TIME, used, sizeof *used);
  return result;
}

INTERPOSE ssize_t getrandom(void* bytes, size_t size, unsigned flags) {
  ssize_t result = REAL(getrandom)(bytes, size, flags);
  ControlThread* self = controlled_self();
  if (self != nullptr && result > 0) pin(self, CLEAVE_PINNED_RANDOM, bytes, static_cast<uint64_t>(result));
  return result;
}

INTERPOSE int getentropy(void* bytes, size_t size) {
  int result = REAL(getentropy)(bytes, size);
  ControlThread* self = controlled_self();
  if (self != nullptr && result == 0) pin(self, CLEAVE_PINNED_RANDOM, bytes, size);
  return result;
}

INTERPOSE uint32_t arc4random() {
  uint32_t value = REAL(arc4random)();
  if (ControlThread* self = controlled_self()) pin(self, CLEAVE_PINNED_RANDOM, &value, sizeof value);
  return value;
}

// std::random_device asks the processor, inside libstdc++.
INTERPOSE unsigned _ZNSt13random_device9_M_getvalEv(void* device) {
  unsigned value = REAL(_ZNSt13random_device9_M_getvalEv)(device);
  if (ControlThread* self = controlled_self()) pin(self, CLEAVE_PINNED_RANDOM, &value, sizeof value);
  return value;
}

INTERPOSE pid_t gettid() {
  pid_t id = current_tid();
  if (ControlThread* self = controlled_self()) pin(self, CLEAVE_PINNED_THREAD_ID, &id, sizeof id);
  return id;
}
