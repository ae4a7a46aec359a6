// The runtime's own life: it starts before any instrumented code, and ends after the last.
#include "runtime/interpose/process.h"
#include "runtime/interpose/process_text.h"
#include "runtime/interpose/real.h"
#include "runtime/interpose/signals.h"
#include "runtime/record/file.h"
#include "runtime/record/message.h"
#include "runtime/record/state.h"
#include "runtime/schedule/control.h"

#include <stdlib.h>

extern "C" int on_exit(void (*function)(int, void*), void* argument);
extern "C" int __cxa_at_quick_exit(void (*function)(void*), void* library);

namespace cleave::runtime {
namespace {

SpinLock starting;
std::atomic<bool> destructor_ran{false};
std::atomic<bool> handlers_ran{false};
std::atomic<int> exit_status{0};

// Key destructors run in up to four rounds; ours asks to be called again until the last one, so that the
// records of the program's own destructors come before the thread's exit.
void thread_ends(void* argument) {
  auto* thread = static_cast<Thread*>(argument);
  if (++thread->exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(state.key, thread);
    return;
  }
  retire_thread(thread);
}

// exit() calls this after every other handler and static destructor, because it was registered before all of
// them.
void process_exits(int status, void*) {
  exit_status.store(status);
  handlers_ran.store(true);
  if (destructor_ran.load()) finish(Way::Orderly, "exit", "status", status & 0xff);
}

void process_exits_quickly(void*) { finish(Way::Orderly, "quick_exit", "status", exit_status.load() & 0xff); }

}  // namespace

void note_quick_exit(int status) { exit_status.store(status); }

void initialise() {
  SignalSafeLock lock(starting);
  if (state.mode.load() != Mode::Unset) return;
  state.starting.store(true);
  state.key_made = pthread_key_create(&state.key, thread_ends) == 0;
  resolve_all();
  state.mode.store(open_trace() ? Mode::Recording : Mode::Off);
  if (state.mode.load() != Mode::Recording) return state.starting.store(false);
  start_control();
  state.starting.store(false);
  // The main thread is number 0: taken here, before any other can be made.
  adopt_thread(acquire_thread(state.next_number.fetch_add(1), kNobody));
  if (state.one_at_a_time) control_main_begins();
  catch_fatal_signals();
  follow_forks();
  on_exit(process_exits, nullptr);
  __cxa_at_quick_exit(process_exits_quickly, nullptr);
}

void flush_all_settled() {
  Thread* own = current_thread;
  for (Thread* thread = state.threads.load(std::memory_order_acquire); thread != nullptr;
       thread = thread->next)
    if (thread->live && (own == nullptr || &thread->main != own->stream))
      flush_other(thread->main, Extent::Settled, false);
  if (state.controlled) control_settle();
  if (own != nullptr) flush_own(*own->stream);
  if (state.controlled) control_moved();
}

void finish(Way way, const char* ended, const char* name, long value) {
  if (state.mode.load() != Mode::Recording || state.finished.exchange(true)) return;
  Thread* own = own_thread();
  if (state.controlled) control_settle();
  if (own != nullptr) {
    if (way == Way::Orderly) record(kRecord_thread_exit, stamp_now());
    flush_own(*own->stream);
  }
  for (Thread* thread = state.threads.load(std::memory_order_acquire); thread != nullptr;
       thread = thread->next)
    if (thread->live && (own == nullptr || &thread->main != own->stream))
      flush_other(thread->main, Extent::Broken, true);
  write_end_chunk(ended, name, value);
  state.mode.store(Mode::Off);
}

}  // namespace cleave::runtime

using namespace cleave::runtime;

__attribute__((constructor)) static void runtime_starts() { initialise(); }

__attribute__((destructor)) static void runtime_ends() {
  destructor_ran.store(true);
  if (handlers_ran.load()) finish(Way::Orderly, "exit", "status", exit_status.load() & 0xff);
}
