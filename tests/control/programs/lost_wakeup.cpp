// The flag is set and the condition signalled without the mutex: a waiter that has looked but does not wait
// yet misses the signal for ever.
#include <pthread.h>

#include <atomic>
#include <thread>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
std::atomic<bool> flag;

int main() {
  std::thread waiter([] {
    pthread_mutex_lock(&mutex);
    while (!flag) pthread_cond_wait(&ready, &mutex);
    pthread_mutex_unlock(&mutex);
  });
  std::thread setter([] {
    flag = true;
    pthread_cond_signal(&ready);
  });
  waiter.join();
  setter.join();
  return 0;
}
