// Signals: the fatal ones end the trace properly, the program's handlers get streams of their own.
#pragma once

#include <stdint.h>

namespace cleave::runtime {

struct Thread;

// Once, when recording starts: every signal that would kill the process and that nobody handles or ignores.
void catch_fatal_signals();
// A stack for handlers, so that a stack overflow can be recorded too. Only if the thread has none.
void use_signal_stack(Thread* thread);
void leave_signal_stack(Thread* thread);

}  // namespace cleave::runtime
