// Calls of the program's routines that may be left: by an exception, a longjmp, a cancellation, pthread_exit.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Calls `routine`; if it does not return but is left, `left` with `argument`, once, on the way out: before
// any handler of the frames around it.
void cleave_call_guarded(void (*routine)(void), void (*left)(void* argument), void* argument);

#ifdef __cplusplus
}
#endif
