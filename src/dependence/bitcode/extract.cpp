#include "dependence/bitcode/extract.h"

#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/Local.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "dependence/bitcode/function_flow.h"

namespace cleave::dependence {

using namespace llvm;

namespace {

std::unique_ptr<Module> read_module(const ProgramModule& from, LLVMContext& context) {
  Result<std::vector<uint8_t>> bytes = from.bitcode();
  if (!bytes) return nullptr;
  StringRef text(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size());
  auto parsed = parseBitcodeFile(MemoryBufferRef(text, "cleave"), context);
  if (parsed) return std::move(*parsed);
  consumeError(parsed.takeError());
  return nullptr;
}

bool is_recorded(const Function& function) {
  return !function.isDeclaration() && !function.hasAvailableExternallyLinkage() &&
         !function.hasFnAttribute(Attribute::DisableSanitizerInstrumentation) &&
         !function.hasFnAttribute(Attribute::Naked) && !function.getName().starts_with("__cleave");
}

// Local variables whose address is not taken become values, and calls that may throw are taken to return.
void simplify(Function& function, FunctionAnalysisManager& analyses) {
  SmallVector<InvokeInst*, 16> invokes;
  for (BasicBlock& block : function) {
    if (auto* invoke = dyn_cast<InvokeInst>(block.getTerminator())) invokes.push_back(invoke);
  }
  for (InvokeInst* invoke : invokes) changeToCall(invoke);
  removeUnreachableBlocks(function);
  function.removeFnAttr(Attribute::OptimizeNone);
  SROAPass(SROAOptions::PreserveCFG).run(function, analyses);
  analyses.invalidate(function, PreservedAnalyses::none());
}

// The index in SiteTables::sites of an element's slot.
uint32_t site_of(const SiteTables& tables, const Element& element) {
  if (element.segment >= tables.segments.size()) return UINT32_MAX;
  const std::vector<Slot>& slots = tables.segments[element.segment].slots;
  return element.slot < slots.size() ? slots[element.slot].site : UINT32_MAX;
}

ModuleFlow flow_of_module(Module& module, const ProgramModule& from,
                          const std::function<bool(StringRef)>& defined) {
  PassBuilder builder;
  FunctionAnalysisManager functions;
  LoopAnalysisManager loops;
  CGSCCAnalysisManager graphs;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  std::map<std::string_view, const std::string*> names;
  for (const FunctionEntry& entry : from.tables.functions) names.emplace(entry.linkage, &entry.name);
  ModuleFlow flow;
  flow.identity = from.identity;
  for (Function& function : module) {
    if (!is_recorded(function)) continue;
    simplify(function, functions);
    FunctionFlow table = FunctionAnalysis(function, defined).run();
    for (Element& element : table.elements) element.site = site_of(from.tables, element);
    if (auto name = names.find(table.linkage); name != names.end()) table.name = *name->second;
    flow.functions.push_back(std::move(table));
  }
  flow.index();
  return flow;
}

}  // namespace

ProgramFlow flow_of_program(const Program& program) {
  ProgramFlow result;
  LLVMContext context;
  std::vector<std::unique_ptr<Module>> modules;
  std::set<std::string, std::less<>> names;
  for (const ProgramModule& from : program.modules) {
    modules.push_back(read_module(from, context));
    if (modules.back() == nullptr) {
      result.remarks.push_back(fmt::format("the bitcode of {} cannot be read", from.tables.source));
      continue;
    }
    for (const Function& function : *modules.back()) {
      if (is_recorded(function)) names.insert(function.getName().str());
    }
  }
  const std::function<bool(StringRef)> defined = [&](StringRef name) {
    return names.contains(std::string_view(name.data(), name.size()));
  };
  for (size_t m = 0; m < modules.size(); ++m) {
    if (modules[m] != nullptr)
      result.modules.push_back(flow_of_module(*modules[m], program.modules[m], defined));
    modules[m].reset();
  }
  return result;
}

}  // namespace cleave::dependence
