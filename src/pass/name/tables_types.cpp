// Classes and their fields, as debug information has them.
#include <llvm/BinaryFormat/Dwarf.h>

#include "pass/name/debug_names.h"
#include "pass/name/tables.h"

namespace cleave {

using namespace llvm;

uint32_t TableBuilder::type(const DIType* asked) {
  const DICompositeType* composite = as_class(asked);
  if (composite == nullptr) return kNoIndex;
  auto [at, fresh] = types_.try_emplace(composite, kNoIndex);
  if (!fresh) return at->second;
  // A declaration and its definition, or two definitions, are one class when their mangled names say so.
  StringRef identifier = composite->getIdentifier();
  if (!identifier.empty()) {
    auto [known, first] =
        types_by_identifier_.try_emplace(identifier, static_cast<uint32_t>(tables.types.size()));
    if (!first) {
      at->second = known->second;
      if (tables.types[known->second].fields.empty() && !composite->isForwardDecl())
        fill_type(known->second, composite);
      return types_[composite];
    }
  }
  uint32_t index = static_cast<uint32_t>(tables.types.size());
  at->second = index;
  tables.types.emplace_back();
  fill_type(index, composite);
  return index;
}

void TableBuilder::fill_type(uint32_t index, const DICompositeType* type) {
  TypeEntry entry;
  entry.name = qualified_name(type);
  entry.identifier = type->getIdentifier().str();
  entry.size = type->getSizeInBits() / 8;
  if (is_system(type->getFile())) entry.flags |= TypeEntry::kSystemType;
  if (type->getTag() == dwarf::DW_TAG_union_type) entry.flags |= TypeEntry::kUnion;
  if (type->getName().split('<').first.contains_insensitive("iterator")) entry.flags |= TypeEntry::kIterator;
  if (const auto* outer = dyn_cast_or_null<DICompositeType>(type->getScope()))
    entry.outer = this->type(outer);
  uint32_t default_access = type->getTag() == dwarf::DW_TAG_class_type ? FieldEntry::kPrivate : 0u;
  for (const DINode* element : type->getElements()) {
    const auto* member = dyn_cast_or_null<DIDerivedType>(element);
    if (member == nullptr) continue;
    bool is_static = member->isStaticMember() || member->getTag() == dwarf::DW_TAG_variable;
    bool is_base = member->getTag() == dwarf::DW_TAG_inheritance;
    if (member->getTag() != dwarf::DW_TAG_member && !is_static && !is_base) continue;
    if (member->getName().starts_with("_vptr")) continue;
    FieldEntry& field = entry.fields.emplace_back();
    fill_field(field, member);
    if (is_static) field.flags |= FieldEntry::kStaticMember;
    if (is_base) field.flags |= FieldEntry::kBase;
    switch (member->getFlags() & DINode::FlagAccessibility) {
      case DINode::FlagPrivate:
        field.flags |= FieldEntry::kPrivate;
        break;
      case DINode::FlagProtected:
        field.flags |= FieldEntry::kProtectedField;
        break;
      case DINode::FlagPublic:
        break;
      default:
        field.flags |= default_access;
    }
  }
  tables.types[index] = std::move(entry);
}

void TableBuilder::fill_field(FieldEntry& field, const DIDerivedType* member) {
  const DIType* type = member->getBaseType();
  field.name = member->getTag() == dwarf::DW_TAG_inheritance ? qualified_name(type) : member->getName().str();
  if (!member->isStaticMember()) field.offset = member->getOffsetInBits() / 8;
  field.size = (type != nullptr ? member->getSizeInBits() : 0) / 8;
  if (field.size == 0 && type != nullptr && plain(type) != nullptr)
    field.size = plain(type)->getSizeInBits() / 8;
  field.type_name = spelled(type);
  field.type = this->type(type);
  for (const auto* step = dyn_cast_or_null<DIDerivedType>(type); step != nullptr;
       step = dyn_cast_or_null<DIDerivedType>(step->getBaseType())) {
    if (step->getTag() == dwarf::DW_TAG_const_type) field.flags |= FieldEntry::kConst;
    if (step->getTag() == dwarf::DW_TAG_atomic_type) field.flags |= FieldEntry::kAtomic;
    if (step->getTag() != dwarf::DW_TAG_typedef && step->getTag() != dwarf::DW_TAG_const_type &&
        step->getTag() != dwarf::DW_TAG_volatile_type && step->getTag() != dwarf::DW_TAG_atomic_type) {
      break;
    }
  }
  if (const DICompositeType* composite = as_class(type)) {
    StringRef name = composite->getName();
    if ((name.starts_with("atomic<") || name == "atomic_flag") && is_system(composite->getFile())) {
      field.flags |= FieldEntry::kAtomic;
    }
  }
  if (const auto* derived = dyn_cast_or_null<DIDerivedType>(plain(type));
      derived != nullptr && derived->getTag() == dwarf::DW_TAG_pointer_type) {
    field.flags |= FieldEntry::kPointer;
  }
}

void TableBuilder::annotate_field(const DICompositeType* owner, uint64_t offset, StringRef annotation) {
  uint32_t index = type(owner);
  if (index == kNoIndex) return;
  for (FieldEntry& field : tables.types[index].fields) {
    if (field.offset != offset || (field.flags & (FieldEntry::kStaticMember | FieldEntry::kBase)) != 0)
      continue;
    if (annotation.consume_front("cleave.set:"))
      field.set = annotation.str();
    else if (annotation == "cleave.owned")
      field.flags |= FieldEntry::kOwned;
  }
}

}  // namespace cleave
