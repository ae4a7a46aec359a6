// A thread sleeps inside stdio, in a call that the scheduler does not see, until another thread writes.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <thread>

char line[32];

int main() {
  int ends[2];
  if (pipe(ends) != 0) return 2;
  std::FILE* in = fdopen(ends[0], "r");
  std::thread reader([&] {
    if (std::fgets(line, sizeof line, in) == nullptr) _exit(3);
  });
  std::thread writer([&] {
    if (write(ends[1], "through\n", 8) != 8) _exit(4);
  });
  reader.join();
  writer.join();
  return std::strcmp(line, "through\n") == 0 ? 0 : 1;
}
