// What the other families (C11 threads, condition variables) need of mutexes.
#pragma once

#include <pthread.h>
#include <time.h>

namespace cleave::runtime {

int lock_mutex(pthread_mutex_t* mutex);
int try_lock_mutex(pthread_mutex_t* mutex);
int timed_lock_mutex(pthread_mutex_t* mutex, const timespec* until);
int clock_lock_mutex(pthread_mutex_t* mutex, clockid_t clock, const timespec* until);
int unlock_mutex(pthread_mutex_t* mutex);

int lock_spin(pthread_spinlock_t* lock);
int try_lock_spin(pthread_spinlock_t* lock);
int unlock_spin(pthread_spinlock_t* lock);

// A checked mutex that is not this thread's.
bool unlock_is_refused(const pthread_mutex_t* mutex);
// Records; the caller holds the mutex.
void after_mutex_lock(pthread_mutex_t* mutex);
void before_mutex_unlock(pthread_mutex_t* mutex);
// Its end gives up the robust ones that it holds.
struct Thread;
void release_robust_mutexes(Thread* thread);

}  // namespace cleave::runtime
