// Players share one ball: whoever has it takes it away, plays for a while, and puts it back.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

struct Ball {
  Racy<int> hits = 0;
};

class Game {
 public:
  // Whether there was a ball.
  CLEAVE_ATOMIC bool play() {
#ifdef FIXED
    std::lock_guard lock(mutex_);
#endif
    Ball* ball = ball_;
    if (ball == nullptr) return false;
    ball_ = nullptr;
    for (int i = 0; i < 50; i++) ball->hits = ball->hits + 1;
    ball_ = ball;
    return true;
  }

 private:
#ifdef FIXED
  std::mutex mutex_;
#endif
  Ball the_ball_;
  Racy<Ball*> ball_ = &the_ball_;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 10, 1);
  std::atomic<int> missing = 0;
  Game game;
  run_threads(options.threads, [&game, &missing, &options](unsigned) {
    for (unsigned i = 0; i < options.iters; i++)
      if (!game.play()) missing++;
  });
  return verdict(missing == 0, "there was no ball to play with");
}
