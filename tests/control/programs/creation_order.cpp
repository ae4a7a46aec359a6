// Creates its two threads in the order that the argument says.
#include <thread>

int first_value, second_value;

int main(int count, char**) {
  auto first = [] { first_value += 1; };
  auto second = [] {
    second_value += 2;
    second_value += 3;
  };
  std::thread one, two;
  if (count > 1) {
    one = std::thread(second);
    two = std::thread(first);
  } else {
    one = std::thread(first);
    two = std::thread(second);
  }
  one.join();
  two.join();
  return 0;
}
