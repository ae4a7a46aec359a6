// C11 threads. In glibc they are the POSIX objects under other names; so they are here.
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "runtime/interpose/condition.h"
#include "runtime/interpose/mutex.h"
#include "runtime/interpose/once.h"
#include "runtime/interpose/real.h"
#include "runtime/record/thread.h"

namespace cleave::runtime {
namespace {

int c11_result(int error) {
  switch (error) {
    case 0:
      return thrd_success;
    case ENOMEM:
      return thrd_nomem;
    case ETIMEDOUT:
      return thrd_timedout;
    case EBUSY:
      return thrd_busy;
    default:
      return thrd_error;
  }
}

pthread_mutex_t* posix(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* posix(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

// On x86-64 the int that a C11 thread returns lies in the register of the pointer that a POSIX thread
// returns.
void* (*posix(thrd_start_t start))(void*) {
  return reinterpret_cast<void* (*)(void*)>(reinterpret_cast<void*>(start));
}

}  // namespace
}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE int thrd_create(thrd_t* handle, thrd_start_t start, void* argument) {
  return c11_result(create_thread(handle, nullptr, posix(start), argument));
}
INTERPOSE int thrd_join(thrd_t thread, int* value) {
  void* returned = nullptr;
  int result = join_thread(thread, &returned);
  if (result == 0 && value != nullptr) *value = static_cast<int>(reinterpret_cast<intptr_t>(returned));
  return c11_result(result);
}
INTERPOSE int thrd_detach(thrd_t thread) { return c11_result(detach_thread(thread)); }
INTERPOSE void thrd_exit(int value) { pthread_exit(reinterpret_cast<void*>(static_cast<intptr_t>(value))); }
INTERPOSE int mtx_lock(mtx_t* mutex) { return c11_result(lock_mutex(posix(mutex))); }
INTERPOSE int mtx_trylock(mtx_t* mutex) { return c11_result(try_lock_mutex(posix(mutex))); }
INTERPOSE int mtx_timedlock(mtx_t* mutex, const timespec* until) {
  return c11_result(timed_lock_mutex(posix(mutex), until));
}
INTERPOSE int mtx_unlock(mtx_t* mutex) { return c11_result(unlock_mutex(posix(mutex))); }
INTERPOSE void call_once(once_flag* flag, void (*routine)(void)) {
  run_once(reinterpret_cast<pthread_once_t*>(flag), routine);
}
INTERPOSE int cnd_signal(cnd_t* condition) { return c11_result(signal_condition(posix(condition))); }
INTERPOSE int cnd_broadcast(cnd_t* condition) { return c11_result(broadcast_condition(posix(condition))); }
INTERPOSE int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return c11_result(wait_condition(posix(condition), posix(mutex)));
}
INTERPOSE int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  return c11_result(timed_wait_condition(posix(condition), posix(mutex), until));
}
