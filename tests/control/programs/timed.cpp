// Everything that ends by the clock: sleeps, waits and tries with a time limit, loops that ask for the time.
// Which of them comes first is the schedule's business; the sum is the same.
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <shared_mutex>
#include <thread>

using namespace std::chrono_literals;

namespace {

std::timed_mutex mutex;
std::shared_timed_mutex shared;
std::mutex small;
std::condition_variable changed;
std::atomic<bool> stop, seen;
sem_t semaphore;
int finished, work;

timespec soon(long nanoseconds) {
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += nanoseconds;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  return until;
}

void finish() {
  std::lock_guard guard(small);
  ++finished;
}

void patient(int id) {
  for (int i = 0; i < 10; ++i) {
    if (mutex.try_lock_for(std::chrono::microseconds(50 * id))) {
      std::this_thread::sleep_for(100us);
      mutex.unlock();
    }
    if (shared.try_lock_shared_for(20us)) {
      std::this_thread::sleep_for(10us);
      shared.unlock_shared();
    } else if (shared.try_lock_for(1ms)) {
      shared.unlock();
    }
    timespec until = soon(30000);
    sem_timedwait(&semaphore, &until);
    std::unique_lock guard(small);
    changed.wait_for(guard, std::chrono::microseconds(id * 10), [] { return finished == 2; });
  }
  finish();
}

// Ends when another thread has slept, however little the loop looks like waiting.
void busy() {
  while (!stop) ++work;
  finish();
}

// Waits for a flag, but not for ever.
void impatient() {
  auto until = std::chrono::steady_clock::now() + 10s;
  while (!seen && std::chrono::steady_clock::now() < until) {
  }
  if (seen) finish();
}

}  // namespace

int main() {
  sem_init(&semaphore, 0, 1);
  std::thread threads[] = {std::thread(patient, 1), std::thread(patient, 2), std::thread(busy),
                           std::thread(impatient)};
  std::this_thread::sleep_for(2ms);
  stop = true;
  seen = true;
  for (std::thread& thread : threads) thread.join();
  std::printf("%d\n", finished);
  return finished == 4 ? 0 : 1;
}
