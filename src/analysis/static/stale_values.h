// Stale values: definitions 10 and 11. A value that a section has read leaves it and is used in another one,
// and some thread may write the variable in between.
#pragma once

#include <string>
#include <vector>

#include "analysis/static/model.h"

namespace cleave::static_analysis {

inline constexpr SectionId kNoSection = UINT32_MAX;  // a single atomic operation

struct StaleValue {
  const llvm::Instruction* read = nullptr;
  const llvm::Instruction* use = nullptr;
  const llvm::Instruction* writer = nullptr;
  VarId variable = 0;
  SectionId from = kNoSection, to = kNoSection;
  uint32_t process = 0, writer_process = 0;
  bool decided = false;      // the value only decides that the use happens
  bool writes_same = false;  // the use writes the variable that was read
  bool writes = false;       // the section that it enters writes because of it
  bool one_object = false;
  bool tested_again = false;  // the variable is read anew before the use: in its section, or in another round
  bool in_unit = false;       // all within one execution of an annotated unit
  std::vector<const llvm::Instruction*> path;  // from the read to the use, both included
  std::string rule;                            // why it is harmless; empty: reported
};

// All of them, in the order of the program; several may be one mistake.
std::vector<StaleValue> find_stale_values(Model& model);

}  // namespace cleave::static_analysis
