// Threads under control: their place in the creation tree, their first and last turn, join, cancel.
#include <errno.h>
#include <new>

#include "runtime/record/message.h"
#include "runtime/record/state.h"
#include "runtime/schedule/control.h"

namespace cleave::runtime {
namespace {

pthread_key_t exit_key;

// Slots of threads are never given back: schedules name every thread that ever was.
ControlThread* make_slot() {
  constexpr size_t kAtOnce = 64;
  static ControlThread* block;
  static size_t used = kAtOnce;
  if (used == kAtOnce) {
    block = static_cast<ControlThread*>(map_memory(kAtOnce * sizeof(ControlThread)));
    if (block == nullptr) fail("no memory for the threads of the schedule");
    used = 0;
  }
  return new (&block[used++]) ControlThread;
}

uint32_t find_request(const ControlThread* parent, uint32_t ordinal) {
  if (parent == nullptr)
    return count_of<cleave_control_thread>(control.file->request_threads) != 0 ? 0 : CLEAVE_NO_PLACE;
  const auto* tree = entries<cleave_control_thread>(control.file->request_threads);
  uint64_t count = count_of<cleave_control_thread>(control.file->request_threads);
  if (parent->request == CLEAVE_NO_PLACE) return CLEAVE_NO_PLACE;
  // Children come after their parents, and usually in order of creation: begin behind the newest match.
  static uint64_t hint = 1;
  for (uint64_t step = 0; step < count; ++step) {
    uint64_t i = (hint + step) % count;
    if (i == 0 || tree[i].parent != parent->request || tree[i].ordinal != ordinal) continue;
    hint = i + 1;
    return static_cast<uint32_t>(i);
  }
  return CLEAVE_NO_PLACE;
}

// Without a point: the thread's trace is at its end, and could not tell of another turn.
void thread_leaves(ControlThread* self) {
  ensure_turn(self);
  wake(self);  // whoever joins it
  end_turn(self);
  controlled = nullptr;
}

// Key destructors run in up to four rounds, after thread-local objects are gone; ours waits for the last
// round.
void on_thread_exit(void* argument) {
  auto* self = static_cast<ControlThread*>(argument);
  if (!control.on || controlled != self) return;
  if (++self->exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    if (self->exit_rounds + 1 == PTHREAD_DESTRUCTOR_ITERATIONS) point(self, CLEAVE_POINT_exit);
    pthread_setspecific(exit_key, self);
    return;
  }
  thread_leaves(self);
}

void* start_controlled(void* argument) {
  auto* self = static_cast<ControlThread*>(argument);
  controlled = self;
  self->tid.store(current_tid());
  pthread_setspecific(exit_key, self);
  if (state.mode.load() != Mode::Recording) control_thread_begins();
  return self->start(self->argument);
}

// What a new thread does before its first turn, and an old one after its last, allocates and frees. It must
// not meet what the holder does, or addresses would differ from run to run. Neither waits for anybody; the
// bound is for debuggers.
template <typename Done>
void wait_briefly(Done done) {
  timespec now{};
  auto milliseconds = [&] {
    system_call(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&now));
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
  };
  for (long until = 0; !done(); yield_processor()) {
    if (until == 0)
      until = milliseconds() + 200;
    else if (milliseconds() > until)
      return;
  }
}

int create(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return original.pthread_create(handle, attributes, start, argument);
  ensure_turn(self);
  ControlThread* child = new_control_thread(self);
  if (child == nullptr) return EAGAIN;
  child->start = start;
  child->argument = argument;
  pthread_t made{};
  int result = original.pthread_create(&made, attributes, start_controlled, child);
  if (result == 0) wait_briefly([=] { return child->arrived.load(); });
  ControlLock lock;
  if (result != 0) {  // it has its place in the tree, and has ended
    leave_ready(child);
    child->standing = Standing::Ended;
    ++control.ended;
    return result;
  }
  child->handle = made;
  child->handle_known = true;
  *handle = made;
  ++control.progress;
  return 0;
}

ControlThread* thread_of(pthread_t handle) {
  for (uint32_t i = control.thread_count; i-- > 0;) {  // the newest: handles are used again
    ControlThread* thread = control.threads[i];
    if (thread->handle_known && thread->handle == handle) return thread;
  }
  return nullptr;
}

int await_end(ControlThread* self, ControlThread* target, uint64_t deadline) {
  point(self, CLEAVE_POINT_join);
  while (target->standing != Standing::Ended) {
    block(self, CLEAVE_POINT_join, target, deadline);
    if (self->cancelled) pthread_testcancel();
    if (self->timed_out) break;
  }
  return target->standing == Standing::Ended ? 0 : ETIMEDOUT;
}

int reap(ControlThread* self, ControlThread* target, pthread_t thread, void** value) {
  self->reaps.store(true);
  int result = original.pthread_join(thread, value);
  self->reaps.store(false);
  if (result == 0) target->handle_known = false;
  return result;
}

int join(pthread_t thread, void** value) {
  ControlThread* self = controlled_self();
  ControlThread* target = self != nullptr ? thread_of(thread) : nullptr;
  if (target == nullptr || target == self) return original.pthread_join(thread, value);
  await_end(self, target, UINT64_MAX);
  return reap(self, target, thread, value);
}

int clockjoin(pthread_t thread, void** value, clockid_t clock, const timespec* until) {
  ControlThread* self = controlled_self();
  ControlThread* target = self != nullptr ? thread_of(thread) : nullptr;
  if (target == nullptr) return original.pthread_clockjoin_np(thread, value, clock, until);
  if (int result = await_end(self, target, deadline_of(clock, until))) return result;
  return reap(self, target, thread, value);
}

int tryjoin(pthread_t thread, void** value) {
  ControlThread* self = controlled_self();
  ControlThread* target = self != nullptr ? thread_of(thread) : nullptr;
  if (target == nullptr) return original.pthread_tryjoin_np(thread, value);
  point(self, CLEAVE_POINT_join);
  if (target->standing != Standing::Ended) return EBUSY;
  return reap(self, target, thread, value);
}

int cancel(pthread_t thread) {
  ControlThread* self = controlled_self();
  int result = original.pthread_cancel(thread);
  ControlThread* target = self != nullptr ? thread_of(thread) : nullptr;
  if (result != 0 || target == nullptr) return result;
  ensure_turn(self);
  ControlLock lock;
  target->cancelled = true;
  bool cancellable = target->waits_in == CLEAVE_POINT_wait || target->waits_in == CLEAVE_POINT_down ||
                     target->waits_in == CLEAVE_POINT_join || target->waits_in == CLEAVE_POINT_sleep;
  if (target->standing == Standing::Waiting && cancellable) {
    force_ready(target);
    target->timed_out = false;
  }
  return result;
}

}  // namespace

