// The registry of threads: slots with a buffer each, recycled, and what a thread is born and dies with.
#include <string.h>
#include <new>

#include "runtime/interpose/mutex.h"
#include "runtime/interpose/real.h"
#include "runtime/interpose/signals.h"
#include "runtime/record/message.h"
#include "runtime/record/state.h"

namespace cleave::runtime {

State state;
__thread Thread* current_thread;
__thread uint32_t current_number_plus_one;
__thread bool current_exited;
__thread uint32_t current_quiet;

}  // namespace cleave::runtime

extern "C" __attribute__((visibility("default"))) __thread cleave_thread_block __cleave_thread = {
    nullptr, nullptr, CLEAVE_BRANCHES_NONE};

namespace cleave::runtime {
namespace {

// The more threads there are, the smaller are the buffers of further ones: with the last class, 20,000
// threads stay below 256 MiB.
struct SizeClass {
  uint32_t up_to_threads;
  size_t bytes;  // Thread and buffer
};
constexpr SizeClass kClasses[] = {
    {128, 68 * 1024}, {1024, 32 * 1024}, {4096, 16 * 1024}, {UINT32_MAX, 8 * 1024}};
constexpr uint32_t kSmallest = 3;
Thread* free_slots[4];  // under State::registry

uint32_t class_for_now() {
  if (state.mode.load(std::memory_order_relaxed) != Mode::Recording) return kSmallest;
  uint32_t index = 0;
  while (state.live_threads.load(std::memory_order_relaxed) >= kClasses[index].up_to_threads) ++index;
  return index;
}

// Signal stack, Thread, buffer, in this order: pages that are never used cost nothing.
Thread* make_slot(uint32_t size_class) {
  size_t bytes = kSignalStack + kClasses[size_class].bytes;
  char* memory = static_cast<char*>(map_memory(bytes));
  if (memory == nullptr) fail("no memory for the buffer of a thread");
  Thread* thread = new (memory + kSignalStack) Thread;
  thread->signal_stack = memory;
  thread->slot_bytes = bytes;
  thread->size_class = size_class;
  constexpr size_t kThreadBytes = (sizeof(Thread) + 63) & ~size_t{63};
  thread->main.base = reinterpret_cast<uint64_t*>(memory + kSignalStack + kThreadBytes);
  thread->main.end = reinterpret_cast<uint64_t*>(memory + bytes) - kSlackWords;
  make_unwritten(thread->main.base, thread->main.end + kSlackWords);
  return thread;
}

void clear_stream(Stream& stream) {
  stream.flushed = stream.base;
  stream.saved = {stream.base, stream.base, CLEAVE_BRANCHES_NONE};
  stream.block.store(&stream.saved);
  stream.claimed.store(Claim::Free);
  stream.sequence = 0;
  stream.stripe = nullptr;
  stream.flush_stamp = stamp_now();
}

void record_stack() {
  Quiet quiet;
  pthread_attr_t attributes;
  void* lowest = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0)
    record(kRecord_stack, word_of(lowest), word_of(lowest) + bytes);
  pthread_attr_destroy(&attributes);
}

}  // namespace

Thread* acquire_thread(uint32_t number, uint32_t parent) {
  uint32_t size_class = class_for_now();
  Thread* thread = nullptr;
  {
    SignalSafeLock lock(state.registry);
    thread = free_slots[size_class];
    if (thread != nullptr) free_slots[size_class] = thread->next_free;
  }
  bool fresh = thread == nullptr;
  if (fresh) thread = make_slot(size_class);
  clear_stream(thread->main);
  thread->main.number = number;
  thread->main.parent = parent;
  thread->stream = &thread->main;
  thread->handler_depth = 0;
  thread->exit_rounds = 0;
  thread->once = nullptr;
  thread->held_count = 0;
  thread->encoder = number;
  state.live_threads.fetch_add(1, std::memory_order_relaxed);
  SignalSafeLock lock(state.registry);
  thread->live = true;
  if (fresh) {
    thread->next = state.threads.load(std::memory_order_relaxed);
    state.threads.store(thread, std::memory_order_release);
  }
  return thread;
}

