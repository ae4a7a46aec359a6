// Who could run, who has a deadline, who waits for what.
#include "runtime/schedule/control.h"

namespace cleave::runtime {
namespace {

// Waiting threads by what they wait for, first come first. Only the holder of the turn changes who waits.
constexpr uint32_t kBuckets = 1024;
struct Bucket {
  ControlThread *first = nullptr, *last = nullptr;
};
Bucket buckets[kBuckets];

Bucket& bucket_of(const volatile void* object) {
  return buckets[(reinterpret_cast<uintptr_t>(object) >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

void leave_bucket(ControlThread* thread) {
  if (!thread->in_bucket) return;
  Bucket& bucket = bucket_of(thread->object);
  (thread->bucket_previous ? thread->bucket_previous->bucket_next : bucket.first) = thread->bucket_next;
  (thread->bucket_next ? thread->bucket_next->bucket_previous : bucket.last) = thread->bucket_previous;
  thread->bucket_next = thread->bucket_previous = nullptr;
  thread->in_bucket = false;
}

// Whether the thread, given the turn, can find out by itself that it may go on.
bool can_look_again(const ControlThread* thread) {
  switch (thread->waits_in) {
    case CLEAVE_POINT_wait:
    case CLEAVE_POINT_barrier:
    case CLEAVE_POINT_sleep:
    case CLEAVE_POINT_join:
    case CLEAVE_POINT_drain:
      return false;
    default:
      return true;
  }
}

}  // namespace

void make_ready(ControlThread* thread) {
  thread->standing = Standing::Ready;
  if (thread->ready_slot != CLEAVE_NO_PLACE) return;
  thread->ready_slot = control.ready_count;
  control.ready[control.ready_count++] = thread;
  control.reconsider = true;
  // What it waited for races with what others wait for: whoever is first is drawn anew.
  if (control.sampling) draw_priority(thread);
}

void leave_ready(ControlThread* thread) {
  if (thread->ready_slot == CLEAVE_NO_PLACE) return;
  ControlThread* last = control.ready[--control.ready_count];
  control.ready[thread->ready_slot] = last;
  last->ready_slot = thread->ready_slot;
  thread->ready_slot = CLEAVE_NO_PLACE;
}

void enter_timed(ControlThread* thread) {
  if (thread->deadline == UINT64_MAX) return;
  if (thread->deadline < control.next_due) control.next_due = thread->deadline;
  thread->timed_slot = control.timed_count;
  control.timed[control.timed_count++] = thread;
}

void leave_timed(ControlThread* thread) {
  if (thread->timed_slot == CLEAVE_NO_PLACE) return;
  ControlThread* last = control.timed[--control.timed_count];
  control.timed[thread->timed_slot] = last;
  last->timed_slot = thread->timed_slot;
  thread->timed_slot = CLEAVE_NO_PLACE;
}

void enter_bucket(ControlThread* thread) {
  Bucket& bucket = bucket_of(thread->object);
  thread->bucket_previous = bucket.last;
  thread->bucket_next = nullptr;
  (bucket.last ? bucket.last->bucket_next : bucket.first) = thread;
  bucket.last = thread;
  thread->in_bucket = true;
}

void wake_one(ControlThread* thread) {
  thread->woken = true;
  leave_bucket(thread);
  leave_timed(thread);
  make_ready(thread);
}

void force_ready(ControlThread* thread) {
  if (thread->standing != Standing::Waiting) return;
  thread->timed_out = thread->deadline != UINT64_MAX;
  leave_bucket(thread);
  leave_timed(thread);
  make_ready(thread);
}

bool probe_waiting() {
  bool any = false;
  for (uint32_t i = 0; i < control.thread_count; ++i) {
    ControlThread* thread = control.threads[i];
    if (thread->standing != Standing::Waiting || !can_look_again(thread)) continue;
    leave_bucket(thread);
    leave_timed(thread);
    make_ready(thread);
    any = true;
  }
  return any;
}

ControlThread* earliest() {
  ControlThread* first = nullptr;
  for (uint32_t i = 0; i < control.timed_count; ++i) {
    ControlThread* thread = control.timed[i];
    if (thread->deadline == kSpurious) continue;
    if (first == nullptr || thread->deadline < first->deadline ||
        (thread->deadline == first->deadline && thread->index < first->index))
      first = thread;
  }
  return first;
}

ControlThread* expire(uint64_t now) {
  ControlThread* first = nullptr;
  ControlThread* next = earliest();
  for (; next != nullptr && next->deadline <= now; next = earliest()) {
    if (first == nullptr) first = next;
    force_ready(next);
  }
  control.next_due = next != nullptr ? next->deadline : UINT64_MAX;
  return first;
}

bool all_ready_spin() {
  for (uint32_t i = 0; i < control.ready_count; ++i)
    if (!control.ready[i]->waits_in_loop()) return false;
  return true;
}

uint32_t wake(const volatile void* object, uint32_t most) {
  ++control.progress;
  if (bucket_of(object).first == nullptr) return 0;
  ControlLock lock;
  uint32_t count = 0;
  for (ControlThread* thread = bucket_of(object).first; thread != nullptr && count < most;) {
    ControlThread* next = thread->bucket_next;
    if (thread->object == object) {
      wake_one(thread);
      ++count;
    }
    thread = next;
  }
  return count;
}

uint32_t count_waiters(const volatile void* object, Point in) {
  uint32_t count = 0;
  for (ControlThread* thread = bucket_of(object).first; thread != nullptr; thread = thread->bucket_next)
    count += thread->object == object && thread->waits_in == in;
  return count;
}

ControlThread* waiter_at(const volatile void* object, Point in, uint32_t number) {
  for (ControlThread* thread = bucket_of(object).first; thread != nullptr; thread = thread->bucket_next)
    if (thread->object == object && thread->waits_in == in && number-- == 0) return thread;
  return nullptr;
}

void wake_waiter(ControlThread* thread) {
  ++control.progress;
  ControlLock lock;
  wake_one(thread);
}

}  // namespace cleave::runtime
