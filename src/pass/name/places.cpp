#include "pass/name/places.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include "pass/name/debug_names.h"

namespace cleave {

using namespace llvm;

Places::Places(const Module& module) : layout_(module.getDataLayout()) {
  for (const Function& function : module) {
    for (const BasicBlock& block : function) {
      for (const Instruction& instruction : block) {
        for (DbgVariableRecord& record : filterDbgVars(instruction.getDbgRecordRange())) {
          if ((record.isDbgDeclare() || record.isDbgAssign()) && record.getAddress() != nullptr)
            locals_[record.getAddress()] = record.getVariable();
        }
        if (const auto* declare = dyn_cast<DbgDeclareInst>(&instruction)) {
          if (declare->getAddress() != nullptr) locals_[declare->getAddress()] = declare->getVariable();
        }
      }
    }
  }
  DebugInfoFinder finder;
  finder.processModule(module);
  for (const DIType* type : finder.types()) {
    const auto* composite = dyn_cast<DICompositeType>(type);
    if (composite == nullptr || composite->isForwardDecl() || as_class(composite) == nullptr) continue;
    StringRef name = composite->getIdentifier().empty() ? composite->getName() : composite->getIdentifier();
    if (!name.empty()) classes_.try_emplace(name, composite);
    if (!composite->getIdentifier().empty()) classes_.try_emplace(qualified_name(composite), composite);
  }
}

const DICompositeType* Places::class_named(StringRef name) const {
  auto known = classes_.find(name);
  return known == classes_.end() ? nullptr : known->second;
}

std::optional<Place> Places::resolve(const Value* pointer, int depth) const {
  if (depth == 0) return std::nullopt;
  if (auto known = locals_.find(pointer); known != locals_.end()) {
    return Place{known->second->getType(), 0, known->second->getName().str()};
  }
  if (const auto* variable = dyn_cast<GlobalVariable>(pointer)) {
    SmallVector<DIGlobalVariableExpression*, 1> debug;
    variable->getDebugInfo(debug);
    if (debug.empty()) return std::nullopt;
    const DIGlobalVariable* source = debug[0]->getVariable();
    const DIDerivedType* member = source->getStaticDataMemberDeclaration();
    return Place{source->getType(), 0,
                 member != nullptr ? qualified_name(member->getScope(), member->getName())
                                   : qualified_name(source->getScope(), source->getName())};
  }
  if (const auto* load = dyn_cast<LoadInst>(pointer))
    return through_pointer(load->getPointerOperand(), depth - 1);
  if (isa<GEPOperator>(pointer)) return of_computation(pointer, depth - 1);
  if (isa<CallBase>(pointer)) return of_call(pointer, depth - 1);
  if (const auto* cast = dyn_cast<CastInst>(pointer)) return resolve(cast->getOperand(0), depth - 1);
  if (const auto* phi = dyn_cast<PHINode>(pointer)) return resolve(phi->getIncomingValue(0), depth - 1);
  if (const auto* select = dyn_cast<SelectInst>(pointer)) return resolve(select->getTrueValue(), depth - 1);
  return std::nullopt;
}

std::optional<Place> Places::through_pointer(const Value* address, int depth) const {
  std::optional<Place> holder = resolve(address, depth);
  if (!holder) return std::nullopt;
  const DIType* target = pointee(field_name(*holder, 8).type);
  if (target == nullptr) return std::nullopt;
  return Place{target, 0, ""};
}

std::optional<Place> Places::of_computation(const Value* pointer, int depth) const {
  const auto* step = cast<GEPOperator>(pointer);
  unsigned bits = layout_.getIndexTypeSizeInBits(step->getType());
  MapVector<Value*, APInt> variable;
  APInt constant(bits, 0);
  if (!step->collectOffset(layout_, bits, variable, constant)) return std::nullopt;
  if (std::optional<Place> base = resolve(step->getPointerOperand(), depth)) {
    // Indexing by something unknown stays in the same element: the name says `[]`, not which.
    base->offset = static_cast<uint64_t>(static_cast<int64_t>(base->offset) + constant.getSExtValue());
    return base;
  }
  auto* structure = dyn_cast<StructType>(step->getSourceElementType());
  if (structure == nullptr || structure->isLiteral()) return std::nullopt;
  StringRef name = structure->getName();
  name = name.split('.').second;  // struct.account, class.bank::Account
  if (size_t copy = name.rfind('.'); copy != StringRef::npos) name = name.take_front(copy);
  const DICompositeType* type = class_named(name);
  if (type == nullptr) return std::nullopt;
  return Place{type, constant.getZExtValue(), ""};
}

std::optional<Place> Places::of_call(const Value* pointer, int depth) const {
  const auto* call = cast<CallBase>(pointer);
  if (const auto* intrinsic = dyn_cast<IntrinsicInst>(call)) {
    switch (intrinsic->getIntrinsicID()) {
      case Intrinsic::ptr_annotation:
      case Intrinsic::launder_invariant_group:
      case Intrinsic::threadlocal_address:
        return resolve(intrinsic->getArgOperand(0), depth);
      default:
        return std::nullopt;
    }
  }
  const Function* callee = call->getCalledFunction();
  const DISubprogram* debug = callee != nullptr ? callee->getSubprogram() : nullptr;
  if (debug == nullptr || debug->getType() == nullptr) return std::nullopt;
  DITypeRefArray types = debug->getType()->getTypeArray();
  const DIType* target = types.size() > 0 ? pointee(types[0]) : nullptr;
  if (target == nullptr) return std::nullopt;
  return Place{target, 0, ""};
}

namespace {

uint64_t bytes_of(const DIType* type) {
  const DIType* bare = plain(type);
  return bare != nullptr ? bare->getSizeInBits() / 8 : 0;
}

// struct message { int size; char text[]; }: text has no end of its own.
bool is_flexible(const DIDerivedType* member) {
  return as_array(member->getBaseType()) != nullptr && bytes_of(member->getBaseType()) == 0;
}

// Where the array at the end of a class begins, if that has no end.
std::optional<uint64_t> flexible_from(const DICompositeType* type) {
  for (const DINode* element : type->getElements()) {
    const auto* member = dyn_cast_or_null<DIDerivedType>(element);
    if (member != nullptr && member->getTag() == dwarf::DW_TAG_member && !member->isStaticMember() &&
        is_flexible(member))
      return member->getOffsetInBits() / 8;
  }
  return std::nullopt;
}

// The member that covers `offset`; in a union the one whose size fits best.
const DIDerivedType* member_at(const DICompositeType* type, uint64_t offset, uint64_t bytes) {
  const DIDerivedType* best = nullptr;
  for (const DINode* element : type->getElements()) {
    const auto* member = dyn_cast_or_null<DIDerivedType>(element);
    if (member == nullptr || member->isStaticMember()) continue;
    if (member->getTag() != dwarf::DW_TAG_member && member->getTag() != dwarf::DW_TAG_inheritance) continue;
    uint64_t begin = member->getOffsetInBits() / 8;
    uint64_t size = std::max(member->getSizeInBits() / 8, bytes_of(member->getBaseType()));
    if (member->isBitField()) size = (member->getOffsetInBits() % 8 + member->getSizeInBits() + 7) / 8;
    if (offset < begin || (offset - begin >= size && !is_flexible(member))) continue;
    if (best == nullptr || (offset == begin && bytes_of(member->getBaseType()) == bytes)) best = member;
    if (type->getTag() != dwarf::DW_TAG_union_type && best->getTag() == dwarf::DW_TAG_member) break;
  }
  return best;
}

}  // namespace

FieldName field_name(const Place& place, uint64_t bytes) {
  FieldName name;
  name.text = place.variable;
  name.type = place.type;
  uint64_t offset = place.offset;
  bool stops_at_system = false;
  for (int depth = 0; depth < 32; ++depth) {
    if (const DICompositeType* array = as_array(name.type)) {
      uint64_t size = bytes_of(array->getBaseType());
      if (size == 0) break;
      offset %= size;
      if (!name.text.empty()) name.text += "[]";
      name.type = array->getBaseType();
      continue;
    }
    const DICompositeType* type = as_class(name.type);
    uint64_t size = bytes_of(name.type);
    const std::optional<uint64_t> flexible = type != nullptr ? flexible_from(type) : std::nullopt;
    if (place.variable.empty() && depth == 0 && size != 0 && !(flexible && offset >= *flexible))
      offset %= size;  // p[3]: as good as p[0]
    if (type == nullptr) break;
    if (name.outer == nullptr) {
      name.outer = type;
      name.outer_offset = offset;
    }
    if (stops_at_system && is_system(type->getFile())) break;  // Account::name, not basic_string::_M_p
    const DIDerivedType* member = member_at(type, offset, bytes);
    if (member == nullptr) break;
    name.owner = type;
    name.owner_offset = offset;
    offset -= member->getOffsetInBits() / 8;
    name.type = member->getBaseType();
    if (member->getTag() == dwarf::DW_TAG_inheritance || member->getName().empty()) continue;
    std::string owner = qualified_name(type);
    if (!type->getName().empty() || owner != type->getName())
      name.text = owner + "::" + member->getName().str();
    else
      name.text = name.text.empty() ? member->getName().str() : name.text + "." + member->getName().str();
    stops_at_system = true;
  }
  return name;
}

}  // namespace cleave
