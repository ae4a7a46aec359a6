#pragma once

#include <pthread.h>

namespace cleave::runtime {

// pthread_once and call_once.
int run_once(pthread_once_t* control, void (*routine)());
// In the child of a fork within these routines.
struct OnceFrame;
void begin_onces_again(const OnceFrame* innermost);

}  // namespace cleave::runtime
