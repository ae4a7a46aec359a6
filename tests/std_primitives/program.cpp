// What the C++ library builds on the primitives of the system, each in a unit of its own name.
#include <cleave/annotate.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <new>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <thread>

using namespace std::chrono_literals;

#define FAMILY(name, ...)    \
  CLEAVE_ATOMIC_BEGIN(name); \
  {                          \
    __VA_ARGS__;             \
  }                          \
  CLEAVE_ATOMIC_END()

std::mutex plain, second;
std::recursive_mutex recursive;
std::timed_mutex timed;
std::recursive_timed_mutex recursive_timed;
std::shared_mutex shared;
std::shared_timed_mutex shared_timed;
std::condition_variable condition;
std::condition_variable_any any_condition;
std::once_flag flag, broken;
std::latch latch{1};
std::barrier<> barrier{2};
std::counting_semaphore<4> semaphore{1};
std::atomic<int> number{0};
std::atomic<bool> go{false};

struct Line;
Line* volatile kept;

int fails_once() {
  static int tries = 0;
  if (++tries == 1) throw std::runtime_error("not yet");
  return tries;
}
int& local_static() {
  static int value = fails_once();
  return value;
}

void locks() {
  FAMILY("mutex", std::lock_guard guard(plain));
  FAMILY("two", std::scoped_lock guard(plain, second));
  FAMILY("unique", std::unique_lock lock(plain, std::defer_lock); lock.lock(); lock.unlock();
         (void)lock.try_lock());
  FAMILY("recursive", std::lock_guard outer(recursive); std::lock_guard inner(recursive));
  FAMILY("timed", std::unique_lock lock(timed, 1s));
  FAMILY("recursive_timed", std::unique_lock lock(recursive_timed, std::chrono::steady_clock::now() + 1s));
  FAMILY("shared", { std::shared_lock lock(shared); } std::unique_lock lock(shared));
  FAMILY("refused", std::unique_lock lock(timed); std::thread([] {
                                                    (void)timed.try_lock();
                                                    (void)timed.try_lock_for(1ms);
                                                  }).join());
  FAMILY("shared_tried", if (shared.try_lock_shared()) shared.unlock_shared();
         if (shared.try_lock()) shared.unlock());
  FAMILY("shared_timed",
         { std::shared_lock lock(shared_timed, 1s); } std::unique_lock lock(shared_timed, 1s));
}

void waits() {
  FAMILY("wait_for", std::unique_lock lock(plain); condition.wait_for(lock, 1ms));
  FAMILY("wait_until", std::unique_lock lock(plain);
         condition.wait_until(lock, std::chrono::system_clock::now() + 1ms));
  FAMILY("notify", condition.notify_one(); condition.notify_all());
  FAMILY("any_wait", std::shared_lock lock(shared); any_condition.wait_for(lock, 1ms));
  FAMILY("any_notify", any_condition.notify_one(); any_condition.notify_all());
  FAMILY("latch", latch.count_down(); latch.wait());
  FAMILY("barrier", std::thread other([] { barrier.arrive_and_wait(); }); barrier.arrive_and_wait();
         other.join());
  FAMILY("semaphore", semaphore.acquire(); semaphore.release(); (void)semaphore.try_acquire());
  FAMILY("atomic_wait", number.fetch_add(1); number.wait(0); number.notify_one());
}

struct alignas(64) Line {
  char bytes[64];
};

// Every form of new, each ended by its own delete. Called by name, so that no optimiser leaves them out.
void blocks() {
  using std::align_val_t, std::nothrow;
  FAMILY("new_plain", ::operator delete(::operator new(8)); ::operator delete[](::operator new[](16)));
  FAMILY("new_sized", ::operator delete(::operator new(8), size_t{8});
         ::operator delete[](::operator new[](16), size_t{16}));
  FAMILY("new_nothrow", ::operator delete(::operator new(8, nothrow), nothrow);
         ::operator delete[](::operator new[](16, nothrow), nothrow));
  FAMILY("new_aligned", ::operator delete(::operator new(64, align_val_t{64}), align_val_t{64});
         ::operator delete[](::operator new[](128, align_val_t{64}), align_val_t{64}));
  FAMILY("new_aligned_sized",
         ::operator delete(::operator new(64, align_val_t{64}), size_t{64}, align_val_t{64});
         ::operator delete[](::operator new[](128, align_val_t{64}), size_t{128}, align_val_t{64}));
  FAMILY("new_aligned_nothrow",
         ::operator delete(::operator new(64, align_val_t{64}, nothrow), align_val_t{64}, nothrow);
         ::operator delete[](::operator new[](128, align_val_t{64}, nothrow), align_val_t{64}, nothrow));
  FAMILY("new_objects", kept = new Line; delete kept; kept = new Line[2]; delete[] kept);
}

void onces() {
  FAMILY("call_once", std::call_once(flag, [] {}); std::call_once(flag, [] {}));
  FAMILY(
      "broken_once",
      try { std::call_once(broken, [] { throw 1; }); } catch (int) {} std::call_once(broken, [] {}));
  FAMILY("guard", try { local_static(); } catch (const std::exception&) {} local_static(); local_static());
}

void threads() {
  FAMILY("joined", std::thread one([] { std::lock_guard guard(plain); }); one.join());
  FAMILY("jthread", std::jthread two([](std::stop_token stop) {
           while (!stop.stop_requested()) std::this_thread::yield();
         }));
  FAMILY("promise", std::promise<int> given; std::thread one([&] { given.set_value(7); });
         given.get_future().wait(); one.join());
  FAMILY("async", std::async(std::launch::async, [] { return 7; }).get());
  FAMILY("detached", std::thread([] {
                       go = true;
                       go.notify_one();
                     }).detach();
         go.wait(false));
}

int main() {
  try {
    throw 0;  // what the unwinder does once, it has done then
  } catch (int) {
  }
  locks();
  waits();
  blocks();
  onces();
  threads();
}
