// A lock for the rare paths (thread registry, signal table). Never taken on the access path. Signals must be
// blocked while it is held, or a handler that needs it would wait for the thread it interrupted:
// SignalSafeLock does both.
#pragma once

#include <atomic>

#include "runtime/record/system.h"

namespace cleave::runtime {

class SpinLock {
 public:
  void lock() {
    for (unsigned turns = 0; flag_.exchange(true, std::memory_order_acquire); ++turns) {
      if (turns < 64)
        __builtin_ia32_pause();
      else
        yield_processor();
    }
  }
  void unlock() { flag_.store(false, std::memory_order_release); }
  // In the child of a fork: whoever held it is gone.
  void reset() { flag_.store(false, std::memory_order_relaxed); }

 private:
  std::atomic<bool> flag_{false};
};

class SignalSafeLock {
 public:
  explicit SignalSafeLock(SpinLock& lock) : lock_(lock) {
    uint64_t all = ~UINT64_C(0);
    system_call(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, reinterpret_cast<long>(&all),
                reinterpret_cast<long>(&mask_), 8);
    lock_.lock();
  }
  ~SignalSafeLock() {
    lock_.unlock();
    system_call(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, reinterpret_cast<long>(&mask_), 0, 8);
  }
  SignalSafeLock(const SignalSafeLock&) = delete;
  SignalSafeLock& operator=(const SignalSafeLock&) = delete;

 private:
  SpinLock& lock_;
  uint64_t mask_ = 0;
};

}  // namespace cleave::runtime
