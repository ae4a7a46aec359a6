// The door to clang: where in the pipeline the parts of the pass stand. The first and the last place are
// reached at every optimization level.
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

#include <llvm/Support/CommandLine.h>

#include "pass/mark/pins.h"
#include "pass/record/instrument.h"

namespace {

// Loops are not to be copied side by side: without vectorisation that is only code, and checks of addresses
// before it.
void turn_off_interleaving() {
  auto& options = llvm::cl::getRegisteredOptions();
  auto option = options.find("force-vector-interleave");
  if (option == options.end() || option->second->getNumOccurrences() != 0) return;
  option->second->addOccurrence(0, option->second->ArgStr, "1");
}

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {
      LLVM_PLUGIN_API_VERSION, "cleave", "0.1", [](llvm::PassBuilder& builder) {
        turn_off_interleaving();
        auto state = std::make_shared<cleave::PassState>();
        builder.registerPipelineStartEPCallback(
            [state](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
              passes.addPass(cleave::MarkPass(state));
            });
        builder.registerPeepholeEPCallback([](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
          passes.addPass(cleave::PromotePrivatePass());
        });
        builder.registerVectorizerStartEPCallback(
            [](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
              passes.addPass(cleave::EmptyUnitPass());
            });
        builder.registerOptimizerLastEPCallback(
            [state](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
              passes.addPass(cleave::RecordPass(state));
            });
      }};
}
