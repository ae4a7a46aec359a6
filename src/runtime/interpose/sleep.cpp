// Sleeping is recorded so that a schedule can do without it.
#include <time.h>
#include <unistd.h>

#include "runtime/interpose/real.h"
#include "runtime/record/state.h"

namespace cleave::runtime {
namespace {

constexpr uint64_t kSecond = 1000000000;

void before_sleep(uint64_t nanoseconds) {
  if (!recording()) return;
  record(kRecord_sleep, nanoseconds);
  flush_if_old();
}

uint64_t nanoseconds_of(const timespec* time) {
  return time == nullptr
             ? 0
             : static_cast<uint64_t>(time->tv_sec) * kSecond + static_cast<uint64_t>(time->tv_nsec);
}

// An absolute time, as what is left until then.
uint64_t left_until(clockid_t clock, const timespec* until) {
  timespec now{};
  if (clock_gettime(clock, &now) != 0) return 0;
  uint64_t from = nanoseconds_of(&now), to = nanoseconds_of(until);
  return to > from ? to - from : 0;
}

}  // namespace
}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE int nanosleep(const timespec* time, timespec* left) {
  before_sleep(nanoseconds_of(time));
  return REAL(nanosleep)(time, left);
}
INTERPOSE int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  if (recording()) before_sleep((flags & TIMER_ABSTIME) ? left_until(clock, time) : nanoseconds_of(time));
  return REAL(clock_nanosleep)(clock, flags, time, left);
}
INTERPOSE int usleep(useconds_t microseconds) {
  before_sleep(static_cast<uint64_t>(microseconds) * 1000);
  return REAL(usleep)(microseconds);
}
INTERPOSE unsigned sleep(unsigned seconds) {
  before_sleep(seconds * kSecond);
  return REAL(sleep)(seconds);
}
