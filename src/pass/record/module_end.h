// What a module carries when it is done: the descriptor that it registers at start, and beside the program,
// in section .llvmcmd, its tables and its bitcode. The bitcode is the code that was instrumented, before the
// instrumentation went in: accesses, calls and marks have the numbers of their slots as metadata
// `cleave.slot`.
#pragma once

#include <llvm/IR/Module.h>

#include "pass/name/tables.h"

namespace cleave {

struct Package {
  std::vector<uint8_t> tables, bitcode;  // encoded; packed
  uint64_t bitcode_bytes = 0;            // unpacked
  uint64_t identity = 0;
};

Package pack(llvm::Module& module, const SiteTables& tables);
void finish_module(llvm::Module& module, const Package& package, const TableBuilder& tables,
                   llvm::GlobalVariable& segments);

}  // namespace cleave
