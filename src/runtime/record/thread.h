// What the C11 functions share with the POSIX ones.
#pragma once

#include <pthread.h>
#include <time.h>

namespace cleave::runtime {

int create_thread(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*), void* argument);
int join_thread(pthread_t thread, void** value);
int try_join_thread(pthread_t thread, void** value);
int clock_join_thread(pthread_t thread, void** value, clockid_t clock, const timespec* until);
int detach_thread(pthread_t thread);
int cancel_thread(pthread_t thread);

}  // namespace cleave::runtime
