// What a switch costs: two threads hand a turn to and fro, by a bare futex, or (built with Cleave, run under
// control) by yielding.
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

constexpr int kRounds = 100000;
std::atomic<unsigned> turn;

void by_futex(unsigned own) {
  for (int i = 0; i < kRounds; ++i) {
    for (unsigned now = turn.load(); now != own; now = turn.load())
      syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, now, nullptr, nullptr, 0);
    turn.store(1 - own);
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
}

void by_yield(unsigned) {
  for (int i = 0; i < kRounds; ++i) sched_yield();
}

int main(int count, char** arguments) {
  auto work = count > 1 && std::strcmp(arguments[1], "futex") == 0 ? by_futex : by_yield;
  std::thread first(work, 0u), second(work, 1u);
  first.join();
  second.join();
}
