// Numbers are given out by a class with static fields, and served at a desk with a std::optional, a std::variant and a
// std::string: in both, what belongs together is written in two critical sections.
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "common/program.h"

class Numbers {
 public:
  static int give() {
#ifdef FIXED
    std::lock_guard lock(mutex_);
    waiting_++;
    return ++last_;
#else
    {
      std::lock_guard lock(mutex_);
      waiting_++;
    }
    std::lock_guard lock(mutex_);
    return ++last_;
#endif
  }
  static bool add_up() {
    std::lock_guard lock(mutex_);
    return waiting_ == last_;
  }

 private:
  static inline std::mutex mutex_;
  static inline int last_ = 0, waiting_ = 0;
};

class Desk {
 public:
  void serve(int number) {
    std::unique_lock lock(mutex_);
    serving_ = number;
#ifndef FIXED
    lock.unlock();
    lock.lock();
#endif
    if (number % 2 == 0)
      shown_ = number;
    else
      shown_ = "number " + std::to_string(number) + ", please come to the desk";
  }
  bool shows_whom_it_serves() const {
    std::lock_guard lock(mutex_);
    if (!serving_) return true;
    if (*serving_ % 2 != 0) return std::holds_alternative<std::string>(shown_);
    return std::holds_alternative<int>(shown_) && std::get<int>(shown_) == *serving_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<int> serving_;
  std::variant<std::monostate, int, std::string> shown_;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 3);  // one who serves, the others look
  Desk desk;
  std::atomic<bool> right{true};
  run_threads(options.threads, [&](unsigned id) {
    for (unsigned i = 0; i < options.iters; i++) {
      if (id == 0)
        desk.serve(Numbers::give());
      else if (!Numbers::add_up() || !desk.shows_whom_it_serves())
        right = false;
    }
  });
  return verdict(right, "a number is not counted, or another is shown than is served");
}
