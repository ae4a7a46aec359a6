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
  if (of_ > 0) return fmt::format("{} of {} {}", amount(done), amount(of_), what_);
  return done > 0 ? fmt::format("{} {}", amount(done), what_) : what_;
}

ProgressLine::ProgressLine(int descriptor, std::chrono::milliseconds patience) : descriptor_(descriptor) {
  if (isatty(descriptor) == 0) return;
  thread_ = std::thread([this, patience] {
    sigset_t all;  // signals are for the thread that works
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::unique_lock guard(mutex_);
    const auto start = std::chrono::steady_clock::now();
    if (stopped_.wait_for(guard, patience, [&] { return stop_; })) return;
    constexpr auto kOften = std::chrono::milliseconds(200);
    do {
      const auto seconds =
          std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
      put(descriptor_, fmt::format("\r\033[Kcleave: {}, {} s", progress_.text(), seconds.count()));
    } while (!stopped_.wait_for(guard, kOften, [&] { return stop_; }));
    put(descriptor_, "\r\033[K");
  });
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
