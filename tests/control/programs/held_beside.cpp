// A counter that one thread changes after it has read a line that the main thread writes after the other has
// changed it.
#include <unistd.h>

#include <thread>

int counter, ends[2];

void late() {
  char byte;
  if (read(ends[0], &byte, 1) == 1) counter = 1;
}
void early() { counter = 2; }

int main() {
  if (pipe(ends) != 0) return 2;
  std::thread first(late), second(early);
  second.join();
  if (write(ends[1], "x", 1) != 1) return 3;
  first.join();
  return counter == 1 ? 0 : 1;
}
