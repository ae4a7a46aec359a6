// Time under control. Nobody sleeps: a sleep is a wait that ends when the scheduler likes, at the latest when nobody
// else can run, and the clocks that the program reads are put forward by what was not slept. What it reads is noted and
// given back in a replay, like random bytes and thread ids.
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>

#include "runtime/control.h"

namespace cleave::runtime {
namespace {

constexpr uint64_t kSecond = 1000000000;

uint64_t nanoseconds(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * kSecond + static_cast<uint64_t>(time.tv_nsec);
}
timespec time_of(uint64_t nanoseconds) {
  return {static_cast<time_t>(nanoseconds / kSecond), static_cast<long>(nanoseconds % kSecond)};
}

bool runs_with_the_world(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
    case CLOCK_TAI:
      return true;
    default:  // processor time
      return false;
  }
}

int virtual_clock(clockid_t clock, timespec* time) {
  int result = REAL(clock_gettime)(clock, time);
  if (result == 0 && runs_with_the_world(clock))
    *time = time_of(nanoseconds(*time) + control.skipped.load(std::memory_order_relaxed));
  return result;
}

void sleep_until(ControlThread* self, uint64_t deadline) {
  point(self, CLEAVE_POINT_sleep, nullptr);
  block(self, CLEAVE_POINT_sleep, self, deadline);
  if (self->cancelled) pthread_testcancel();
}

int controlled_nanosleep(const timespec* time, timespec* left) {
  ControlThread* self = controlled_self();
  if (self == nullptr || time->tv_nsec < 0 || static_cast<uint64_t>(time->tv_nsec) >= kSecond || time->tv_sec < 0)
    return original.nanosleep(time, left);
  sleep_until(self, virtual_now() + nanoseconds(*time));
  if (left != nullptr) *left = {};
  return 0;
}

int controlled_clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  ControlThread* self = controlled_self();
  if (self == nullptr || time->tv_nsec < 0 || static_cast<uint64_t>(time->tv_nsec) >= kSecond || time->tv_sec < 0)
    return original.clock_nanosleep(clock, flags, time, left);
  bool absolute = flags & TIMER_ABSTIME;
  sleep_until(self, absolute ? deadline_of(clock, time) : virtual_now() + nanoseconds(*time));
  if (left != nullptr && !absolute) *left = {};
  return 0;
}

int controlled_usleep(useconds_t microseconds) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return original.usleep(microseconds);
  sleep_until(self, virtual_now() + static_cast<uint64_t>(microseconds) * 1000);
  return 0;
}

unsigned controlled_sleep(unsigned seconds) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return original.sleep(seconds);
  sleep_until(self, virtual_now() + seconds * kSecond);
  return 0;
}

}  // namespace

uint64_t deadline_of(clockid_t clock, const timespec* time) {
  timespec now{};
  virtual_clock(clock, &now);
  uint64_t then = time->tv_sec < 0 ? 0 : nanoseconds(*time);
  uint64_t left = then > nanoseconds(now) ? then - nanoseconds(now) : 0;
  uint64_t deadline = virtual_now() + left;
  return deadline < virtual_now() || deadline >= kSpurious ? kSpurious - 1 : deadline;
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
  int result = virtual_clock(clock, time);
  if (result == 0) pin(self, CLEAVE_PINNED_TIME, time, sizeof *time);
  return result;
}

INTERPOSE int gettimeofday(timeval* time, void* zone) {
  ControlThread* self = controlled_self();
  int result = REAL(gettimeofday)(time, zone);
  if (self == nullptr || result != 0) return result;
  timespec now{};
  virtual_clock(CLOCK_REALTIME, &now);
  *time = {now.tv_sec, now.tv_nsec / 1000};
  pin(self, CLEAVE_PINNED_TIME, time, sizeof *time);
  return 0;
}

INTERPOSE time_t time(time_t* place) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return REAL(time)(place);
  timespec now{};
  virtual_clock(CLOCK_REALTIME, &now);
  time_t seconds = now.tv_sec;
  pin(self, CLEAVE_PINNED_TIME, &seconds, sizeof seconds);
  if (place != nullptr) *place = seconds;
  return seconds;
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
