// The JSON texts in a trace: what process it is of, which files are mapped, how it ended.
#pragma once

#include <stddef.h>

namespace cleave::runtime {

enum class ProcessText { Whole, MappedFiles };
bool write_process_chunk(ProcessText what);
// The mapped files again, if a library was loaded since they were last written.
bool write_new_mapped_files();
// {"ended": ENDED, NAME: VALUE, "threads": …, "late": …}
bool write_end_chunk(const char* ended, const char* name, long value);

}  // namespace cleave::runtime
