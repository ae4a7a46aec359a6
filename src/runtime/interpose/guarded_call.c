#include "runtime/interpose/guarded_call.h"

#include <pthread.h>

// libc walks its list of these buffers when a longjmp, a cancellation or pthread_exit leaves their frames;
// exceptions pass it by, and find the cleanup of the frame. libc guards its own pthread_once in the same two
// ways.
void _pthread_cleanup_push(struct _pthread_cleanup_buffer* buffer, void (*routine)(void*), void* argument);
void _pthread_cleanup_pop(struct _pthread_cleanup_buffer* buffer, int execute);

struct guard {
  void (*left)(void*);
  void* argument;
  int active;
  struct _pthread_cleanup_buffer buffer;
};

static void walked(void* argument) {
  struct guard* guard = argument;
  guard->active = 0;
  guard->left(guard->argument);
}

static void unwound(struct guard* guard) {
  if (!guard->active) return;
  _pthread_cleanup_pop(&guard->buffer, 0);
  walked(guard);
}

void cleave_call_guarded(void (*routine)(void), void (*left)(void*), void* argument) {
  __attribute__((cleanup(unwound))) struct guard guard = {left, argument, 1, {0}};
  _pthread_cleanup_push(&guard.buffer, walked, &guard);
  routine();
  _pthread_cleanup_pop(&guard.buffer, 0);
  guard.active = 0;
}
