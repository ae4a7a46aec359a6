// What memory holds before the first event.
#pragma once

#include <llvm/IR/GlobalVariable.h>

#include <cstdint>
#include <vector>

namespace cleave {

// Contents of a variable when the program starts; empty when it is larger than `largest` or holds addresses,
// which are not known before it runs.
std::vector<uint8_t> initial_bytes(const llvm::GlobalVariable& variable, uint64_t largest);

}  // namespace cleave
