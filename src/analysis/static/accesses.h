// The accesses to memory that several threads may reach, each with the variables it touches. A variable is a
// field of an object (the paper's GlobalVars); a container of the standard library with all it has allocated
// is one.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/static/object_classes.h"
#include "analysis/static/points_to.h"
#include "analysis/static/processes.h"
#include "analysis/static/whole_program.h"

namespace cleave::static_analysis {

using VarId = uint32_t;

struct Variable {
  std::string name;
  bool one_object = false;  // there is one instance of it in the program
  bool container = false;   // a container of the standard library with what it owns
  uint32_t object =
      UINT32_MAX;  // of PointsTo; module state, the globals of a program, is one: UINT32_MAX - 1
};

// The variables that one side of an access touches. In one execution it touches all of one alternative: one
// that goes through a pointer has several alternatives, a wide one has several variables in each.
struct Touch {
  std::vector<std::vector<VarId>> alternatives;
  std::vector<VarId> variables;  // of all alternatives, sorted
  explicit operator bool() const { return !variables.empty(); }
  bool has(VarId variable) const { return std::binary_search(variables.begin(), variables.end(), variable); }
};

struct Access {
  const llvm::Instruction* at = nullptr;
  bool atomic = false;
  bool in_block = false;  // in memory that a container owns: an element
  bool fresh = false;     // a write to an object that this function has just made
  Touch read, write;
  bool touches(VarId variable) const { return read.has(variable) || write.has(variable); }
};

class Accesses {
 public:
  // `by_name`: the paper's variables, a class and a field, whatever the object.
  Accesses(const WholeProgram& whole, const PointsTo& points_to, const Processes& processes, bool by_name);

  const std::vector<Access>& all() const { return accesses_; }
  const Access* at(const llvm::Instruction* instruction) const;
  const Variable& variable(VarId id) const { return variables_[id]; }
  // What the source calls the variable of an access; empty where only the library does.
  std::string site_name(const llvm::Instruction& at) const;
  uint32_t variables() const { return static_cast<uint32_t>(variables_.size()); }
  // Memory that one thread alone can reach.
  bool is_private(uint32_t object) const { return !shared_.contains(object); }

 private:
  void find_shared();
  void find_owners();
  void collect(const llvm::Instruction& instruction);
  void add(const llvm::Instruction& at, const llvm::Value* pointer, bool read, bool write, bool atomic,
           bool range);
  VarId variable_at(Location location, const std::string& name, bool* in_block);
  Location container_of(Location location, bool* in_block) const;
  Location field_start(Location location, std::string* name, bool* container) const;
  bool librarys_own(const llvm::Instruction& at, Location target) const;

  const WholeProgram& whole_;
  const PointsTo& points_to_;
  const Processes& processes_;
  bool by_name_;
  ObjectClasses classes_;
  std::set<uint32_t> shared_;
  std::map<uint32_t, Location> owners_;  // of a block: the container
  std::vector<Access> accesses_;
  llvm::DenseMap<const llvm::Instruction*, uint32_t> at_;
  std::vector<Variable> variables_;
  std::map<std::pair<uint64_t, std::string>, VarId> by_place_;
};

}  // namespace cleave::static_analysis
