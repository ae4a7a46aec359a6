// The plain lost update: exit 1 if one of the two increments is lost.
#include <thread>

int counter;
void increment() {
  int seen = counter;
  counter = seen + 1;
}

int main() {
  std::thread first(increment), second(increment);
  first.join();
  second.join();
  return counter == 2 ? 0 : 1;
}
