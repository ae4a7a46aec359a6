// High-level data races: view consistency (definitions 5 to 9) of the program's processes.
#pragma once

#include <string>
#include <vector>

#include "analysis/static/model.h"

namespace cleave::static_analysis {

struct HighLevelRace {
  SectionId first = 0, second = 0;  // take apart, in this order
  SectionId whole = 0;              // takes together
  uint32_t process = 0, whole_process = 0;
  AccessKind kind = AccessKind::Write;  // of the two: writes that a reader may see halfway, or reads
  VarId first_variable = 0, second_variable = 0;
  VariableSet first_view, second_view, whole_view;
  const llvm::Instruction* meet = nullptr;  // where values of both reads come together
  bool one_object = false;
  std::string rule;  // why it is harmless; empty: reported
};

std::vector<HighLevelRace> find_races(Model& model);

}  // namespace cleave::static_analysis
