// Two threads wait for one another's mutex while a third waits for input that never comes.
#include <unistd.h>

#include <mutex>
#include <thread>

std::mutex left, right;
int ends[2];

int main() {
  if (pipe(ends) != 0) return 2;
  std::thread reader([] {
    char byte;
    (void)!read(ends[0], &byte, 1);
  });
  std::thread first([] {
    std::lock_guard one(left);
    std::this_thread::yield();
    std::lock_guard two(right);
  });
  std::thread second([] {
    std::lock_guard one(right);
    std::this_thread::yield();
    std::lock_guard two(left);
  });
  first.join();
  second.join();
  (void)!write(ends[1], "x", 1);
  reader.join();
  return 0;
}
