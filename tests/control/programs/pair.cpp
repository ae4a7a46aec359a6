// Two fields that belong together, in straight code without anything between them: exit 1 if the reader sees
// one of them old and one new. With PAIR_VOLATILE the compiler keeps every access where it stands.
#include <thread>

#ifndef PAIR_VOLATILE
#define PAIR_VOLATILE
#endif

struct Range {
  PAIR_VOLATILE int low, high;
};
Range range;
bool torn;

__attribute__((noinline)) void set(int value) {
  range.low = value;
  range.high = value;
}
__attribute__((noinline)) bool holds() { return range.low == range.high; }

int main() {
  std::thread writer([] { set(1); }), reader([] { torn = !holds(); });
  writer.join();
  reader.join();
  return torn ? 1 : 0;
}
