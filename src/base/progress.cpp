#include "base/progress.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace cleave {
namespace {

std::string amount(uint64_t count) {
  if (count < 1'000'000) return std::to_string(count);
  return fmt::format("{:.1f} million", static_cast<double>(count) / 1e6);
}

void put(int descriptor, const std::string& text) {
  // What a terminal does not take is of no use a moment later.
  [[maybe_unused]] ssize_t written = write(descriptor, text.data(), text.size());
}

}  // namespace

std::string Progress::text() const {
  std::lock_guard guard(mutex_);
  const uint64_t done = done_.load(std::memory_order_relaxed);
  const uint64_t bytes = bytes_of_.load(std::memory_order_relaxed);
  std::string text = what_;
  if (of_ > 0)
    text = fmt::format("{} of {} {}", amount(done), amount(of_), what_);
  else if (done > 0)
    text = fmt::format("{} {}", amount(done), what_);
  if (bytes > 0)
    text += fmt::format(", {} of {} MB", bytes_read_.load(std::memory_order_relaxed) >> 20, bytes >> 20);
  return text;
}

ProgressLine::ProgressLine(int descriptor, std::chrono::milliseconds patience,
                           std::chrono::milliseconds now_and_then)
    : descriptor_(descriptor) {
  if (descriptor < 0) return;
  const bool terminal = isatty(descriptor) != 0;
  thread_ = std::thread([this, terminal, patience, now_and_then] {
    sigset_t all;  // signals are for the thread that works
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::unique_lock guard(mutex_);
    const auto start = std::chrono::steady_clock::now();
    const auto every = terminal ? std::chrono::milliseconds(200) : now_and_then;
    if (stopped_.wait_for(guard, terminal ? patience : now_and_then, [&] { return stop_; })) return;
    do {
      const auto seconds =
          std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
      const std::string text = fmt::format("cleave: {}, {} s", progress_.text(), seconds.count());
      put(descriptor_, terminal ? "\r\033[K" + text : text + "\n");
    } while (!stopped_.wait_for(guard, every, [&] { return stop_; }));
    if (terminal) put(descriptor_, "\r\033[K");
  });
}

void ProgressLine::make_way() {
  if (!thread_.joinable() || isatty(descriptor_) == 0) return;
  std::lock_guard guard(mutex_);
  put(descriptor_, "\r\033[K");
}

void ProgressLine::clear() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard guard(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

}  // namespace cleave
