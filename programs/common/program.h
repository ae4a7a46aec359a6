// The C++ side of what the programs share (see options.h): threads to start and join, and Racy.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "common/options.h"

// Runs work(0) … work(count - 1), each in a thread of its own, and waits for all of them.
template <class Work>
void run_threads(unsigned count, Work work) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (unsigned i = 0; i < count; i++) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

// A variable that the original program shares without protection. Default build: a relaxed atomic whose ++ and += are
// a read and a write, so that ThreadSanitizer is silent and the violation stays. With -DRAW: a plain variable
// (volatile, so that every access of the source is made).
#ifdef RAW
template <class T>
using Racy = volatile T;
#else
template <class T>
class Racy {
 public:
  Racy(T value = T()) : value_(value) {}
  Racy(const Racy& other) : value_(T(other)) {}
  operator T() const { return value_.load(std::memory_order_relaxed); }
  T operator=(T value) {
    value_.store(value, std::memory_order_relaxed);
    return value;
  }
  T operator=(const Racy& other) { return *this = T(other); }
  T operator->() const { return T(*this); }

 private:
  std::atomic<T> value_;
};
#endif
