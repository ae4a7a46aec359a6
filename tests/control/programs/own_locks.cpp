// Locks that a program makes from atomics, each with four threads: test-and-set, test and test-and-set,
// compare-exchange, ticket, one that counts how often it found the lock taken, and one in inline assembly.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

struct TestAndSet {
  std::atomic_flag taken = ATOMIC_FLAG_INIT;
  void lock() {
    while (taken.test_and_set(std::memory_order_acquire)) {
    }
  }
  void unlock() { taken.clear(std::memory_order_release); }
};

struct TestFirst {
  std::atomic<int> taken{0};
  void lock() {
    while (taken.exchange(1, std::memory_order_acquire) != 0)
      while (taken.load(std::memory_order_relaxed) != 0) {
      }
  }
  void unlock() { taken.store(0, std::memory_order_release); }
};

struct CompareExchange {
  std::atomic<int> taken{0};
  void lock() {
    for (int free = 0; !taken.compare_exchange_weak(free, 1, std::memory_order_acquire);) free = 0;
  }
  void unlock() { taken.store(0, std::memory_order_release); }
};

struct Ticket {
  std::atomic<unsigned> next{0}, serving{0};
  void lock() {
    unsigned mine = next.fetch_add(1, std::memory_order_relaxed);
    while (serving.load(std::memory_order_acquire) != mine) {
    }
  }
  void unlock() { serving.store(serving.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
};

struct Counting {
  std::atomic<int> taken{0};
  std::atomic<long> tries{0};
  void lock() {
    for (int free = 0; !taken.compare_exchange_strong(free, 1, std::memory_order_acquire); free = 0)
      tries.fetch_add(1, std::memory_order_relaxed);
  }
  void unlock() { taken.store(0, std::memory_order_release); }
};

struct Assembly {
  int taken = 0;
  void lock() {
    asm volatile(
        "1: movl $1, %%eax\n xchgl %%eax, %0\n testl %%eax, %%eax\n jz 3f\n"
        "2: pause\n cmpl $0, %0\n jne 2b\n jmp 1b\n3:"
        : "+m"(taken)
        :
        : "eax", "memory", "cc");
  }
  void unlock() { asm volatile("movl $0, %0" : "=m"(taken) : : "memory"); }
};

template <typename Lock>
int run(int threads, int rounds) {
  static Lock lock;
  static int counter;
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([rounds] {
      for (int k = 0; k < rounds; ++k) {
        lock.lock();
        counter = counter + 1;
        lock.unlock();
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  return counter == threads * rounds ? 0 : 1;
}

int main(int, char** words) {
  std::string kind = words[1] != nullptr ? words[1] : "ticket";
  if (kind == "test_and_set") return run<TestAndSet>(4, 10);
  if (kind == "test_first") return run<TestFirst>(4, 10);
  if (kind == "compare_exchange") return run<CompareExchange>(4, 10);
  if (kind == "ticket") return run<Ticket>(4, 10);
  if (kind == "counting") return run<Counting>(4, 10);
  if (kind == "assembly") return run<Assembly>(2, 3);
  return 9;
}
