// Names and types as the source has them, out of debug information.
#pragma once

#include <llvm/IR/DebugInfoMetadata.h>

#include <string>

namespace cleave {

// Account::withdraw, (anonymous namespace)::total: the entity's name behind those of its classes and
// namespaces.
std::string qualified_name(const llvm::DIScope* scope, llvm::StringRef name);
std::string qualified_name(const llvm::DIType* type);
std::string qualified_name(const llvm::DISubprogram* function);

// As one would write it: `const char*`, `int[8]`, `std::atomic<int>`.
std::string spelled(const llvm::DIType* type);

// Without typedefs and cv qualifiers (std::atomic stays a class; _Atomic goes). Null for void.
const llvm::DIType* plain(const llvm::DIType* type);
// The class, struct or union behind typedefs and qualifiers, or null.
const llvm::DICompositeType* as_class(const llvm::DIType* type);
const llvm::DICompositeType* as_array(const llvm::DIType* type);
// What a pointer or reference points to; null if it is none or points to void.
const llvm::DIType* pointee(const llvm::DIType* type);

// Whole path of the file.
std::string path_of(const llvm::DIFile* file);
// From a system's own headers: their classes are not what a user means by a unit or a set.
bool is_system(const llvm::DIFile* file);

}  // namespace cleave
