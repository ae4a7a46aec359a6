// How far long work has come, told by whoever works and drawn by ProgressLine on a terminal.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace cleave {

// Several threads may work; telling costs one store.
class Progress {
 public:
  // What is counted from now on: "events judged", and how many there are in all, 0 if that is not known.
  void begin(std::string what, uint64_t of = 0) {
    std::lock_guard guard(mutex_);
    what_ = std::move(what);
    of_ = of;
    done_ = 0;
  }
  void more(uint64_t count = 1) { done_.fetch_add(count, std::memory_order_relaxed); }

  // "31.2 million events judged", "3 of 17 candidates decided", "reading the trace" while nothing was
  // counted.
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::string what_;
  uint64_t of_ = 0;
  std::atomic<uint64_t> done_ = 0;
};

// One line on a terminal, drawn over again; gone when the work is done. Draws nothing if `descriptor` is no
// terminal, or before `patience` has passed.
class ProgressLine {
 public:
  ProgressLine(int descriptor, std::chrono::milliseconds patience = std::chrono::milliseconds(1000));
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  Progress& progress() { return progress_; }
  // Takes the line away; nothing is drawn any more.
  void clear();

 private:
  Progress progress_;
  int descriptor_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace cleave
