// How much may be written, and waiting for whoever reads along (abi/flow.h).
#pragma once

#include <stdint.h>

namespace cleave::runtime {

// Takes CLEAVE_FLOW from the environment. False: the tool that asked for the trace is gone.
bool attach_flow();
// This process writes the trace that the reader reads: the others never wait.
void write_for_the_reader(bool does);
// Without a tool: as much as the file system of the descriptor bears.
void limit_by_free_space(int descriptor);

// Before a buffer is written, with nothing held: waits until the reader is near enough. A reader that died
// takes the program along; one that has closed lets it go on unrecorded, and this says false.
bool wait_for_reader();

// Takes room for so many bytes; false where that exceeds the limit. The first time, `first` is set.
bool take_bytes(uint64_t bytes, bool* first);
void count_records(uint64_t records);
uint64_t most_bytes();

}  // namespace cleave::runtime
