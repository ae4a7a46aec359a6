// The end of main while a thread has work to do. "end": it ends, and says so. "wait": it waits for what
// nobody will do. "forever": it never ends. "exit": as "end", by exit() from main. "_exit": nobody waits for
// it.
#include <unistd.h>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

volatile int steps;
std::mutex mutex;
std::condition_variable never;

int main(int, char** words) {
  std::string how = words[1] != nullptr ? words[1] : "end";
  std::thread([how] {
    for (int i = 0; i < 100 || how == "forever"; ++i) steps = steps + 1;
    if (how == "wait") {
      std::unique_lock lock(mutex);
      never.wait(lock);
    }
    std::puts("the thread has ended");
    std::fflush(stdout);
  }).detach();
  if (how == "exit") std::exit(6);
  if (how == "_exit") _exit(7);
  return 5;
}
