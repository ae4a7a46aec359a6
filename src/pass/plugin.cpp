// The door to clang: where in the pipeline the two parts stand. Both places are reached at every optimisation level.
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

#include "pass/instrument.h"

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "cleave", "0.1", [](llvm::PassBuilder& builder) {
            auto state = std::make_shared<cleave::PassState>();
            builder.registerPipelineStartEPCallback([state](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
              passes.addPass(cleave::MarkPass(state));
            });
            builder.registerOptimizerLastEPCallback([state](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
              passes.addPass(cleave::RecordPass(state));
            });
          }};
}
