// What a search, or a witness, has chosen for the program's inputs. Rare: once per call of cleave_input_*.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace cleave::runtime {

// Leave the value as it is when nothing was chosen for that name.
void choose_number(const char* name, uint64_t* value);
void choose_bytes(const char* name, void* data, size_t bytes);

}  // namespace cleave::runtime
