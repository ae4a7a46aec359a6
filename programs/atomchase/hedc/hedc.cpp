// A crawler's task pool: the searcher cancels what takes too long by interrupting the task's thread, and the task forgets
// its thread when it ends. Between the test and the interruption the thread may be gone.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

struct Worker {
  int interruptions = 0;
};

class Task {
 public:
  // The pool has chosen who does it.
  void assign(Worker* worker) { worker_ = worker; }
  CLEAVE_ATOMIC void run(int answer) {
    std::lock_guard lock(mutex_);
    result_ = answer;
    worker_ = nullptr;
  }
  // False if the worker that was there is gone.
  CLEAVE_ATOMIC bool cancel() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    if (!is_running()) return true;
    return interrupt();
  }

 private:
  bool is_running() {
    std::lock_guard lock(mutex_);
    return worker_ != nullptr;
  }
  bool interrupt() {
    std::lock_guard lock(mutex_);
    if (worker_ == nullptr) return false;  // the original dereferences it
    worker_->interruptions++;
    return true;
  }

  std::recursive_mutex mutex_;
  Worker* worker_ = nullptr;
  int result_ = 0;
};

class Pool {
 public:
  explicit Pool(unsigned tasks) : tasks_(tasks), workers_(tasks) {
    for (unsigned i = 0; i < tasks; i++) tasks_[i].assign(&workers_[i]);
  }
  // Null when all are taken.
  Task* next() {
    std::lock_guard lock(mutex_);
    return taken_ < tasks_.size() ? &tasks_[taken_++] : nullptr;
  }
  std::vector<Task>& tasks() { return tasks_; }

 private:
  std::mutex mutex_;
  std::vector<Task> tasks_;
  std::vector<Worker> workers_;
  size_t taken_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 3, 10);  // one searches, the others work
  Pool pool(options.iters);
  std::atomic<int> gone = 0;
  run_threads(options.threads < 2 ? 2 : options.threads, [&pool, &gone](unsigned id) {
    if (id == 0) {
      for (Task& task : pool.tasks()) gone += !task.cancel();
    } else {
      for (Task* task = pool.next(); task != nullptr; task = pool.next()) task->run(42);
    }
  });
  return verdict(gone == 0, "a task had a worker, and it was gone when it was to be interrupted");
}