void release_thread(Thread* thread) {
  for (Thread*& handler : thread->handlers) {
    if (handler != nullptr) release_thread(handler);
    handler = nullptr;
  }
  state.live_threads.fetch_sub(1, std::memory_order_relaxed);
  SignalSafeLock lock(state.registry);
  thread->live = false;
  thread->main.block.store(nullptr);
  thread->next_free = free_slots[thread->size_class];
  free_slots[thread->size_class] = thread;
}

void make_current(Thread* thread, Stream* stream) {
  thread->stream = stream;
  __cleave_thread = stream->saved;
  stream->block.store(&__cleave_thread, std::memory_order_release);
}

void adopt_thread(Thread* thread) {
  current_thread = thread;
  current_number_plus_one = thread->main.number + 1;
  thread->tid = current_tid();
  make_current(thread, &thread->main);
  if (state.key_made) {
    Quiet quiet;
    pthread_setspecific(state.key, thread);
  }
  if (state.mode.load() != Mode::Recording) return;
  use_signal_stack(thread);
  record(kRecord_thread_start, thread->main.number, thread->main.parent, stamp_now());
  record_stack();
}

// What signal handlers did on this thread goes into the file with the thread.
static void retire_handlers(Thread* thread) {
  for (Thread* handler : thread->handlers) {
    if (handler == nullptr) continue;
    Stream& stream = handler->main;
    if (state.mode.load() == Mode::Recording) flush_other(stream, Extent::Whole, false);
    make_unwritten(stream.base, stream.end + kSlackWords);
  }
}

void retire_thread(Thread* thread) {
  retire_handlers(thread);
  if (state.mode.load() == Mode::Recording) {
    release_robust_mutexes(thread);
    record(kRecord_thread_exit, stamp_now());
    flush_own(thread->main);
  }
  leave_signal_stack(thread);
  current_exited = true;
  current_thread = nullptr;
  __cleave_thread = {nullptr, nullptr, CLEAVE_BRANCHES_NONE};
  release_thread(thread);
}

Thread* own_thread() {
  if (__builtin_expect(current_thread != nullptr, 1)) return current_thread;
  if (current_exited || state.starting.load(std::memory_order_relaxed)) return nullptr;
  if (state.mode.load() == Mode::Unset) initialise();
  if (current_thread != nullptr) return current_thread;
  adopt_thread(acquire_thread(state.next_number.fetch_add(1), kNobody));
  return current_thread;
}

uint32_t number_of(pthread_t thread) {
  // A pthread_t is the address of the thread's control block, and static thread-local variables lie at the
  // same distance from it in every thread. The memory is there until the thread is joined.
  auto distance = reinterpret_cast<char*>(&current_number_plus_one) - reinterpret_cast<char*>(pthread_self());
  auto* place = reinterpret_cast<uint32_t*>(reinterpret_cast<char*>(thread) + distance);
  // A thread that was just made may not have come as far as saying its number.
  for (unsigned turn = 0; turn < 1000000; ++turn) {
    uint32_t number = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (number != 0) return number - 1;
    yield_processor();
  }
  return kNobody;
}

void reset_after_fork() {
  state.registry.reset();
  Thread* own = current_thread;
  state.live_threads.store(0);
  state.next_number.store(1);
  state.late.store(0);
  for (Thread*& slot : free_slots) slot = nullptr;
  for (Thread* thread = state.threads.load(); thread != nullptr; thread = thread->next) {
    thread->live = false;
    bool in_use = own != nullptr && thread == own;
    for (uint32_t i = 0; own != nullptr && i < kHandlerDepth; ++i) in_use |= own->handlers[i] == thread;
    if (in_use) continue;
    make_unwritten(thread->main.base, thread->main.end + kSlackWords);
    thread->next_free = free_slots[thread->size_class];
    free_slots[thread->size_class] = thread;
  }
  if (own == nullptr) return;
  own->live = true;
  own->tid = current_tid();
  own->main.number = 0;
  own->main.parent = kNobody;
  state.live_threads.store(1);
}

}  // namespace cleave::runtime
