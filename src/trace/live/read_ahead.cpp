#include "trace/live/read_ahead.h"

#include <chrono>

namespace cleave {

ReadAhead::ReadAhead(BatchSource& source, std::function<void()> meanwhile)
    : source_(source),
      touched_(source.touched()),
      meanwhile_(std::move(meanwhile)),
      thread_([this] { read(); }) {}

void ReadAhead::stop() {
  {
    std::lock_guard guard(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// The other thread. Its last portion has no events.
void ReadAhead::read() {
  std::optional<TableFollower> follower;
  if (touched_ != nullptr) follower.emplace(source_.tables(), *touched_);
  for (bool more = true; more;) {
    Portion portion;
    {
      std::lock_guard guard(mutex_);
      if (!spare_.empty()) {
        portion.batch = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    Result<std::span<const Event>> batch = source_.next();
    if (batch) {
      source_.take(portion.batch);
    } else {
      portion.batch.clear();
      portion.error = batch.error();
    }
    if (follower) portion.growth = follower->take();
    more = !portion.batch.events.empty();
    if (!hand_over(std::move(portion))) return;
    if (meanwhile_) meanwhile_();
  }
}

// False: nobody wants it.
bool ReadAhead::hand_over(Portion portion) {
  constexpr auto kNow = std::chrono::milliseconds(2);
  std::unique_lock guard(mutex_);
  if (weight_ >= kMost) {
    while (!changed_.wait_for(guard, kNow, [&] { return stopped_ || weight_ <= kMost / 2; })) {
      guard.unlock();
      if (meanwhile_) meanwhile_();
      guard.lock();
    }
  }
  if (stopped_) return false;
  bool last = portion.batch.events.empty();
  weight_ += weight(portion);
  waiting_.push_back(std::move(portion));
  bool wake = eager_ || last || weight_ >= kSeveral;
  guard.unlock();
  if (wake) changed_.notify_all();
  return true;
}

// Going to sleep and being woken costs about as much as judging a hundred events. So whoever is faster than
// the reader waits for several portions, or a moment.
void ReadAhead::wait_for_portion(std::unique_lock<std::mutex>& guard) {
  constexpr auto kMoment = std::chrono::milliseconds(1);
  if (stopped_ || !waiting_.empty()) return;
  auto several = [&] {
    return stopped_ || weight_ >= kSeveral || (!waiting_.empty() && waiting_.back().batch.events.empty());
  };
  if (changed_.wait_for(guard, kMoment, several)) return;
  eager_ = true;
  changed_.wait(guard, [&] { return stopped_ || !waiting_.empty(); });
  eager_ = false;
}

Result<std::span<const Event>> ReadAhead::next() {
  if (current_.error) return *current_.error;
  bool wake = false;
  {
    std::unique_lock guard(mutex_);
    spare_.push_back(std::move(current_.batch));
    wait_for_portion(guard);
    if (waiting_.empty()) return std::span<const Event>();
    current_ = std::move(waiting_.front());
    waiting_.pop_front();
    const size_t before = weight_;
    weight_ -= weight(current_);
    wake = before > kMost / 2 && weight_ <= kMost / 2;
  }
  if (wake) changed_.notify_all();
  if (touched_ != nullptr) mirror_.apply(std::move(current_.growth));
  if (current_.error) return *current_.error;
  if (current_.batch.events.empty()) stop();
  return std::span<const Event>(current_.batch.events);
}

}  // namespace cleave
