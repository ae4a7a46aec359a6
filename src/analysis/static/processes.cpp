#include "analysis/static/processes.h"

#include <llvm/IR/InstIterator.h>

#include <algorithm>

#include "analysis/static/whole_program.h"

namespace cleave::static_analysis {

using namespace llvm;

namespace {

// The innermost function of the program's own that the entry runs: what a person calls the thread.
std::string thread_name(const Function& entry) {
  std::string own = WholeProgram::name_of(entry);
  if (!own.starts_with("std::")) return own;
  for (const Instruction& instruction : instructions(entry)) {
    const std::vector<Frame> frames = WholeProgram::frames(instruction);
    for (size_t i = frames.size(); i-- > 0;) {
      if (!frames[i].system && !frames[i].function.empty()) return frames[i].function;
    }
    const auto* call = dyn_cast<CallBase>(&instruction);
    const Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
    if (callee != nullptr && !callee->isDeclaration() && !WholeProgram::name_of(*callee).starts_with("std::"))
      return WholeProgram::name_of(*callee);
  }
  return own;
}

}  // namespace

Processes::Processes(const Module& module, const PointsTo& points_to, ControlFlows& flows)
    : points_to_(points_to), flows_(flows) {
  for (const Function& function : module) {
    for (const Instruction& instruction : instructions(function)) {
      const auto* call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr) continue;
      for (const Function* callee : points_to.callees(*call)) callers_[callee].push_back(call);
    }
  }
  find(module);
  for (uint32_t index = 0; index < processes_.size(); ++index) {
    for (const Function* function : processes_[index].functions) running_[function].push_back(index);
  }
  // Several of a kind, once all are known: a thread that is started by several is several.
  for (bool changed = true; changed;) {
    changed = false;
    for (Process& process : processes_) {
      if (process.several || process.starts.empty()) continue;
      bool several = process.starts.size() > 1;
      for (const CallBase* start : process.starts) {
        several |= known_call(*start).kind == CallKind::StartTeam;
        for (uint32_t creator : running(start->getFunction())) {
          std::set<const Function*> above;
          several |= processes_[creator].several || runs_often(start, processes_[creator], above);
        }
      }
      if (several) process.several = changed = true;
    }
  }
}

void Processes::find(const Module& module) {
  Process main;
  main.name = "main";
  main.entry = module.getFunction("main");
  if (main.entry == nullptr || main.entry->isDeclaration()) {
    // A library: any function that others can call may run on any thread.
    main.several = true;
    main.name = "callers of the library";
    for (const Function& function : module) {
      if (!function.isDeclaration() && !function.hasLocalLinkage()) main.functions.insert(&function);
    }
    const std::set<const Function*> roots = main.functions;
    for (const Function* root : roots) {
      main.entry = root;
      reach(main);
    }
    main.entry = nullptr;
  } else {
    reach(main);
  }
  processes_.push_back(std::move(main));
  for (const StartedThread& started : points_to_.started()) {
    auto same = std::find_if(processes_.begin(), processes_.end(),
                             [&](const Process& process) { return process.entry == started.entry; });
    if (same == processes_.end()) {
      Process process;
      process.name = thread_name(*started.entry);
      process.entry = started.entry;
      reach(process);
      processes_.push_back(std::move(process));
      same = processes_.end() - 1;
    }
    same->starts.push_back(started.at);
  }
  for (const Function& function : module) {
    for (const Instruction& instruction : instructions(function)) {
      const auto* call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr || known_call(*call).kind != CallKind::Join) continue;
      std::vector<Location> handles = points_to_.pointees(call->getArgOperand(0));
      if (call->getArgOperand(0)->getType()->isPointerTy()) {
        std::vector<Location> held;
        for (const Location& handle : handles) {
          for (const Location& thread : points_to_.contents(handle)) held.push_back(thread);
        }
        handles.insert(handles.end(), held.begin(), held.end());
      }
      for (const Location& handle : handles) {
        const Object& object = points_to_.object(handle.object);
        if (object.kind == ObjectKind::Thread) joins_[cast<CallBase>(object.at)].push_back(call);
      }
    }
  }
  for (Process& process : processes_) {
    for (const CallBase* start : process.starts) process.joined |= joins_.count(start) != 0;
  }
}

void Processes::reach(Process& process) {
  std::vector<const Function*> stack{process.entry};
  process.functions.insert(process.entry);
  while (!stack.empty()) {
    const Function* function = stack.back();
    stack.pop_back();
    for (const Instruction& instruction : instructions(*function)) {
      const auto* call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr) continue;
      for (const Function* callee : points_to_.callees(*call)) {
        if (process.functions.insert(callee).second) stack.push_back(callee);
      }
    }
  }
}

