// Part one of the pass: where units begin and end, marked before anything is inlined.
#pragma once

#include <llvm/IR/Module.h>

namespace cleave {

// Puts marks (marks.h) around the bodies of functions and where CLEAVE_ATOMIC_BEGIN and _END stand:
//   CLEAVE_ATOMIC, CLEAVE_NOT_ATOMIC, CLEAVE_UNITFOR   as the user says
//   public and protected methods                        Method, with their object
//   C functions whose first parameter points to a struct  StructFunction, with that object
//   every other function of the program's own           Function: a unit only where --units or cleave.toml
//   names it
// Not marked, unless the user says so: code of system headers, constructors and destructors (nobody else has
// the object yet, or any more), coroutines (which leave in the middle), and functions that make at most one
// access in all: such a unit is atomic by itself.
void mark_units(llvm::Module& module);

}  // namespace cleave
