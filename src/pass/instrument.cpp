#include "pass/instrument.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "pass/emit.h"
#include "pass/marks.h"
#include "pass/module_end.h"
#include "pass/plan.h"
#include "pass/prepare.h"
#include "pass/units.h"

namespace cleave {

using namespace llvm;

PreservedAnalyses MarkPass::run(Module& module, ModuleAnalysisManager&) {
  if (module.getModuleFlag(kDoneFlag) != nullptr) return PreservedAnalyses::all();
  state_->names.find(module);
  mark_units(module);
  return PreservedAnalyses::none();
}

namespace {

bool is_recorded(const Function& function) {
  if (function.isDeclaration() || function.hasAvailableExternallyLinkage()) return false;
  if (function.hasFnAttribute(Attribute::Naked) || function.getName().starts_with("__cleave")) return false;
  return !function.hasFnAttribute(Attribute::DisableSanitizerInstrumentation);
}

}  // namespace

PreservedAnalyses RecordPass::run(Module& module, ModuleAnalysisManager& analyses) {
  // Bitcode that comes back as an input has its records already.
  if (module.getModuleFlag(kDoneFlag) != nullptr) return PreservedAnalyses::all();
  auto& functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
  TableBuilder tables(module);
  std::vector<FunctionPlan> plans;
  for (Function& function : module) {
    if (!is_recorded(function)) {
      if (!function.isDeclaration()) ++tables.tables.coverage.functions_skipped;
      else if (!function.isIntrinsic() && !function.getName().starts_with("__cleave")) tables.tables.coverage.called_outside.push_back(function.getName().str());
      continue;
    }
    prepare(function, state_->names);
    functions.invalidate(function, PreservedAnalyses::none());
    plans.push_back(Planner(function, functions.getResult<AAManager>(function), tables, state_->names).plan());
  }
  tables.add_defined_globals();
  for (const FieldAnnotation& field : state_->names.annotations) tables.annotate_field(field.type, field.offset, field.text);
  Package package = pack(module, tables.tables);
  GlobalVariable* segments = make_segments(module, tables.tables);
  for (FunctionPlan& plan : plans) emit(plan, *segments);
  finish_module(module, package, tables, *segments);
  module.addModuleFlag(Module::Warning, kDoneFlag, 1);
  return PreservedAnalyses::none();
}

}  // namespace cleave
