// A crawler's task pool: a worker asks whether its task is still wanted, fetches, and stores the result; the searcher
// cancels what takes too long and clears what there is.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Task {
 public:
  CLEAVE_ATOMIC void run(int answer) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    if (!is_valid()) return;
    set_result(answer);
  }
  CLEAVE_ATOMIC void cancel() {
    std::lock_guard lock(mutex_);
    valid_ = false;
    result_ = 0;
  }
  bool consistent() {
    std::lock_guard lock(mutex_);
    return valid_ || result_ == 0;
  }

 private:
  bool is_valid() {
    std::lock_guard lock(mutex_);
    return valid_;
  }
  void set_result(int result) {
    std::lock_guard lock(mutex_);
    result_ = result;
  }

  std::recursive_mutex mutex_;
  bool valid_ = true;
  int result_ = 0;
};

class Pool {
 public:
  explicit Pool(unsigned tasks) : tasks_(tasks) {}
  // Null when all are taken.
  Task* next() {
    std::lock_guard lock(mutex_);
    return taken_ < tasks_.size() ? &tasks_[taken_++] : nullptr;
  }
  std::vector<Task>& tasks() { return tasks_; }

 private:
  std::mutex mutex_;
  std::vector<Task> tasks_;
  size_t taken_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 3, 10);  // one searches, the others work
  Pool pool(options.iters);
  run_threads(options.threads < 2 ? 2 : options.threads, [&pool](unsigned id) {
    if (id == 0) {
      for (Task& task : pool.tasks()) task.cancel();
    } else {
      for (Task* task = pool.next(); task != nullptr; task = pool.next()) task->run(42);
    }
  });
  bool held = true;
  for (Task& task : pool.tasks()) held = held && task.consistent();
  return verdict(held, "a cancelled task has a result");
}
