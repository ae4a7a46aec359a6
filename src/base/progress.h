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
    bytes_read_ = bytes_of_ = 0;
  }
  void more(uint64_t count = 1) { done_.fetch_add(count, std::memory_order_relaxed); }
  // How much of the file has been read, until the next begin().
  void bytes(uint64_t read, uint64_t of) {
    bytes_read_.store(read, std::memory_order_relaxed);
    bytes_of_.store(of, std::memory_order_relaxed);
  }

  // "31.2 million events judged, 412 of 2301 MB", "3 of 17 candidates decided", "reading the trace" while
  // nothing was counted.
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::string what_;
  uint64_t of_ = 0;
  std::atomic<uint64_t> done_ = 0, bytes_read_ = 0, bytes_of_ = 0;
};

// One line on a terminal, drawn over again; gone when the work is done. Elsewhere (a log) a line of its own
// now and then. Nothing before `patience` has passed, or if `descriptor` is negative.
class ProgressLine {
 public:
  static constexpr std::chrono::milliseconds kPatience{1000};      // on a terminal
  static constexpr std::chrono::milliseconds kNowAndThen{30'000};  // elsewhere
  ProgressLine(int descriptor, std::chrono::milliseconds patience = kPatience,
               std::chrono::milliseconds now_and_then = kNowAndThen);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  Progress& progress() { return progress_; }
  // Takes the line away until it is drawn again, so that something else can be printed.
  void make_way();
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
