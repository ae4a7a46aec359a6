// Every blocking operation that is modelled, in one program with a deterministic result.
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

std::mutex mutex;
std::recursive_mutex recursive;
std::timed_mutex timed;
std::shared_mutex shared;
std::condition_variable changed;
std::once_flag once;
sem_t semaphore;
pthread_barrier_t meeting;
pthread_spinlock_t spin;
std::atomic<int> word, stage, spinner;
int total, spun, made, shared_value, turns;

int lazy() {
  static int value = (std::this_thread::yield(), 7);
  return value;
}

void locks(int id) {
  for (int i = 0; i < 5; ++i) {
    std::lock_guard guard(mutex);
    total += id;
  }
  std::lock_guard outer(recursive);
  std::lock_guard inner(recursive);
  pthread_spin_lock(&spin);
  spun += 1;
  pthread_spin_unlock(&spin);
  if (timed.try_lock_for(1s)) timed.unlock();
}

void readers_and_writers(int id) {
  for (int i = 0; i < 3; ++i) {
    if ((id + i) % 3 == 0) {
      std::unique_lock guard(shared);
      ++shared_value;
    } else {
      std::shared_lock guard(shared);
      if (shared_value < 0) std::abort();
    }
  }
}

void waits(int id) {
  std::call_once(once, [] { ++made; });
  if (lazy() != 7) std::abort();
  pthread_barrier_wait(&meeting);
  std::unique_lock guard(mutex);
  changed.wait(guard, [&] { return turns == id; });
  ++turns;
  changed.notify_all();
  changed.wait_for(guard, 1ms, [] { return turns == 4; });
}

void atomics(int id) {
  sem_wait(&semaphore);
  word.fetch_add(1);
  word.notify_all();
  for (int seen = word; seen < 4; seen = word) word.wait(seen);
  sem_post(&semaphore);
  if (id == 0) {
    std::this_thread::sleep_for(20ms);
    spinner = 1;
  } else {
    while (spinner == 0) {
    }
  }
  static std::latch everybody(4);
  everybody.arrive_and_wait();
}

void work(int id) {
  locks(id);
  readers_and_writers(id);
  waits(id);
  atomics(id);
}

}  // namespace

int main() {
  sem_init(&semaphore, 0, 4);
  pthread_barrier_init(&meeting, nullptr, 4);
  pthread_spin_init(&spin, 0);
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) threads.emplace_back(work, id);
  for (auto& thread : threads) thread.join();
  std::printf("%d %d %d %d %d\n", total, made, shared_value, turns, word.load());
  bool right = total == 30 && spun == 4 && made == 1 && shared_value == 4 && turns == 4 && word == 4;
  return right ? 0 : 1;
}
