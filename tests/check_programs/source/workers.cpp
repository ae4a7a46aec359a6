// What workers do in correct programs, each forced into the order in which a wrong guess at the units would
// make a cycle of it; and beside some of them the wrong form.
#include <pthread.h>
#include <semaphore.h>

#include <mutex>
#include <thread>

#include "steps.h"

int steps_done;

#if defined(RING)  // a container that guards what its pointer leads to, not a cursor over somebody else's
class Ring {
 public:
  void put(int x) {
    std::lock_guard guard(mutex_);
    data_[at_++ % 4] = x;
  }

 private:
  std::mutex mutex_;
  int* data_ = new int[4]();
  unsigned at_ = 0;
};
Ring ring;
void first() {
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) ring.put(i);
    done();
    wait_for(2);
  }
}
void second() {
  for (int j = 0; j < 4; ++j) ring.put(7);
}

#elif defined(HAND_OVER)  // an item is whose who took it out of the list, until it is put back
struct Item {
  Item* next = nullptr;
  int uses = 0;
};
class Free {
 public:
  void give(Item* item) {
    std::lock_guard guard(mutex_);
    item->next = head_;
    head_ = item;
  }
  Item* take() {
    std::lock_guard guard(mutex_);
    Item* item = head_;
#ifndef WRONG
    head_ = item->next;
#endif
    return item;
  }

 private:
  std::mutex mutex_;
  Item* head_ = nullptr;
};
Free list;
Item only;
void use(bool is_first) {
  for (int round = 0; round < 2; ++round) {
    Item* item = list.take();
    int uses = item->uses;
#ifdef WRONG
    if (is_first && round == 0) done(), wait_for(2);
#endif
    item->uses = uses + 1;
#ifndef WRONG
    list.give(item);
    if (is_first && round == 0) done(), wait_for(2);
#endif
  }
}
void first() { use(true); }
void second() { use(false); }

#elif defined( \
    LOGGER)  // an object that keeps itself whole is not part of what a section around its calls is for
class Logger {
 public:
  void log() {
#ifndef WRONG
    std::lock_guard guard(mutex_);
#endif
    lines_ = lines_ + 1;
    bytes_ = bytes_ + 10;
  }

 private:
  std::mutex mutex_;
  long lines_ = 0, bytes_ = 0;
};
Logger logger;
std::mutex store;
// In a critical section everything counts, the count of steps too: semaphores are no memory.
sem_t there, back;
void put() {
  std::lock_guard guard(store);
  logger.log();
  sem_post(&there);
  sem_wait(&back);
  logger.log();
}
void first() { put(); }
void second() {
  sem_wait(&there);
  logger.log();
  sem_post(&back);
}

#elif defined(BARRIER)  // what was before a barrier is not meant to be atomic with what comes behind it
pthread_barrier_t barrier;
double parts[2];
void phases(int me) {
  for (int i = 0; i < 2; ++i) {
    parts[me] = parts[me] + 1;
    pthread_barrier_wait(&barrier);
    if (parts[1 - me] < 0) parts[me] = 0;
    pthread_barrier_wait(&barrier);
  }
}
void first() { phases(0), done(); }
void second() { phases(1); }
#else
#include <barrier>
std::barrier<> barrier{2};
double parts[2];
void phases(int me) {
  for (int i = 0; i < 2; ++i) {
    parts[me] = parts[me] + 1;
    barrier.arrive_and_wait();
    if (parts[1 - me] < 0) parts[me] = 0;
    barrier.arrive_and_wait();
  }
}
void first() { phases(0), done(); }
void second() { phases(1); }
#endif

int main() {
#if defined(BARRIER)
  pthread_barrier_init(&barrier, nullptr, 2);
#elif defined(HAND_OVER)
  list.give(&only);
#elif defined(LOGGER)
  sem_init(&there, 0, 0);
  sem_init(&back, 0, 0);
#endif
  std::thread other(first);
#if defined(RING) || defined(HAND_OVER)
  wait_for(1);
#endif
  second();
  done();
  other.join();
}
