// The trace file: opened once, appended to by whichever thread has something, one system call a chunk. When
// it cannot be written any more, one sentence says so and the program goes on unrecorded.
#pragma once

#include <stdint.h>
#include <sys/uio.h>

#include "abi/trace_file.h"

namespace cleave::runtime {

// Takes CLEAVE_TRACE and CLEAVE_TRACE_RAW from the environment. False: no trace is asked for, or it cannot be
// opened (said).
bool open_trace();
// The child of a fork records into TRACE.PID, which is made when there is something to write.
void redirect_to_child_file();
// Whether a file was made by now; the child that only executes another program leaves none.
bool trace_is_open();
// The descriptor, which the program must not close, or -1; and moving it out of the program's way.
int trace_descriptor();
void move_trace_descriptor(int away_from);

// `parts[0]` must be the chunk header, filled but for magic, stored_bytes and checksum; at most 8 parts.
// `lead` bytes, if any, stand in front of it in the same write.
bool append_chunk(cleave_chunk_header& header, iovec* parts, int count);
// A body that stands right behind its header in memory.
bool append_chunk_in_place(cleave_chunk_header* header, uint32_t body_bytes);
// `words` of a stream as they stand, behind a header that is filled but for magic, flags, sizes and checksum.
bool append_raw_chunk(cleave_chunk_header& header, const uint64_t* words, uint64_t count);
// Whether records are to be written so, and not coded.
bool trace_is_raw();
// Whether processes that this one makes are to write none.
bool trace_is_of_one_process();
bool append_text_chunk(cleave_chunk_kind kind, const char* text, uint64_t bytes);

// The write fails for good: said once, recording ends.
void stop_recording(const char* why, int error);

}  // namespace cleave::runtime
