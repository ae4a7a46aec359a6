#include "trace/core/type_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "trace/core/trace.h"

namespace cleave {
namespace {

constexpr int kDeepest = 32;  // classes within classes; damaged tables may contain themselves

// The smallest that covers the offset. An empty base (a list's allocator) lies where the first field does,
// and leads nowhere.
const FieldEntry* field_at(const TypeEntry& type, uint64_t offset) {
  const FieldEntry *best = nullptr, *empty = nullptr;
  for (const FieldEntry& field : type.fields) {
    if ((field.flags & FieldEntry::kStaticMember) != 0) continue;
    if (offset < field.offset || offset - field.offset >= std::max<uint64_t>(field.size, 1)) continue;
    if ((field.flags & FieldEntry::kBase) != 0 && field.size <= 1)
      empty = &field;
    else if (best == nullptr || field.size < best->size)
      best = &field;
  }
  return best != nullptr ? best : empty;
}

// Moves `offset` into the element of an array and appends its index.
void enter_array(const FieldEntry& field, uint64_t& offset, std::string& path) {
  uint64_t elements = array_elements(field.type_name);
  if (elements == 0 || field.size < elements) return;
  uint64_t size = field.size / elements;
  path += fmt::format("[{}]", offset / size);
  offset %= size;
}

}  // namespace

std::string field_path(const SiteTables& tables, uint32_t type, uint64_t offset, bool stop_at_system) {
  std::string path;
  for (int depth = 0; type != kNoIndex && depth < kDeepest; ++depth) {
    const FieldEntry* field = field_at(tables.types[type], offset);
    if (field == nullptr) break;
    offset -= field->offset;
    if ((field->flags & FieldEntry::kBase) == 0) {
      if (!path.empty()) path += '.';
      path += field->name;
      enter_array(*field, offset, path);
    }
    type = field->type;
    if (stop_at_system && type != kNoIndex && (tables.types[type].flags & TypeEntry::kSystemType) != 0 &&
        !path.empty())
      break;
  }
  return path;
}

FieldFacts field_facts(const SiteTables& tables, uint32_t type, uint64_t offset) {
  FieldFacts facts;
  bool owned = false, unique = false;
  const FieldEntry* last = nullptr;
  std::string ignored;
  for (int depth = 0; type != kNoIndex && depth < kDeepest; ++depth) {
    const std::string& name = tables.types[type].name;
    if (name.starts_with("std::atomic")) facts.flags |= VariableInfo::kAtomic;
    unique = unique || name.starts_with("std::unique_ptr<");
    const FieldEntry* field = field_at(tables.types[type], offset);
    if (field == nullptr) break;
    last = field;
    if ((field->flags & FieldEntry::kAtomic) != 0) facts.flags |= VariableInfo::kAtomic;
    if ((field->flags & FieldEntry::kConst) != 0) facts.flags |= VariableInfo::kConst;
    owned = owned || (field->flags & FieldEntry::kOwned) != 0;
    if (facts.set.empty()) facts.set = field->set;
    offset -= field->offset;
    enter_array(*field, offset, ignored);
    type = field->type;
  }
  // Of a unique_ptr the way to the pointer may end in its empty deleter, which lies at the same place.
  if (unique || (owned && last != nullptr && (last->flags & FieldEntry::kPointer) != 0))
    facts.flags |= VariableInfo::kOwned;
  return facts;
}

uint64_t field_room(const SiteTables& tables, uint32_t type, uint64_t offset) {
  uint64_t room = UINT64_MAX;
  std::string ignored;
  for (int depth = 0; type != kNoIndex && depth < kDeepest; ++depth) {
    const FieldEntry* field = field_at(tables.types[type], offset);
    if (field == nullptr) break;
    offset -= field->offset;
    room = field->size - std::min(offset, field->size);
    enter_array(*field, offset, ignored);
    type = field->type;
  }
  return room;
}

uint64_t leaf_room(const SiteTables& tables, uint32_t type, uint64_t offset) {
  uint64_t room = 0;
  std::string ignored;
  for (int depth = 0; type != kNoIndex && depth < kDeepest; ++depth) {
    const FieldEntry* field = field_at(tables.types[type], offset);
    if (field == nullptr) return 0;
    offset -= field->offset;
    room = field->size - std::min(offset, field->size);
    enter_array(*field, offset, ignored);
    type = field->type;
  }
  return type == kNoIndex ? room : 0;
}

bool member_path(const SiteTables& tables, uint32_t type, uint64_t offset, std::string_view inner,
                 std::string* path) {
  path->clear();
  for (int depth = 0; type != kNoIndex && depth < kDeepest; ++depth) {
    const FieldEntry* field = field_at(tables.types[type], offset);
    if (field == nullptr || field->type == kNoIndex) return false;
    offset -= field->offset;
    if ((field->flags & FieldEntry::kBase) == 0) {
      *path += field->name;
      enter_array(*field, offset, *path);
      *path += '.';
    }
    type = field->type;
    if (offset == 0 && tables.types[type].name == inner) return true;
  }
  return false;
}

uint64_t array_elements(std::string_view type_name) {
  size_t open = type_name.find('[');
  if (open == std::string_view::npos || type_name.back() != ']') return 0;
  uint64_t elements = 1;
  while (open != std::string_view::npos) {
    uint64_t count = 0;
    auto [end, error] =
        std::from_chars(type_name.data() + open + 1, type_name.data() + type_name.size(), count);
    if (error != std::errc() || *end != ']' || count == 0 || elements > UINT32_MAX / count) return 0;
    elements *= count;
    open = type_name.find('[', open + 1);
  }
  return elements;
}

}  // namespace cleave
