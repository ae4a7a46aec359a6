#include "analysis/static/object_classes.h"

#include <llvm/IR/InstIterator.h>

#include "trace/core/library.h"

namespace cleave::static_analysis {

using namespace llvm;

namespace {

bool of_library(const TypeEntry& type) {
  return (type.flags & TypeEntry::kSystemType) != 0 || is_library_type(type.name);
}

// The class of a field that is held by value, also of the elements of an array; null if there is none.
const TypeEntry* class_of(const SiteTables& tables, const FieldEntry& field) {
  if (field.type < tables.types.size()) return &tables.types[field.type];
  const size_t bracket = field.type_name.find('[');
  if (bracket == std::string::npos || !field.type_name.ends_with(']')) return nullptr;
  const std::string_view element = std::string_view(field.type_name).substr(0, bracket);
  for (const TypeEntry& type : tables.types) {
    if (type.name == element) return &type;
  }
  return nullptr;
}

void add_arrays(const SiteTables& tables, const TypeEntry& type, uint64_t base, int depth,
                std::vector<std::pair<uint64_t, uint64_t>>& arrays) {
  for (const FieldEntry& field : type.fields) {
    if ((field.flags & FieldEntry::kStaticMember) != 0) continue;
    const uint64_t begin = base + field.offset;
    if (field.type_name.ends_with(']')) arrays.emplace_back(begin, begin + field.size);
    const TypeEntry* inner = class_of(tables, field);
    if (inner != nullptr && depth < 8 && !of_library(*inner))
      add_arrays(tables, *inner, begin, depth + 1, arrays);
  }
}

}  // namespace

ObjectClasses::ObjectClasses(const WholeProgram& whole, const PointsTo& points_to) {
  // Local variables say what they are.
  for (uint32_t index = 0; index < points_to.objects(); ++index) {
    const Object& object = points_to.object(index);
    if (object.kind != ObjectKind::Stack) continue;
    const std::string name = WholeProgram::local(*cast<Instruction>(object.at)).second;
    uint32_t type = 0;
    const SiteTables* tables = name.empty() ? nullptr : whole.find_class(name, &type);
    if (tables == nullptr || of_library(tables->types[type]) || tables->types[type].size > object.size)
      continue;
    classes_[index].try_emplace(0, Place{tables, type});
  }
  for (const Function& function : whole.module()) {
    for (const Instruction& instruction : instructions(function)) {
      const Value* pointer = getLoadStorePointerOperand(&instruction);
      if (const auto* update = dyn_cast<AtomicRMWInst>(&instruction)) pointer = update->getPointerOperand();
      if (pointer == nullptr) continue;
      const SiteTables* tables = nullptr;
      const SiteEntry* site = whole.site(instruction, &tables);
      if (site == nullptr || site->object_type >= tables->types.size()) continue;
      const TypeEntry& type = tables->types[site->object_type];
      if (of_library(type)) continue;
      for (const Location& target : points_to.pointees(pointer)) {
        if (target.offset < site->offset) continue;
        const uint64_t size = points_to.object(target.object).size;
        if (size != UINT64_MAX && target.offset - site->offset + type.size > size) continue;
        const Place place{tables, site->object_type};
        auto [it, fresh] = classes_[target.object].try_emplace(target.offset - site->offset, place);
        if (!fresh && it->second.entry().size < type.size) it->second = place;
      }
    }
  }
}

ArrayBounds ObjectClasses::arrays(const PointsTo& points_to) const {
  ArrayBounds result;
  for (const auto& [object, places] : classes_) {
    for (const auto& [offset, place] : places)
      add_arrays(*place.tables, place.entry(), offset, 0, result[points_to.object(object).at]);
  }
  return result;
}

ObjectClasses::Field ObjectClasses::field(Location location) const {
  Field result{location, {}, false, {}};
  auto known = classes_.find(location.object);
  if (known == classes_.end()) return result;
  const Place* best = nullptr;
  uint64_t base = 0;
  for (const auto& [offset, place] : known->second) {
    const uint64_t size = place.entry().size;
    if (offset > location.offset || location.offset - offset >= size) continue;
    if (best == nullptr || size > best->entry().size) best = &place, base = offset;
  }
  if (best == nullptr) return result;
  const TypeEntry* type = &best->entry();
  uint64_t rest = location.offset - base;
  result.name = type->name;
  for (bool first = true;;) {
    const FieldEntry* in = nullptr;
    for (const FieldEntry& field : type->fields) {
      if ((field.flags & FieldEntry::kStaticMember) == 0 && field.offset <= rest &&
          rest - field.offset < field.size)
        in = &field;
    }
    if (in == nullptr) break;
    base += in->offset;
    rest -= in->offset;
    if ((in->flags & FieldEntry::kBase) == 0) {
      result.name += (first ? "::" : ".") + in->name;
      first = false;
    }
    const TypeEntry* inner = class_of(*best->tables, *in);
    result.library = inner != nullptr && of_library(*inner);
    if (inner != nullptr) result.type = inner->name;
    if (inner == nullptr || inner->size == 0 || result.library) {
      rest = 0;
      break;
    }
    type = inner;
    rest %= type->size;
  }
  result.start = {location.object, base + rest};
  return result;
}

}  // namespace cleave::static_analysis
