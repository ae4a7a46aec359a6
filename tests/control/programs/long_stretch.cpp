// Many accesses without synchronization: of one thread after the other; of one that waits for the other in a
// loop ("spin"); or up to a crash in the middle of a segment of several legs ("crash").
#include <pthread.h>

#include <cstdlib>
#include <cstring>

namespace {

constexpr int kSteps = 300000, kLate = 290000;
unsigned values[256];
volatile int ready = 0, seen = 0;
int* nowhere = nullptr;

void* compute(void*) {
  unsigned last = 1;
  for (int i = 0; i < kSteps; ++i) {
    unsigned& value = values[last % 256];
    last = last * 1103515245u + 12345u + value;
    value += i == kLate && std::getenv("CHANGED") != nullptr ? 2 : 1;
  }
  return nullptr;
}

void* wait_for_it(void*) {
  while (ready == 0) {
  }
  seen = 1;
  return nullptr;
}

void* set_it(void*) {
  compute(nullptr);
  ready = 1;
  return nullptr;
}

void* fall(void*) {
  compute(nullptr);
  values[0] = 1;
  values[values[0]] = 2;  // may be the same memory: legs
  *nowhere = static_cast<int>(values[1]);
  return nullptr;
}

}  // namespace

int main(int count, char** words) {
  const char* how = count > 1 ? words[1] : "";
  pthread_t first, second;
  pthread_create(&first, nullptr, std::strcmp(how, "spin") == 0 ? wait_for_it : compute, nullptr);
  pthread_create(&second, nullptr,
                 std::strcmp(how, "spin") == 0    ? set_it
                 : std::strcmp(how, "crash") == 0 ? fall
                                                  : compute,
                 nullptr);
  pthread_join(first, nullptr);
  pthread_join(second, nullptr);
  return 0;
}
