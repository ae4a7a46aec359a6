// The functions behind our interposers: what the program would have called without us (the next library in
// search order, usually libc; a replacement allocator if there is one). REAL(pthread_mutex_lock)(mutex) calls
// it.
//
// Resolved together when the runtime starts, or one at a time when something calls before that. dlsym may
// allocate: allocation.cpp serves that from a small arena of its own.
#pragma once

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

struct epoll_event;
struct rusage;
struct tms;
struct iovec;
struct pollfd;

namespace cleave::runtime {

struct RealFunctions {
#define CLEAVE_REAL(result, name, parameters) result(*name) parameters;
#include "runtime/interpose/real.def"
#undef CLEAVE_REAL
};
extern RealFunctions real;

void resolve_all();
void* resolve(const char* name);

template <typename Function>
inline Function resolved(Function& slot, const char* name) {
  if (__builtin_expect(slot == nullptr, 0)) slot = reinterpret_cast<Function>(resolve(name));
  return slot;
}

}  // namespace cleave::runtime

#define REAL(name) (::cleave::runtime::resolved(::cleave::runtime::real.name, #name))
// Before the definition of every function that replaces one of libc's.
#define INTERPOSE extern "C" __attribute__((visibility("default")))
