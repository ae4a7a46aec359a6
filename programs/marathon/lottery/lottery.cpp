// Users draw a number, present it and record it; each step locks the user, and the number they draw is one for all.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

constexpr unsigned kUsers = 32;

class Lottery {
 public:
  Racy<int> random_number = 0;
  Racy<int> generated[kUsers], presented[kUsers], history[kUsers];

  bool drawn_before(int number) const {
    for (const auto& entry : history)
      if (entry == number) return true;
    return false;
  }
#ifdef FIXED
  std::mutex mutex;
#endif
};

class User {
 public:
  User(Lottery& lottery, unsigned id, uint64_t seed) : lottery_(lottery), id_(id), random_(seed) {}

  CLEAVE_ATOMIC void play() {
#ifdef FIXED
    std::lock_guard whole(lottery_.mutex);
#endif
    do generate();
    while (lottery_.drawn_before(lottery_.generated[id_]));
    present();
    record();
  }

 private:
  void generate() {
    std::lock_guard lock(mutex_);
    lottery_.random_number = 1 + static_cast<int>(next_random(&random_) % 1000);
    lottery_.generated[id_] = lottery_.random_number;
  }
  void present() {
    std::lock_guard lock(mutex_);
    lottery_.presented[id_] = lottery_.random_number;
  }
  void record() {
    std::lock_guard lock(mutex_);
    lottery_.history[id_] = lottery_.random_number;
  }

  std::mutex mutex_;
  Lottery& lottery_;
  const unsigned id_;
  uint64_t random_;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 8, 1);
  unsigned users = options.threads < kUsers ? options.threads : kUsers;
  bool held = true;
  for (unsigned round = 0; round < options.iters && held; round++) {
    Lottery lottery;
    for (unsigned i = 0; i < kUsers; i++) lottery.generated[i] = lottery.presented[i] = lottery.history[i] = 0;
    run_threads(users, [&lottery, &options, round](unsigned id) {
      User(lottery, id, options.seed + 100 * round + id).play();
    });
    for (unsigned i = 0; i < users; i++)
      held = held && lottery.generated[i] == lottery.presented[i] && lottery.presented[i] == lottery.history[i];
  }
  return verdict(held, "a user presented or recorded another number than was drawn");
}
