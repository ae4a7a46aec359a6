// Which threads the program may have (the paper's processes), which functions each may run, how many of a
// kind there may be at a time, and what cannot run beside them because it comes before their start or after
// their join.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/static/control_flow.h"
#include "analysis/static/points_to.h"

namespace cleave::static_analysis {

struct Process {
  std::string name;  // of the entry function
  const llvm::Function* entry = nullptr;
  std::vector<const llvm::CallBase*> starts;  // none: main
  bool several = false;                       // more than one may run at a time
  bool joined = false;                        // some join waits for it
  std::set<const llvm::Function*> functions;
};

class Processes {
 public:
  Processes(const llvm::Module& module, const PointsTo& points_to, ControlFlows& flows);

  const std::vector<Process>& all() const { return processes_; }
  // Indexes of the processes that may run the function.
  const std::vector<uint32_t>& running(const llvm::Function* function) const;
  // Whether `a`, run by process p, and `b`, run by q, may happen at the same time.
  bool parallel(const llvm::Instruction* a, uint32_t p, const llvm::Instruction* b, uint32_t q) const;
  // Calls of a function within the program.
  const std::vector<const llvm::CallBase*>& callers(const llvm::Function* function) const;

 private:
  void find(const llvm::Module& module);
  void reach(Process& process);
  bool runs_often(const llvm::Instruction* at, const Process& process,
                  std::set<const llvm::Function*>& above) const;
  // Whether process p may be alive when its creator (or what that calls) executes `at`.
  bool alive(uint32_t p, const llvm::Instruction* at) const;
  bool joined_by_creator(const llvm::CallBase* start) const;
  bool alive_after(const llvm::CallBase* start, const llvm::Instruction* at) const;

  const PointsTo& points_to_;
  ControlFlows& flows_;
  std::vector<Process> processes_;
  std::map<const llvm::Function*, std::vector<uint32_t>> running_;
  std::map<const llvm::Function*, std::vector<const llvm::CallBase*>> callers_;
  std::map<const llvm::CallBase*, std::vector<const llvm::CallBase*>> joins_;  // of a start
  std::vector<uint32_t> nobody_;
  std::vector<const llvm::CallBase*> no_callers_;
};

}  // namespace cleave::static_analysis