const std::vector<uint32_t>& Processes::running(const Function* function) const {
  auto found = running_.find(function);
  return found == running_.end() ? nobody_ : found->second;
}

const std::vector<const CallBase*>& Processes::callers(const Function* function) const {
  auto found = callers_.find(function);
  return found == callers_.end() ? no_callers_ : found->second;
}

bool Processes::runs_often(const Instruction* at, const Process& process,
                           std::set<const Function*>& above) const {
  const Function* function = at->getFunction();
  if (flows_.of(*function).in_cycle(at->getParent())) return true;
  if (function == process.entry) return false;
  if (!above.insert(function).second) return true;  // recursion
  size_t calls = 0;
  for (const CallBase* call : callers(function)) {
    if (process.functions.count(call->getFunction()) == 0) continue;
    if (++calls > 1 || runs_often(call, process, above)) return true;
  }
  return false;
}

bool Processes::alive_after(const CallBase* start, const Instruction* at) const {
  const ControlFlow& flow = flows_.of(*start->getFunction());
  if (known_call(*start).kind == CallKind::StartTeam) return false;  // joined when the call returns
  auto found = joins_.find(start);
  if (found == joins_.end()) return flow.reaches(start, at);
  bool reached = false;
  for (const CallBase* join : found->second) {
    if (join->getFunction() != start->getFunction()) continue;
    // Rounds of a loop around both start and join are separate: each joins what it has started. A loop of
    // joins is taken to join all that the loop of starts has started.
    const Loop* around = flow.common_loop(start, join);
    if (!flow.reaches(start, at, {}, around)) return false;
    reached = true;
    const bool behind = flow.reaches(join, at, {}, around) && !flow.reaches(at, join, {}, around);
    if (behind && at != join) return false;
  }
  return reached || flow.reaches(start, at);
}

bool Processes::joined_by_creator(const CallBase* start) const {
  auto found = joins_.find(start);
  if (found == joins_.end()) return known_call(*start).kind == CallKind::StartTeam;
  return std::any_of(found->second.begin(), found->second.end(),
                     [&](const CallBase* join) { return join->getFunction() == start->getFunction(); });
}

bool Processes::alive(uint32_t p, const Instruction* at) const {
  for (const CallBase* start : processes_[p].starts) {
    // One that others of its kind start, and join, ends before they do.
    const std::vector<uint32_t>& by = running(start->getFunction());
    if (by.size() == 1 && by[0] == p && joined_by_creator(start)) continue;
    if (start->getFunction() == at->getFunction()) {
      if (alive_after(start, at)) return true;
      continue;
    }
    // `at` is in a function that the starting function calls: what counts is where it is called.
    std::vector<const Function*> stack{at->getFunction()};
    std::set<const Function*> seen;
    bool lifted = false;
    while (!stack.empty()) {
      const Function* function = stack.back();
      stack.pop_back();
      if (!seen.insert(function).second) continue;
      for (const CallBase* call : callers(function)) {
        if (call->getFunction() == start->getFunction()) {
          lifted = true;
          if (alive_after(start, call)) return true;
        } else {
          stack.push_back(call->getFunction());
        }
      }
    }
    if (!lifted) return true;  // started elsewhere: nothing is known
  }
  return false;
}

bool Processes::parallel(const Instruction* a, uint32_t p, const Instruction* b, uint32_t q) const {
  if (p == q) return processes_[p].several;
  auto started_in = [&](uint32_t child, uint32_t parent) {
    return std::all_of(processes_[child].starts.begin(), processes_[child].starts.end(),
                       [&](const CallBase* start) {
                         const std::vector<uint32_t>& by = running(start->getFunction());
                         if (by.size() != 1) return false;
                         return by[0] == parent || (by[0] == child && joined_by_creator(start));
                       });
  };
  if (!processes_[p].starts.empty() && started_in(p, q) && !processes_[q].several) return alive(p, b);
  if (!processes_[q].starts.empty() && started_in(q, p) && !processes_[p].several) return alive(q, a);
  // Two threads that the same one starts: either is alive when the other begins.
  if (!processes_[p].starts.empty() && !processes_[q].starts.empty() && started_in(p, 0) &&
      started_in(q, 0) && !processes_[0].several) {
    for (const CallBase* start : processes_[q].starts) {
      if (alive(p, start)) return true;
    }
    for (const CallBase* start : processes_[p].starts) {
      if (alive(q, start)) return true;
    }
    return false;
  }
  return true;
}

}  // namespace cleave::static_analysis
