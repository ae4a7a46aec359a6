#include "analysis/static/expand.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/Scalar/SCCP.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <map>
#include <set>
#include <vector>

namespace cleave::static_analysis {

using namespace llvm;

namespace {

constexpr uint64_t kLargestCallee = 4'000, kLargestCaller = 60'000;

// LLVM does not expand code that unwinds by one routine into code that unwinds by another; here nothing
// unwinds.
void one_personality(Module& module) {
  Constant* chosen = nullptr;
  for (Function& function : module) {
    if (!function.hasPersonalityFn()) continue;
    if (chosen == nullptr) chosen = function.getPersonalityFn();
    function.setPersonalityFn(chosen);
  }
}

bool may_be_expanded(const Function& callee) {
  return !callee.isDeclaration() && !callee.isInterposable() && !callee.isVarArg() &&
         !callee.isPresplitCoroutine() && !callee.callsFunctionThatReturnsTwice();
}

class Expander {
 public:
  Expander(Module& module, uint64_t most) : module_(module), most_(most) {}

  Expansion run() {
    one_personality(module_);
    for (Function& function : module_) {
      // Attributes that only steer the optimizer; optnone would keep local variables in memory.
      function.removeFnAttr(Attribute::OptimizeNone);
      function.removeFnAttr(Attribute::NoInline);
      sizes_[&function] = function.getInstructionCount();
      result_.instructions += sizes_[&function];
    }
    CallGraph graph(module_);
    std::vector<std::vector<Function*>> order;
    for (auto component = scc_begin(&graph); !component.isAtEnd(); ++component) {
      order.emplace_back();
      for (const CallGraphNode* node : *component) {
        if (node->getFunction() != nullptr) order.back().push_back(node->getFunction());
      }
    }
    for (const std::vector<Function*>& component : order) {
      const std::set<Function*> members(component.begin(), component.end());
      for (Function* function : component) expand_into(*function, members);
    }
    return result_;
  }

 private:
  void expand_into(Function& caller, const std::set<Function*>& recursive) {
    std::vector<CallBase*> calls;
    for (BasicBlock& block : caller) {
      for (Instruction& instruction : block) {
        auto* call = dyn_cast<CallBase>(&instruction);
        Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
        if (callee != nullptr && !callee->isDeclaration()) calls.push_back(call);
      }
    }
    for (CallBase* call : calls) {
      Function* callee = call->getCalledFunction();
      const uint64_t size = sizes_[callee];
      const bool fits = size <= kLargestCallee && sizes_[&caller] + size <= kLargestCaller &&
                        result_.instructions + size <= most_;
      if (!fits) result_.budget_reached = true;
      InlineFunctionInfo info;
      if (recursive.count(callee) != 0 || !may_be_expanded(*callee) || !fits ||
          !InlineFunction(*call, info).isSuccess()) {
        ++result_.kept;
        continue;
      }
      ++result_.expanded;
      sizes_[&caller] += size;
      result_.instructions += size;
    }
  }

  Module& module_;
  uint64_t most_;
  std::map<const Function*, uint64_t> sizes_;
  Expansion result_;
};

// Functions that live on only in their callers are gone. In a program nobody else can call them; in a library
// anybody may.
void hide(Module& module) {
  const Function* main = module.getFunction("main");
  if (main == nullptr || main->isDeclaration()) return;
  // Annotations name functions, which is no use of them.
  if (GlobalVariable* annotations = module.getNamedGlobal("llvm.global.annotations"))
    annotations->eraseFromParent();
  for (Function& function : module) {
    if (&function == main || function.isDeclaration()) continue;
    function.setComdat(nullptr);
    function.setLinkage(GlobalValue::InternalLinkage);
  }
}

void tidy(Module& module) {
  hide(module);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  ModulePassManager whole;
  whole.addPass(GlobalDCEPass());
  whole.run(module, modules);
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::PreserveCFG));
  passes.addPass(SCCPPass());
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions().hoistCommonInsts(false).sinkCommonInsts(false)));
  passes.addPass(SROAPass(SROAOptions::PreserveCFG));
  for (Function& function : module) {
    if (!function.isDeclaration()) passes.run(function, functions);
  }
}

}  // namespace

Expansion expand_calls(Module& module, uint64_t most_instructions) {
  Expansion result = Expander(module, most_instructions).run();
  tidy(module);
  return result;
}

}  // namespace cleave::static_analysis
