#pragma once

namespace cleave::runtime {

// From initialise: what is to happen in children.
void follow_forks();
// In stream.cpp: whoever held an encoder did not come along.
void reset_encoders();
// In runtime.cpp: the status that the END is to say.
void note_quick_exit(int status);

}  // namespace cleave::runtime
