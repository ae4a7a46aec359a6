// Reads memory on its stack that it never wrote, as a program does that copies a structure with padding in
// it. There lies what earlier calls have left, the scheduler's among them.
#include <pthread.h>
#include <time.h>
#include <unistd.h>

namespace {

constexpr int kWords = 160, kRounds = 12;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
unsigned found[4096];
int count = 0;

// Waits and reads the time: what that leaves behind lies where `look` has its array.
__attribute__((noinline)) void leave_something(int turn) {
  pthread_mutex_lock(&lock);
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_nsec += 1000 * turn;
  if (time.tv_nsec >= 1000000000) ++time.tv_sec, time.tv_nsec -= 1000000000;
  pthread_cond_timedwait(&changed, &lock, &time);
  pthread_mutex_unlock(&lock);
  usleep(1);
}

// The padding of many structures at once: half of each word, so that no address is whole.
__attribute__((noinline)) void look() {
  unsigned long words[kWords];
  __asm__ volatile("" : "=m"(words));
  unsigned sum = 0;
  for (unsigned long word : words) sum = sum * 3 + static_cast<unsigned>(word >> 8);
  pthread_mutex_lock(&lock);
  found[count++ % 4096] = sum;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

void* work(void*) {
  for (int i = 0; i < kRounds; ++i) {
    leave_something(i);
    look();
  }
  return nullptr;
}

}  // namespace

int main() {
  pthread_t threads[3];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, work, nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  unsigned total = 0;
  for (int i = 0; i < count; ++i) total += found[i];
  return total == 0x12345678 ? 1 : 0;
}
