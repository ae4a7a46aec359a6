// Correct: one class, two locks, each with fields of its own that have nothing to do with one another. By the
// heuristics they are one set.
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "steps.h"

int steps_done;

class Channel {
 public:
  void push(int value) {
    {
      std::lock_guard<std::mutex> guard(queue_mutex_);
      queue_.push_back(value);
    }
    done();
    wait_for(2);
    std::lock_guard<std::mutex> guard(stats_mutex_);
    ++operations_;
  }
  void pop() {
    {
      std::lock_guard<std::mutex> guard(queue_mutex_);
      if (!queue_.empty()) queue_.pop_back();
    }
    std::lock_guard<std::mutex> guard(stats_mutex_);
    ++operations_;
  }

 private:
  std::mutex queue_mutex_, stats_mutex_;
  std::vector<int> queue_;
  int operations_ = 0;
};

Channel channel;

int main(int argc, char** argv) {
  std::thread pusher([] { channel.push(1); });
  wait_for(1);
  channel.pop();
  done();
  pusher.join();
  for (int more = argc > 1 ? std::atoi(argv[1]) : 0; more > 0; --more) channel.pop();
}