ControlThread* new_control_thread(ControlThread* parent) {
  if (control.thread_count == kControlThreads) return nullptr;
  ControlLock lock;
  ControlThread* thread = make_slot();
  thread->index = control.thread_count;
  thread->parent = parent != nullptr ? parent->index : 0;
  thread->ordinal = parent != nullptr ? ++parent->children : 0;
  thread->chain = mix(parent != nullptr ? parent->chain : 1, thread->ordinal);
  thread->request = find_request(parent, thread->ordinal);
  if (thread->request != CLEAVE_NO_PLACE) {
    control.by_request[thread->request] = thread;
    thread->pinned_at = entries<cleave_control_thread>(control.file->request_threads)[thread->request].pinned;
  }
  control.threads[control.thread_count++] = thread;
  log_thread(thread);
  policy_new_thread(thread);
  thread->rest_at = control.longest_run;
  plan_new_thread(thread);
  make_ready(thread);
  return thread;
}

void control_thread_begins() {
  ControlThread* self = controlled_self();
  if (self == nullptr || self->points != 0 || self->index == 0) return;
  {
    SignalsBlocked blocked;
    self->arrived.store(true);
    await_turn(self);
  }
  point(self, CLEAVE_POINT_start);
}

void await_leaving() {
  int tid = control.leaving;
  control.leaving = 0;
  wait_briefly([=] { return system_call(SYS_tgkill, current_pid(), tid, 0) != 0; });
}

void watch_thread_exit(ControlThread* self) { pthread_setspecific(exit_key, self); }

void replace_thread_calls() {
  pthread_key_create(&exit_key, on_thread_exit);
  real.pthread_create = create;
  real.pthread_join = join;
  real.pthread_tryjoin_np = tryjoin;
  real.pthread_clockjoin_np = clockjoin;
  real.pthread_cancel = cancel;
}

}  // namespace cleave::runtime
