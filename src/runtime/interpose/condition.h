// What the C11 functions share with the POSIX ones.
#pragma once

#include <pthread.h>
#include <time.h>

namespace cleave::runtime {

int wait_condition(pthread_cond_t* condition, pthread_mutex_t* mutex);
int timed_wait_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until);
int clock_wait_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                         const timespec* until);
int signal_condition(pthread_cond_t* condition);
int broadcast_condition(pthread_cond_t* condition);

}  // namespace cleave::runtime
