#include "analysis/static/whole_program.h"

#include <fmt/format.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>

#include "trace/core/library.h"
#include "trace/core/trace.h"

namespace cleave::static_analysis {

using namespace llvm;

namespace {

constexpr const char* kAt = "cleave.at";        // {i32 module, i32 segment, i32 slot}
constexpr const char* kLocal = "cleave.local";  // {name, class} of a local variable
constexpr const char* kSlot = "cleave.slot";    // as pass/mark/marks.h has it: {i32 segment, i32 slot}

// The linker reports through the context; what it says is a remark, not output.
struct Silence : DiagnosticHandler {
  bool handleDiagnostics(const DiagnosticInfo&) override { return true; }
};

uint32_t number(const MDNode& node, unsigned operand) {
  return static_cast<uint32_t>(mdconst::extract<ConstantInt>(node.getOperand(operand))->getZExtValue());
}

std::string scope_name(const DIScope* scope) {
  if (scope == nullptr || isa<DIFile>(scope) || isa<DICompileUnit>(scope)) return {};
  if (isa<DILexicalBlockBase>(scope) || isa<DISubprogram>(scope)) return {};
  if (isa<DIBasicType>(scope)) return {};
  std::string outer = scope_name(scope->getScope());
  std::string name = scope->getName().str();
  if (name.empty()) return outer;
  return outer.empty() ? name : outer + "::" + name;
}

std::string function_name(const DISubprogram* function) {
  if (function == nullptr) return {};
  const DISubprogram* declaration = function->getDeclaration();
  std::string outer = scope_name((declaration != nullptr ? declaration : function)->getScope());
  std::string name = function->getName().str();
  if (const DIScope* scope = function->getScope(); name == "operator()" && scope != nullptr) {
    if (const auto* type = dyn_cast<DICompositeType>(scope); type != nullptr && type->getName().empty()) {
      name = "(lambda)";
    }
  }
  return outer.empty() ? name : outer + "::" + name;
}

std::string path_of(const DIFile* file) {
  if (file == nullptr) return {};
  std::string name = file->getFilename().str();
  if (name.starts_with('/') || file->getDirectory().empty()) return name;
  return file->getDirectory().str() + "/" + name;
}

const DICompositeType* class_of(const DIType* type) {
  while (type != nullptr) {
    if (const auto* composite = dyn_cast<DICompositeType>(type)) return composite;
    const auto* derived = dyn_cast<DIDerivedType>(type);
    if (derived == nullptr || derived->getTag() == dwarf::DW_TAG_pointer_type) return nullptr;
    type = derived->getBaseType();
  }
  return nullptr;
}

// Keeps the names of locals in memory, and drops what else debug information says of values: it is most of
// the size.
void keep_local_names(Function& function) {
  for (BasicBlock& block : function) {
    for (Instruction& instruction : block) {
      for (DbgVariableRecord& record : filterDbgVars(instruction.getDbgRecordRange())) {
        if (!record.isDbgDeclare() && !record.isDbgAssign()) continue;
        Value* address = record.isDbgAssign() ? record.getAddress() : record.getVariableLocationOp(0);
        auto* alloca = dyn_cast_or_null<AllocaInst>(address);
        if (alloca == nullptr || alloca->hasMetadata(kLocal)) continue;
        LLVMContext& context = function.getContext();
        const DICompositeType* type = class_of(record.getVariable()->getType());
        std::string name = type == nullptr ? std::string() : scope_name(type);
        alloca->setMetadata(kLocal,
                            MDNode::get(context, {MDString::get(context, record.getVariable()->getName()),
                                                  MDString::get(context, name)}));
      }
      instruction.dropDbgRecords();
    }
  }
}

}  // namespace

Result<std::unique_ptr<WholeProgram>> WholeProgram::load(const Program& program) {
  std::unique_ptr<WholeProgram> whole(new WholeProgram(program));
  whole->context_.setDiagnosticHandler(std::make_unique<Silence>());
  for (uint32_t index = 0; index < program.modules.size(); ++index)
    whole->take(program.modules[index], index);
  if (!whole->module_)
    return Error{program.path,
                 "carries no bitcode that can be read; build it again with cleave-cc or cleave-c++"};
  for (const Function& function : *whole->module_) whole->functions_ += function.isDeclaration() ? 0 : 1;
  return whole;
}

void WholeProgram::take(const ProgramModule& from, uint32_t index) {
  Result<std::vector<uint8_t>> bytes = from.bitcode();
  auto leave_out = [&](const std::string& why) {
    remarks_.push_back(fmt::format("{}: {}", from.tables.source, why));
  };
  if (!bytes.ok()) return leave_out(bytes.error().message);
  StringRef text(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size());
  Expected<std::unique_ptr<Module>> parsed = parseBitcodeFile(MemoryBufferRef(text, "cleave"), context_);
  if (!parsed) {
    consumeError(parsed.takeError());
    return leave_out("the bitcode in the binary is damaged");
  }
  std::unique_ptr<Module> module = std::move(*parsed);
  Type* word = Type::getInt32Ty(context_);
  auto constant = [&](uint32_t value) { return ConstantAsMetadata::get(ConstantInt::get(word, value)); };
  for (Function& function : *module) {
    keep_local_names(function);
    for (BasicBlock& block : function) {
      for (Instruction& instruction : block) {
        MDNode* node = instruction.getMetadata(kSlot);
        if (node == nullptr) continue;
        instruction.setMetadata(
            kAt, MDNode::get(context_, {constant(index), node->getOperand(0), node->getOperand(1)}));
        instruction.setMetadata(kSlot, nullptr);
      }
    }
  }
  if (!module_) {
    module_ = std::move(module);
  } else if (Linker::linkModules(*module_, std::move(module))) {
    leave_out("its bitcode does not fit that of the other modules");
  }
}

const Slot* WholeProgram::slot(const Instruction& instruction, const SiteTables** tables, uint32_t* segment,
                               uint32_t* number_in) const {
  const MDNode* node = instruction.getMetadata(kAt);
  if (node == nullptr) return nullptr;
  *tables = &program_.modules[number(*node, 0)].tables;
  *segment = number(*node, 1);
  *number_in = number(*node, 2);
  if (*segment >= (*tables)->segments.size()) return nullptr;
  const std::vector<Slot>& slots = (*tables)->segments[*segment].slots;
  return *number_in < slots.size() ? &slots[*number_in] : nullptr;
}

const SiteEntry* WholeProgram::site(const Instruction& instruction, const SiteTables** tables) const {
  uint32_t segment = 0, at = 0;
  const Slot* found = slot(instruction, tables, &segment, &at);
  return found == nullptr || found->site >= (*tables)->sites.size() ? nullptr
                                                                    : &(*tables)->sites[found->site];
}

std::vector<const SiteEntry*> WholeProgram::sites(const Instruction& instruction,
                                                  const SiteTables** tables) const {
  std::vector<const SiteEntry*> result;
  uint32_t segment = 0, at = 0;
  const Slot* first = slot(instruction, tables, &segment, &at);
  if (first == nullptr) return result;
  const std::vector<Slot>& slots = (*tables)->segments[segment].slots;
  uint64_t bytes = 0;
  if (const auto* load = dyn_cast<LoadInst>(&instruction))
    bytes = instruction.getDataLayout().getTypeStoreSize(load->getType());
  if (const auto* store = dyn_cast<StoreInst>(&instruction))
    bytes = instruction.getDataLayout().getTypeStoreSize(store->getValueOperand()->getType());
  for (uint64_t done = 0; at < slots.size(); ++at) {
    const Slot& next = slots[at];
    if (next.kind != first->kind || next.site >= (*tables)->sites.size()) break;
    result.push_back(&(*tables)->sites[next.site]);
    done += next.width;
    if (next.width == 0 || done >= bytes) break;
  }
  return result;
}

MarkedUnit WholeProgram::unit(const CallBase& mark) const {
  const SiteTables* tables = nullptr;
  uint32_t segment = 0, at = 0;
  const Slot* found = slot(mark, &tables, &segment, &at);
  if (found == nullptr || found->aux >= tables->units.size()) return {};
  const UnitEntry& unit = tables->units[found->aux];
  const auto source = static_cast<UnitSource>(unit.source);
  return {unit.name, source == UnitSource::Annotated || source == UnitSource::UnitFor};
}

std::vector<Frame> WholeProgram::frames(const Instruction& instruction) {
  std::vector<Frame> result;
  for (const DILocation* at = instruction.getDebugLoc().get(); at != nullptr; at = at->getInlinedAt()) {
    const std::string file = path_of(at->getFile());
    const DISubprogram* function = at->getScope()->getSubprogram();
    result.push_back({function_name(function), file, at->getLine(),
                      is_system_file(path_of(function == nullptr ? at->getFile() : function->getFile()))});
  }
  if (result.empty()) result.push_back({name_of(*instruction.getFunction()), {}, 0, false});
  return result;
}

std::string WholeProgram::name_of(const Function& function) {
  const DISubprogram* described = function.getSubprogram();
  return described == nullptr ? function.getName().str() : function_name(described);
}

const SiteTables* WholeProgram::find_class(const std::string& name, uint32_t* type) const {
  for (const ProgramModule& module : program_.modules) {
    for (uint32_t index = 0; index < module.tables.types.size(); ++index) {
      if (module.tables.types[index].name != name) continue;
      *type = index;
      return &module.tables;
    }
  }
  return nullptr;
}

std::string WholeProgram::name_of(const GlobalVariable& global) {
  SmallVector<DIGlobalVariableExpression*, 1> described;
  global.getDebugInfo(described);
  if (described.empty()) return global.getName().str();
  const DIGlobalVariable* variable = described.front()->getVariable();
  const std::string outer = scope_name(variable->getScope());
  return outer.empty() ? variable->getName().str() : outer + "::" + variable->getName().str();
}

std::pair<std::string, std::string> WholeProgram::local(const Instruction& alloca) {
  const MDNode* node = alloca.getMetadata(kLocal);
  if (node == nullptr) return {};
  return {cast<MDString>(node->getOperand(0))->getString().str(),
          cast<MDString>(node->getOperand(1))->getString().str()};
}

}  // namespace cleave::static_analysis
