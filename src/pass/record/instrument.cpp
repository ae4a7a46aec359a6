#include "pass/record/instrument.h"

#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "pass/mark/containers.h"
#include "pass/mark/marks.h"
#include "pass/mark/pins.h"
#include "pass/mark/prepare.h"
#include "pass/mark/units.h"
#include "pass/record/emit.h"
#include "pass/record/library_code.h"
#include "pass/record/module_end.h"
#include "pass/record/plan.h"

namespace cleave {

using namespace llvm;

PreservedAnalyses MarkPass::run(Module& module, ModuleAnalysisManager&) {
  if (module.getModuleFlag(kDoneFlag) != nullptr) return PreservedAnalyses::all();
  define_library_functions(module);
  state_->names.find(module);
  mark_units(module);
  tell_owned_memory(module);
  hide_library_helpers(module);
  for (Function& function : module) pin_accesses(function);
  return PreservedAnalyses::none();
}

PreservedAnalyses EmptyUnitPass::run(Function& function, FunctionAnalysisManager&) {
  return erase_empty_units(function) ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

namespace {

// Resolvers of indirect functions run while the program is still being loaded, before it has a thread block.
SmallPtrSet<const Function*, 4> resolvers_of(const Module& module) {
  SmallPtrSet<const Function*, 4> resolvers;
  for (const GlobalIFunc& indirect : module.ifuncs()) resolvers.insert(indirect.getResolverFunction());
  return resolvers;
}

bool is_recorded(const Function& function, const SmallPtrSetImpl<const Function*>& resolvers) {
  if (function.isDeclaration() || function.hasAvailableExternallyLinkage()) return false;
  if (function.hasFnAttribute(Attribute::Naked) || function.getName().starts_with("__cleave")) return false;
  return !function.hasFnAttribute(Attribute::DisableSanitizerInstrumentation) &&
         !resolvers.contains(&function);
}

void note_unrecorded(const Function& function, Coverage& coverage) {
  if (!function.isDeclaration())
    ++coverage.functions_skipped;
  else if (!function.isIntrinsic() && !function.getName().starts_with("__cleave")) {
    coverage.called_outside.push_back(function.getName().str());
  }
}

}  // namespace

PreservedAnalyses RecordPass::run(Module& module, ModuleAnalysisManager& analyses) {
  // Bitcode that comes back as an input has its records already.
  if (module.getModuleFlag(kDoneFlag) != nullptr) return PreservedAnalyses::all();
  auto& functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
  TableBuilder tables(module);
  for (const DILocation* call : state_->names.calls_through_own) tables.note_call_through_own(call);
  std::vector<FunctionPlan> plans;
  SmallPtrSet<const Function*, 4> resolvers = resolvers_of(module);
  if (!module.getModuleInlineAsm().empty()) ++tables.tables.coverage.inline_assembly;
  for (Function& function : module) {
    unpin_accesses(function);
    if (!is_recorded(function, resolvers)) {
      note_unrecorded(function, tables.tables.coverage);
      continue;
    }
    erase_empty_units(function);
    prepare(function, state_->names);
    functions.invalidate(function, PreservedAnalyses::none());
    plans.push_back(
        Planner(function, functions.getResult<ScalarEvolutionAnalysis>(function), tables, state_->names)
            .plan());
  }
  tables.add_defined_globals();
  for (const FieldAnnotation& field : state_->names.annotations)
    tables.annotate_field(field.type, field.offset, field.text);
  Package package = pack(module, tables.tables);
  GlobalVariable* segments = make_segments(module, tables.tables);
  for (FunctionPlan& plan : plans) emit(plan, *segments);
  for (Function& function : module) erase_marks(function);
  finish_module(module, package, tables, *segments);
  module.addModuleFlag(Module::Warning, kDoneFlag, 1);
  return PreservedAnalyses::none();
}

}  // namespace cleave
