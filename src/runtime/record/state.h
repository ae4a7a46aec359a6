// What the runtime knows: one State for the process, one Thread for each thread.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <atomic>

#include "runtime/record/spin_lock.h"
#include "runtime/record/stream.h"

namespace cleave::runtime {

inline constexpr size_t kHandlerDepth = 16;  // signal handlers on top of one another, each with a stream
inline constexpr size_t kSignalStack = 16 * 1024;

struct Thread;

// One pthread_once in progress on this thread.
struct OnceFrame {
  void (*routine)();
  void* control;
  bool ran;
  OnceFrame* outer;
};

// A lock and the record that said that it was taken.
inline constexpr uint32_t kHeldLocks = 32;
struct HeldLock {
  const volatile void* object;
  Record lock;
};

struct Thread {
  Stream main;
  Stream* stream = nullptr;                   // current: main, or a handler's
  Thread* handlers[kHandlerDepth]{};          // each a slot of its own, of which only `main` is used
  uintptr_t handler_frames[kHandlerDepth]{};  // stack pointer where the handler was entered
  uint32_t handler_depth = 0;
  int tid = 0;
  void* (*start)(void*) = nullptr;
  void* argument = nullptr;
  OnceFrame* once = nullptr;
  HeldLock held[kHeldLocks]{};  // held.h
  uint32_t held_count = 0;
  uint32_t exit_rounds = 0;
  uint32_t encoder = 0;       // the one used last: its memory is warm
  bool flushing = false;      // signals wait until the buffer is in the file
  bool signals_wait = false;  // one did; the mask to go back to is
  uint64_t signal_mask = 0;
  uint32_t size_class = 0;
  bool live = false;       // under State::registry
  Thread* next = nullptr;  // all slots ever made
  Thread* next_free = nullptr;
  void* signal_stack = nullptr;
  size_t slot_bytes = 0;
};

enum class Mode : uint32_t {
  Unset,  // before initialise
  Off,    // no trace asked for, or it cannot be written any more: records go nowhere
  Recording,
};

// How an input record's value is to be read: runtime_records.def.
enum class InputKind : uint32_t { Signed = 0, Unsigned = 1, Bytes = 2 };

struct State {
  std::atomic<Mode> mode{Mode::Unset};
  std::atomic<bool> finished{false};  // END is written
  std::atomic<uint32_t> next_number{0};
  std::atomic<bool> starting{false};  // initialise() is at work: what it calls itself is not the program's
  std::atomic<uint64_t> late{0};      // events after their thread's exit
  std::atomic<uint32_t> live_threads{0};
  SpinLock registry;
  std::atomic<Thread*> threads{nullptr};
  pthread_key_t key = 0;
  bool key_made = false;
  bool controlled = false;     // a schedule other than free: src/runtime/schedule/control*
  bool one_at_a_time = false;  // and other than noise: every segment is a scheduling point, turns order all
};

extern State state;
extern __thread Thread* current_thread __attribute__((tls_model("initial-exec")));
// Number of the thread plus one; read by whoever joins it, so it outlives the Thread.
extern __thread uint32_t current_number_plus_one __attribute__((tls_model("initial-exec")));
// The thread has written its exit.
extern __thread bool current_exited __attribute__((tls_model("initial-exec")));
// Not 0: what libc does now is our own doing and is not recorded.
extern __thread uint32_t current_quiet __attribute__((tls_model("initial-exec")));

inline bool recording() {
  return __builtin_expect(state.mode.load(std::memory_order_relaxed) == Mode::Recording, 1) &&
         current_quiet == 0;
}

// Within its scope nothing that this thread does is recorded.
class Quiet {
 public:
  Quiet() { ++current_quiet; }
  ~Quiet() { --current_quiet; }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
};

// Idempotent; from our constructor, or earlier when a module registers first.
void initialise();
// Everything into the file, END last: {"ended": ENDED, NAME: VALUE, …}. The first caller does it. After a
// crash the caller's thread has not exited.
enum class Way { Orderly, Crash };
void finish(Way way, const char* ended, const char* name, long value);
// All streams but the caller's; before an exec that may fail.
void flush_all_settled();

// This thread's Thread; makes one for a thread that did not come through pthread_create. Null after its exit.
Thread* own_thread();
Thread* acquire_thread(uint32_t number, uint32_t parent);
void release_thread(Thread* thread);
void adopt_thread(Thread* thread);   // the calling thread becomes it: first records
void retire_thread(Thread* thread);  // its last record and flush
void make_current(Thread* thread, Stream* stream);
uint32_t number_of(pthread_t thread);  // kNobody if not known
void reset_after_fork();

// Room for a record of the runtime itself: never a scheduling point.
uint64_t* room_for(size_t words);

// Writes one record of the runtime. A signal handler may come at any moment: it has its own stream. The
// header is stored last, so another thread that looks sees either the whole record or none.
template <typename... Words>
inline void record(Record kind, Words... words) {
  constexpr size_t kWords = 1 + sizeof...(words);
  const Thread* thread = current_thread;
  uint64_t* place = __cleave_thread.cursor;
  // No buffer yet, not ours (closed, going nowhere), or full.
  if (thread == nullptr || place < thread->stream->base || place + kWords > thread->stream->end) {
    place = room_for(kWords);
    if (place == nullptr) return;
  }
  __cleave_thread.cursor = place + kWords;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  uint64_t* word = place + 1;
  ((*word++ = static_cast<uint64_t>(words)), ...);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  *place = kind | __cleave_thread.branches << CLEAVE_HEADER_ADDRESS_BITS;
  __cleave_thread.branches = CLEAVE_BRANCHES_NONE;
}

inline uint64_t word_of(const volatile void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// Before the thread may sleep for long: what it did so far goes into the file if it has waited there for a
// while, so that a reader of the live file sees it and a kill does not lose it.
void flush_if_old();
// The same at once: before a thread is made, whose first records say that this one made it.
void flush_now();

}  // namespace cleave::runtime
