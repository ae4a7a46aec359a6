// Functions that libstdc++ has compiled and that work on the program's own containers are put into the module
// instead, where they can be seen (library/README.md).
#pragma once

#include <llvm/IR/Module.h>

namespace cleave {

// Before anything else looks at the module. Does nothing to a module that calls none of them.
void define_library_functions(llvm::Module& module);

// When everything has its name: what our functions are made of says that it stands where it is used, so call
// stacks end in functions that the library has, too.
void hide_library_helpers(llvm::Module& module);

}  // namespace cleave
