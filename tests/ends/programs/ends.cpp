// ends WAY: a second thread clears what the first has checked, and the first goes on to its end. All values
// that are read from there on are zero.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

int n = 1, cell = 5, sum;
int* p = &cell;
int* page;
pthread_t first;

static void* clear(void*) {
  p = nullptr;
  n = 0;
  munmap(page, 4096);
  return nullptr;
}
static void* leave(void*) {
  sum = 8;
  pthread_exit(nullptr);
}
static void* end_process(void*) {
  sum = 9;
  exit(3);
}
static void run(void* (*body)(void*)) {
  pthread_t thread;
  pthread_create(&thread, nullptr, body, nullptr);
  pthread_join(thread, nullptr);
}

static void read_null() {
  sum = n;
  sum = *p;
  sum = 1;
}
static void write_null() {
  sum = n;
  *p = n;
  sum = 1;
}
static void read_unmapped() {
  sum = n;
  sum = page[2];
  sum = 1;
}
static void write_unmapped() {
  sum = n;
  page[1] = 7;
  sum = 1;
}
static void read_far() {
  sum = n;
  sum = *reinterpret_cast<int*>(0x4141414141414140);
  sum = 1;
}
static void call_abort() {
  sum = n;
  sum = 4;
  abort();
}
static void fail_assertion() {
  sum = 4;
  assert(n == 1);
  sum = 1;
}
static void take_signal() {
  sum = n;
  raise(SIGTERM);
  sum = 1;
}
static void leave_thread() { run(leave); }
static void let_other_exit() { run(end_process); }
static void throw_out() {
  sum = n;
  throw std::runtime_error("out");
}
static void leave_at_once() {
  sum = n;
  _exit(4);
}
static void divide() {
  sum = n;
  sum = cell / n;
  sum = 1;
}

static int* lent;
static void* borrow(void*) {
  sum = *lent;
  return nullptr;
}
__attribute__((noinline)) static void lend() {
  int local = 6;
  lent = &local;
  run(borrow);
}

int main(int, char** words) {
  first = pthread_self();
  page = static_cast<int*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  page[1] = 1;
  page[2] = 2;
  const struct {
    const char* name;
    void (*function)();
  } ways[] = {{"read_null", read_null},
              {"write_null", write_null},
              {"read_unmapped", read_unmapped},
              {"write_unmapped", write_unmapped},
              {"read_far", read_far},
              {"call_abort", call_abort},
              {"fail_assertion", fail_assertion},
              {"take_signal", take_signal},
              {"leave_thread", leave_thread},
              {"let_other_exit", let_other_exit},
              {"throw_out", throw_out},
              {"leave_at_once", leave_at_once},
              {"divide", divide},
              {"lend", lend}};
  for (const auto& way : ways) {
    if (strcmp(way.name, words[1]) != 0) continue;
    if (n == 1) run(clear);
    way.function();
  }
}
