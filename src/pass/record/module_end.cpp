#include "pass/record/module_end.h"

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Support/xxhash.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>
#include <zstd.h>

#include "abi/package.h"
#include "abi/record.h"
#include "pass/record/runtime_functions.h"

namespace cleave {

using namespace llvm;

Package pack(Module& module, const SiteTables& tables) {
  Package package;
  package.tables = encode(tables);
  SmallString<0> bitcode;
  raw_svector_ostream stream(bitcode);
  WriteBitcodeToFile(module, stream);
  package.bitcode_bytes = bitcode.size();
  package.identity = xxh3_64bits(StringRef(bitcode));
  package.bitcode.resize(ZSTD_compressBound(bitcode.size()));
  size_t size =
      ZSTD_compress(package.bitcode.data(), package.bitcode.size(), bitcode.data(), bitcode.size(), 3);
  CLEAVE_CHECK(!ZSTD_isError(size), "zstd refused a buffer of its own bound");
  package.bitcode.resize(size);
  return package;
}

namespace {

GlobalVariable* constant(Module& module, Constant* contents, StringRef name) {
  auto* variable =
      new GlobalVariable(module, contents->getType(), true, GlobalValue::PrivateLinkage, contents, name);
  variable->setAlignment(Align(8));
  return variable;
}

// LLVM knows the section as one that is not loaded; the linker joins those of all modules end to end.
void embed(Module& module, const Package& package) {
  cleave_package_header header{};
  header.magic = CLEAVE_PACKAGE_MAGIC;
  header.identity = package.identity;
  header.table_bytes = package.tables.size();
  header.packed_bytes = package.bitcode.size();
  header.bitcode_bytes = package.bitcode_bytes;
  std::vector<uint8_t> bytes(sizeof header);
  memcpy(bytes.data(), &header, sizeof header);
  bytes.insert(bytes.end(), package.tables.begin(), package.tables.end());
  bytes.insert(bytes.end(), package.bitcode.begin(), package.bitcode.end());
  bytes.resize((bytes.size() + 7) / 8 * 8);
  GlobalVariable* variable =
      constant(module, ConstantDataArray::get(module.getContext(), bytes), "__cleave_package");
  variable->setSection(CLEAVE_PACKAGE_SECTION);
  appendToCompilerUsed(module, {variable});
}

Function* make_caller(Module& module, FunctionCallee callee, Constant* argument, StringRef name) {
  LLVMContext& context = module.getContext();
  auto* type = FunctionType::get(Type::getVoidTy(context), false);
  Function* function = Function::Create(type, GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(Attribute::NoUnwind);
  IRBuilder<> builder(BasicBlock::Create(context, "", function));
  builder.CreateCall(callee, {argument});
  builder.CreateRetVoid();
  return function;
}

}  // namespace

void finish_module(Module& module, const Package& package, const TableBuilder& tables,
                   GlobalVariable& segments) {
  embed(module, package);
  LLVMContext& context = module.getContext();
  RuntimeFunctions runtime(module);
  Type* pointer = PointerType::get(context, 0);
  Type* half = Type::getInt32Ty(context);
  Type* word = Type::getInt64Ty(context);
  std::vector<Constant*> addresses(tables.globals.begin(), tables.globals.end());
  Constant* globals = constant(
      module, ConstantArray::get(ArrayType::get(pointer, addresses.size()), addresses), "__cleave_globals");
  Constant* bytes = constant(module, ConstantDataArray::get(context, package.tables), "__cleave_tables");
  Constant* name =
      constant(module, ConstantDataArray::getString(context, module.getSourceFileName()), "__cleave_name");
  auto* type = StructType::get(context, {half, half, pointer, pointer, word, pointer, word, pointer, word});
  Constant* descriptor = ConstantStruct::get(
      type,
      {ConstantInt::get(half, CLEAVE_ABI_VERSION), ConstantInt::get(half, tables.tables.segments.size()),
       &segments, globals, ConstantInt::get(word, addresses.size()), bytes,
       ConstantInt::get(word, package.tables.size()), name, ConstantInt::get(word, package.identity)});
  static_assert(sizeof(cleave_module) == 64);
  GlobalVariable* registered = constant(module, descriptor, "__cleave_module");
  // Priority 0: before the program's own constructors; destructors of that priority run after its own.
  appendToGlobalCtors(module,
                      make_caller(module, runtime.register_module, registered, "__cleave_enter_module"), 0);
  appendToGlobalDtors(module,
                      make_caller(module, runtime.unregister_module, registered, "__cleave_leave_module"), 0);
}

}  // namespace cleave
