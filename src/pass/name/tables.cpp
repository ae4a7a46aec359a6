#include "pass/name/tables.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfo.h>

#include "pass/name/debug_names.h"
#include "pass/record/initial_bytes.h"

namespace cleave {

using namespace llvm;

TableBuilder::TableBuilder(Module& module) : module_(module) { tables.source = module.getSourceFileName(); }

uint32_t TableBuilder::string(StringRef text) {
  if (text.empty()) return kNoIndex;
  auto [at, fresh] = strings_.try_emplace(text, static_cast<uint32_t>(tables.strings.size()));
  if (fresh) tables.strings.push_back(text.str());
  return at->second;
}

namespace {

// Access as the class says it: no flag means the class's default.
uint32_t access_flags(const DISubprogram* declaration, const DICompositeType* owner) {
  switch (declaration->getFlags() & DINode::FlagAccessibility) {
    case DINode::FlagPublic:
      return FunctionEntry::kPublic;
    case DINode::FlagProtected:
      return FunctionEntry::kProtected;
    case DINode::FlagPrivate:
      return 0;
    default:
      return owner->getTag() == dwarf::DW_TAG_class_type ? 0 : FunctionEntry::kPublic;
  }
}

std::tuple<const void*, unsigned, unsigned> position_of(const DILocation* location) {
  return {location->getScope(), location->getLine(), location->getColumn()};
}

uint32_t method_flags(const DISubprogram* function, const DICompositeType* owner) {
  const DISubprogram* declaration = function->getDeclaration() ? function->getDeclaration() : function;
  uint32_t flags = FunctionEntry::kMethod | access_flags(declaration, owner);
  if (!(declaration->getFlags() & DINode::FlagObjectPointer) && declaration->getType() != nullptr) {
    DITypeRefArray types = declaration->getType()->getTypeArray();
    bool has_this =
        types.size() > 1 && types[1] != nullptr && (types[1]->getFlags() & DINode::FlagObjectPointer);
    if (!has_this) flags |= FunctionEntry::kStatic;
  }
  StringRef name = declaration->getName();
  StringRef plain_class = owner->getName().split('<').first;
  if (name.starts_with("~"))
    flags |= FunctionEntry::kDestructor;
  else if (!plain_class.empty() && name.split('<').first == plain_class)
    flags |= FunctionEntry::kConstructor;
  return flags;
}

}  // namespace

uint32_t TableBuilder::function_named(StringRef linkage, const DISubprogram* debug) {
  auto [at, fresh] = functions_.try_emplace(linkage, static_cast<uint32_t>(tables.functions.size()));
  uint32_t index = at->second;
  if (fresh) {
    FunctionEntry& entry = tables.functions.emplace_back();
    entry.linkage = linkage.str();
    entry.name = demangle(linkage.str());
    if (size_t parameters = entry.name.find('(');
        parameters != std::string::npos && parameters != 0 && StringRef(linkage).starts_with("_Z")) {
      entry.name.resize(parameters);
    }
  }
  if (debug == nullptr || tables.functions[index].line != 0) return index;
  FunctionEntry entry = tables.functions[index];
  entry.name = qualified_name(debug);
  entry.file = string(path_of(debug->getFile()));
  entry.line = debug->getLine();
  if (is_system(debug->getFile())) entry.flags |= FunctionEntry::kSystem;
  const DISubprogram* declaration = debug->getDeclaration() ? debug->getDeclaration() : debug;
  if (const auto* owner = dyn_cast_or_null<DICompositeType>(declaration->getScope())) {
    entry.flags |= method_flags(debug, owner);
    entry.type = type(owner);
  } else if (debug->getType() != nullptr) {
    DITypeRefArray types = debug->getType()->getTypeArray();
    const DICompositeType* first = types.size() > 1 ? as_class(pointee(types[1])) : nullptr;
    if (first != nullptr) {
      entry.flags |= FunctionEntry::kStructFunction;
      entry.type = type(first);
    }
    if (debug->isLocalToUnit()) entry.flags |= FunctionEntry::kStatic;
  }
  tables.functions[index] = std::move(entry);
  return index;
}

uint32_t TableBuilder::function(const Function& function) {
  return function_named(function.getName(), function.getSubprogram());
}

uint32_t TableBuilder::function(const DISubprogram* function) {
  StringRef linkage = function->getLinkageName().empty() ? function->getName() : function->getLinkageName();
  return function_named(linkage, function);
}

void TableBuilder::note_accessor(const DISubprogram* debug, Accessor accessor) {
  FunctionEntry& entry = tables.functions[function(debug)];
  if (accessor == Accessor::Getter) entry.flags |= FunctionEntry::kGetter;
  if (accessor == Accessor::Setter) entry.flags |= FunctionEntry::kSetter;
  if (accessor == Accessor::Step || accessor == Accessor::Advance) entry.flags |= FunctionEntry::kFriend;
  if (accessor == Accessor::Advance && entry.type != kNoIndex)
    tables.types[entry.type].flags |= TypeEntry::kIterator;
}

uint32_t TableBuilder::plain_site(const SiteEntry& s) {
  auto key = std::tuple(s.file, s.line, s.column, s.function, s.inlined_at, s.variable, s.type, s.object_type,
                        s.offset, s.flags);
  auto [at, fresh] = sites_.try_emplace(key, static_cast<uint32_t>(tables.sites.size()));
  if (fresh) tables.sites.push_back(s);
  return at->second;
}

uint32_t TableBuilder::site(const DILocation* location, const Function& function, const AccessName& name) {
  SiteEntry entry;
  if (location != nullptr) {
    if (const DILocation* caller = location->getInlinedAt()) entry.inlined_at = site(caller, function);
    entry.file = string(path_of(location->getFile()));
    entry.line = location->getLine();
    entry.column = location->getColumn();
    entry.function = this->function(location->getScope()->getSubprogram());
    // The function that the code stands in is known by its symbol; C1 and C2 constructors share debug
    // information.
    if (location->getInlinedAt() == nullptr) entry.function = this->function(function);
  } else {
    entry.function = this->function(function);
    if (const DISubprogram* debug = function.getSubprogram()) {
      entry.file = string(path_of(debug->getFile()));
      entry.line = debug->getLine();
    }
  }
  entry.variable = string(name.variable);
  entry.type = string(name.type);
  entry.object_type = type(name.object);
  entry.offset = static_cast<uint32_t>(name.offset);
  const bool is_call = location != nullptr && name.variable.empty() && name.object == nullptr;
  if (name.through_own || (is_call && calls_through_own_.contains(position_of(location))))
    entry.flags |= SiteEntry::kThroughOwn;
  return plain_site(entry);
}

void TableBuilder::note_call_through_own(const DILocation* location) {
  calls_through_own_.insert(position_of(location));
}

uint32_t TableBuilder::unit(const std::string& name, uint32_t source, uint32_t function, uint32_t type) {
  auto [at, fresh] = units_.try_emplace({name, source, function}, static_cast<uint32_t>(tables.units.size()));
  if (fresh) tables.units.push_back({name, source, function, type});
  return at->second;
}

uint32_t TableBuilder::global(GlobalVariable& variable) {
  if (variable.isDeclaration() || variable.hasAvailableExternallyLinkage() || variable.isThreadLocal())
    return kNoIndex;
  if (variable.getAddressSpace() != 0 || (variable.hasLocalLinkage() && variable.hasComdat()))
    return kNoIndex;
  auto [at, fresh] = globals_.try_emplace(&variable, static_cast<uint32_t>(globals.size()));
  if (fresh) {
    globals.push_back(&variable);
    GlobalEntry entry;
    fill_global(entry, variable);
    tables.globals.push_back(std::move(entry));
  }
  return at->second;
}

void TableBuilder::fill_global(GlobalEntry& entry, GlobalVariable& variable) {
  entry.size = module_.getDataLayout().getTypeAllocSize(variable.getValueType());
  SmallVector<DIGlobalVariableExpression*, 1> debug;
  variable.getDebugInfo(debug);
  if (!debug.empty()) {
    const DIGlobalVariable* source = debug[0]->getVariable();
    entry.name = qualified_name(source->getScope(), source->getName());
    if (source->getStaticDataMemberDeclaration() != nullptr) {
      const DIDerivedType* member = source->getStaticDataMemberDeclaration();
      entry.name = qualified_name(member->getScope(), member->getName());
      entry.flags |= GlobalEntry::kClassStatic;
    }
    entry.type_name = spelled(source->getType());
    entry.type = type(source->getType());
    entry.file = string(path_of(source->getFile()));
    entry.line = source->getLine();
  }
  if (variable.hasLocalLinkage()) entry.flags |= GlobalEntry::kFileStatic;
  if (variable.isConstant()) entry.flags |= GlobalEntry::kConstant;
  if (variable.getInitializer()->isZeroValue())
    entry.flags |= GlobalEntry::kZeroInitialised;
  else
    entry.initial = initial_bytes(variable, 4096);
}

void TableBuilder::add_defined_globals() {
  for (GlobalVariable& variable : module_.globals()) {
    if (variable.isConstant() || variable.getName().starts_with("llvm.") ||
        variable.getName().starts_with("__cleave")) {
      continue;
    }
    if (variable.hasSection() || !variable.hasMetadata(LLVMContext::MD_dbg)) continue;
    global(variable);
  }
}

}  // namespace cleave
