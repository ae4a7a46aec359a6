"""Programs and traces for the tests of this folder."""


def many_orders():
    """Six threads whose order decides a number: that it is never one more than it was is a long story to prove."""
    lines, count, number = ["# cleave text trace 1", "T1 begin u", "T1 read x 0 -> x0"], 0, 1
    for turn in range(3):
        for thread in range(2, 8):
            one, other = f"a{thread}_{turn}", f"b{thread}_{turn}"
            lines += [f"T{thread} read c {count} -> {one}", f"T{thread} write c {count + 1} = (+ {one} 1)", f"T{thread} read d {number} -> {other}"]
            number, count = number * 3 + count, count + 1
            lines.append(f"T{thread} write d {number} = (+ (* {other} 3) {one})")
    return "\n".join(lines + ["T1 write x 1 = (+ x0 1)", "T1 end", f"T9 read d {number} -> z", "T9 read x 1 -> w",
                              f"T9 assume (= (+ z w) {number + 1})", "T9 write x 5 = 5", ""])


SLOW_QUESTION = many_orders()

# All that is shared is touched in one section of one lock.
GUARDED = r"""
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int hits;
static void add(int v) { pthread_mutex_lock(&mutex); hits = hits + v; pthread_mutex_unlock(&mutex); }
static void *work(void *arg) { for (int i = 0; i < 3; i++) add(i); return arg; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
"""

# Correct: every method holds the lock of its object, threads come and go.
CORRECT = r"""
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>
class Account {
 public:
  bool withdraw(int amount) {
    std::lock_guard<std::mutex> guard(mutex_);
    if (balance_ < amount) return false;
    balance_ -= amount;
    return true;
  }
  void deposit(int amount) {
    std::lock_guard<std::mutex> guard(mutex_);
    balance_ += amount;
    last_ = amount;
  }
 private:
  std::mutex mutex_;
  int balance_ = 100, last_ = 0;
};
class Queue {
 public:
  void push(int value) {
    { std::lock_guard<std::mutex> guard(mutex_); values_.push_back(value); }
    changed_.notify_one();
  }
  bool pop(int* value) {
    std::unique_lock<std::mutex> guard(mutex_);
    changed_.wait(guard, [&] { return !values_.empty() || closed_; });
    if (values_.empty()) return false;
    *value = values_.front();
    values_.pop_front();
    return true;
  }
  void close() {
    { std::lock_guard<std::mutex> guard(mutex_); closed_ = true; }
    changed_.notify_all();
  }
 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<int> values_;
  bool closed_ = false;
};
int main(int count, char** words) {
  const int rounds = count > 1 ? std::atoi(words[1]) : 1;
  for (int round = 0; round < rounds; ++round) {
    Account account;
    Queue queue;
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        for (int value; queue.pop(&value);) {
          account.deposit(value);
          account.withdraw(value / 2);
        }
      });
    for (int i = 0; i < 20; ++i) queue.push(i);
    queue.close();
    for (std::thread& thread : threads) thread.join();
  }
}
"""
