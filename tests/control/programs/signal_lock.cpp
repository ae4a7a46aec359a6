// A signal handler that takes a lock that its own thread never holds.
#include <pthread.h>
#include <signal.h>

#include <thread>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int handled, worked;

void handle(int) {
  pthread_mutex_lock(&mutex);
  ++handled;
  pthread_mutex_unlock(&mutex);
}

int main() {
  signal(SIGUSR1, handle);
  std::thread other([] {
    for (int i = 0; i < 20; ++i) {
      pthread_mutex_lock(&mutex);
      ++worked;
      pthread_mutex_unlock(&mutex);
    }
  });
  for (int i = 0; i < 5; ++i) raise(SIGUSR1);
  other.join();
  return handled == 5 && worked == 20 ? 0 : 1;
}
