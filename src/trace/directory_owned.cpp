// Memory that containers of the standard library have allocated for themselves.
#include <fmt/format.h>

#include "trace/directory.h"
#include "trace/type_paths.h"

namespace cleave {

void Directory::own(uint64_t container, uint64_t block) {
  auto it = blocks_.find(block);
  if (it == blocks_.end()) return;
  it->second.owned = true;
  for (auto inner = instances_.lower_bound(block); inner != instances_.end() && inner->first - block < it->second.size; ++inner) {
    if (is_library_type(inner->second.module->tables.types[inner->second.type].name))
      put_into(inner->second.object, it->second.object);
  }
  if (const auto* known = instance_at(container)) return put_block(it->second, container, known->first, known->second);
  const auto* around = block_at(container);  // a container in a container
  if (around != nullptr && around->second.owned) return put_into(it->second.object, around->second.object);
  waiting_.emplace(container, block);
}

void Directory::take_waiting(uint64_t base, const Instance& owner) {
  auto first = waiting_.lower_bound(base), last = first;
  for (; last != waiting_.end() && last->first - base < owner.size; ++last) {
    auto block = blocks_.find(last->second);
    if (block != blocks_.end() && block->second.owned) put_block(block->second, last->first, base, owner);
  }
  waiting_.erase(first, last);
}

void Directory::put_block(Block& block, uint64_t container, uint64_t base, const Instance& owner) {
  const SiteTables& tables = owner.module->tables;
  std::string field = field_path(tables, owner.type, container - base, true);
  if (!field.empty() && !is_library_type(tables.types[owner.type].name))
    block.element = fmt::format("{}::{}[]", tables.types[owner.type].name, field);
  put_into(block.object, owner.object);
}

void Directory::put_into(ObjectId part, ObjectId whole) {
  if (builder_.object_info(part).outer != kNone<ObjectId>) return;
  for (ObjectId up = whole; up != kNone<ObjectId>; up = builder_.object_info(up).outer)
    if (up == part) return;
  builder_.set_outer(part, whole);
}

}  // namespace cleave
