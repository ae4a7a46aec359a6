// A replay inside gdb: the program follows the schedule by itself, and stops where a milestone of the finding
// is about to happen. The other threads are held by the scheduler, not by gdb, so `continue` goes to the next
// milestone.
#pragma once

#include "exec/run.h"

namespace cleave::exec {

// Replays once without gdb first: to see that the schedule can be followed, and to learn where the milestones
// lie in this build. Then becomes the terminal's gdb and returns its exit status.
Result<int> replay_in_gdb(const RunRequest& request, const Plan& milestones);

}  // namespace cleave::exec
