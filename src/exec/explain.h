// Sentences about a controlled run: who waits for what, where a replay left its recording, why a plan
// stopped.
#pragma once

#include <string>

#include "exec/control_file.h"
#include "exec/run.h"
#include "exec/tables.h"

namespace cleave::exec {

// One line a thread. `lost_wake_up` is set when a wait can be explained by a signal that met nobody.
std::string explain_waits(const ControlFile& file, const ProgramTables& tables, bool* lost_wake_up);
std::string explain_divergence(const ControlFile& file, const ProgramTables& tables,
                               const Schedule& recorded);
std::string explain_plan(const ControlFile& file, const ProgramTables& tables, const Plan& plan);

}  // namespace cleave::exec
