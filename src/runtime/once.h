#pragma once

#include <pthread.h>

namespace cleave::runtime {

// pthread_once and call_once.
int run_once(pthread_once_t* control, void (*routine)());

}  // namespace cleave::runtime
