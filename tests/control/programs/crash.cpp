// Follows a null pointer when the second thread comes between.
#include <thread>

int value = 5;
int* volatile pointer = &value;

int main() {
  std::thread user([] {
    if (pointer) *pointer = 6;
  });
  std::thread clearer([] { pointer = nullptr; });
  user.join();
  clearer.join();
  return 0;
}
