// The bitcode of all modules of a program as one LLVM module, and what the site tables know of its
// instructions.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/program.h"

namespace cleave::static_analysis {

// A place in the source, with the functions around it: the innermost first. Inlining does not matter to it.
struct Frame {
  std::string function, file;
  uint32_t line = 0;
  bool system = false;  // code of a system header
};

// A unit that a mark begins: what the source says of it.
struct MarkedUnit {
  std::string name;
  bool annotated = false;  // CLEAVE_ATOMIC, CLEAVE_ATOMIC_BEGIN
};

class WholeProgram {
 public:
  // Reads and links every module. An Error when no module has usable bitcode.
  static Result<std::unique_ptr<WholeProgram>> load(const Program& program);

  llvm::Module& module() { return *module_; }
  const llvm::Module& module() const { return *module_; }

  // The entry of the site tables for this instruction's first slot, and its module; null where there is none.
  const SiteEntry* site(const llvm::Instruction& instruction, const SiteTables** tables) const;
  // Sites of all slots that an access has: a wide one may touch several variables.
  std::vector<const SiteEntry*> sites(const llvm::Instruction& instruction, const SiteTables** tables) const;
  // Of a call of __cleave_mark_unit_begin or _end.
  MarkedUnit unit(const llvm::CallBase& mark) const;

  // By debug information. Empty without it.
  static std::vector<Frame> frames(const llvm::Instruction& instruction);
  // As the source calls the function; its symbol where there is no debug information.
  static std::string name_of(const llvm::Function& function);
  static std::string name_of(const llvm::GlobalVariable& global);
  // Name and class of a local variable that stands in memory; empty if not known.
  static std::pair<std::string, std::string> local(const llvm::Instruction& alloca);

  // A class of the program by its name, and the tables that it is in; null if there is none.
  const SiteTables* find_class(const std::string& name, uint32_t* type) const;

  uint64_t functions() const { return functions_; }  // with a body
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  explicit WholeProgram(const Program& program) : program_(program) {}
  void take(const ProgramModule& from, uint32_t index);
  const Slot* slot(const llvm::Instruction& instruction, const SiteTables** tables, uint32_t* segment,
                   uint32_t* number) const;

  const Program& program_;
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
  std::vector<std::string> remarks_;
  uint64_t functions_ = 0;
};

}  // namespace cleave::static_analysis
