#include "pass/record/library_code.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Linker/Linker.h>

#include <vector>

#include "base/assert.h"

#define CLEAVE_LIBRARY_BITCODE(part)                                                                 \
  __asm__(".section .rodata\n.balign 8\ncleave_library_" #part ":\n.incbin \"" CLEAVE_LIBRARY_FOLDER \
          "/" #part ".bc\"\ncleave_library_" #part "_end:\n.byte 0\n.previous\n");                   \
  extern "C" __attribute__((visibility("hidden"))) const char cleave_library_##part[],               \
      cleave_library_##part##_end[]

CLEAVE_LIBRARY_BITCODE(tree);
CLEAVE_LIBRARY_BITCODE(list);
CLEAVE_LIBRARY_BITCODE(hash);

namespace cleave {

using namespace llvm;

namespace {

constexpr const char* kSuffix = ".cleave";
constexpr const char* kHelper = "cleave-library-helper";

struct Part {
  StringRef bitcode;
  std::vector<const char*> functions;
};

const std::vector<Part>& parts() {
  static const std::vector<Part> all{
      {{cleave_library_tree, static_cast<size_t>(cleave_library_tree_end - cleave_library_tree)},
       {"_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_",
        "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_",
        "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base", "_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base",
        "_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base",
        "_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base"}},
      {{cleave_library_list, static_cast<size_t>(cleave_library_list_end - cleave_library_list)},
       {"_ZNSt8__detail15_List_node_base7_M_hookEPS0_", "_ZNSt8__detail15_List_node_base9_M_unhookEv",
        "_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_",
        "_ZNSt8__detail15_List_node_base10_M_reverseEv", "_ZNSt8__detail15_List_node_base4swapERS0_S1_"}},
      {{cleave_library_hash, static_cast<size_t>(cleave_library_hash_end - cleave_library_hash)},
       {"_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm",
        "_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm"}}};
  return all;
}

// A function of the module that calls `callee`, as a model of how its functions are compiled; null if nobody
// calls it.
Function* caller_of(const Function& callee) {
  for (const User* user : callee.users()) {
    if (const auto* call = dyn_cast<CallBase>(user); call != nullptr && call->getCalledOperand() == &callee)
      return const_cast<Function*>(call->getFunction());
  }
  return nullptr;
}

// What the command line says of every function. The processor stays the least of its kind: the linker keeps
// one of several.
void compile_like(Function& function, const Function& model) {
  function.removeFnAttr("frame-pointer");
  if (model.hasFnAttribute("frame-pointer")) function.addFnAttr(model.getFnAttribute("frame-pointer"));
  function.setUWTableKind(model.getUWTableKind());
  if (model.hasFnAttribute(Attribute::OptimizeNone) && !function.hasFnAttribute(Attribute::AlwaysInline)) {
    function.addFnAttr(Attribute::OptimizeNone);
    function.addFnAttr(Attribute::NoInline);
  }
}

std::unique_ptr<Module> read(const Part& part, Module& module) {
  Expected<std::unique_ptr<Module>> parsed =
      parseBitcodeFile(MemoryBufferRef(part.bitcode, "library functions"), module.getContext());
  CLEAVE_CHECK(static_cast<bool>(parsed), "the plugin's own bitcode is not readable");
  std::unique_ptr<Module> library = std::move(*parsed);
  // What is said of whole modules is said by the module that takes the functions in.
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  for (const char* list : {"llvm.module.flags", "llvm.ident", "llvm.dbg.cu", "llvm.commandline"}) {
    if (NamedMDNode* node = library->getNamedMetadata(list)) library->eraseNamedMetadata(node);
  }
  return library;
}

// Takes over what the module calls, and makes it the module's own, inline and hidden.
void link(Module& module, std::unique_ptr<Module> library, const Function& model) {
  if (module.debug_compile_units().empty()) StripDebugInfo(*library);
  std::vector<std::string> defined;
  for (Function& function : *library) {
    if (function.isDeclaration()) continue;
    if (function.hasLinkOnceODRLinkage()) {  // a constructor of a pair and the like
      function.setLinkage(GlobalValue::InternalLinkage);
      function.setComdat(nullptr);
      function.addFnAttr(Attribute::AlwaysInline);
    }
    if (!function.hasLocalLinkage() && !function.getName().ends_with(kSuffix))
      function.setName(function.getName() + kSuffix);
    if (function.getSubprogram() != nullptr)
      function.getSubprogram()->replaceUnit(*module.debug_compile_units_begin());
    compile_like(function, model);
    if (function.hasLocalLinkage()) function.addFnAttr(kHelper);
    if (!function.hasLocalLinkage()) defined.push_back(function.getName().str());
  }
  bool failed = Linker::linkModules(module, std::move(library), Linker::Flags::LinkOnlyNeeded);
  CLEAVE_CHECK(!failed, "the plugin's own bitcode cannot be linked");
  for (const std::string& name : defined) {
    Function* function = module.getFunction(name);
    if (function == nullptr || function->isDeclaration()) continue;
    function->setLinkage(GlobalValue::LinkOnceODRLinkage);
    function->setVisibility(GlobalValue::HiddenVisibility);
    function->setDSOLocal(true);
    function->setComdat(module.getOrInsertComdat(name));
  }
}

void define(Module& module, const Part& part) {
  Function* model = nullptr;
  for (StringRef name : part.functions) {
    Function* function = module.getFunction(name);
    if (function == nullptr || !function->isDeclaration()) continue;  // a program's own is the program's
    Function* caller = caller_of(*function);
    if (caller == nullptr) continue;
    if (model == nullptr) model = caller;
    Function* ours =
        Function::Create(function->getFunctionType(), GlobalValue::ExternalLinkage, name + kSuffix, module);
    ours->copyAttributesFrom(function);
    function->replaceAllUsesWith(ours);
  }
  if (model != nullptr) link(module, read(part, module), *model);
}

}  // namespace

void define_library_functions(Module& module) {
  for (const Part& part : parts()) define(module, part);
}

void hide_library_helpers(Module& module) {
  for (Function& function : module) {
    if (!function.hasFnAttribute(kHelper)) continue;
    function.setSubprogram(nullptr);
    for (BasicBlock& block : function) {
      for (Instruction& instruction : make_early_inc_range(block)) {
        instruction.dropDbgRecords();
        instruction.setDebugLoc(DebugLoc());
        if (isa<DbgInfoIntrinsic>(instruction)) instruction.eraseFromParent();
      }
    }
  }
}

}  // namespace cleave
