// Signals that come at any moment, most of them while the thread waits for its turn or switches: none may be
// lost or find the scheduler at work. Each carries its number. The last handler is for one signal only.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

constexpr int kSignals = 200;
std::atomic<int> handled, sum, once;
std::atomic<bool> done;

void handle(int, siginfo_t* information, void*) {
  ++handled;
  sum += information->si_value.sival_int;
}
void handle_once(int) { ++once; }

int main() {
  struct sigaction action{};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGRTMIN, &action, nullptr);
  std::thread busy([] {
    while (!done) sched_yield();
  });
  int expected = 0;
  for (int i = 1; i <= kSignals; ++i) {
    sigval value{.sival_int = i};
    while (pthread_sigqueue(busy.native_handle(), SIGRTMIN, value) != 0) sched_yield();
    expected += i;
    if (i % 3 == 0) sched_yield();
  }
  while (handled != kSignals) sched_yield();
  done = true;
  busy.join();
  struct sigaction single{};
  single.sa_handler = handle_once;
  single.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGURG, &single, nullptr);
  raise(SIGURG);
  raise(SIGURG);  // ignored by default
  struct sigaction now{};
  sigaction(SIGURG, nullptr, &now);
  return sum == expected && once == 1 && now.sa_handler == SIG_DFL ? 0 : 1;
}
