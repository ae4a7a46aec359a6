// What is the standard library's: memory that its containers have allocated for themselves, and the insides
// of its objects, which are called what a person declared them as.
#include <fmt/format.h>

#include "abi/owns.h"
#include "trace/core/library.h"
#include "trace/core/type_paths.h"
#include "trace/recorded/address_space.h"

namespace cleave {

void AddressSpace::own(uint64_t container, uint64_t block) {
  if (unsigned how = block & 3) return hand_over(container, block - how, how);
  auto it = blocks_.find(block);
  if (it == blocks_.end() || it->second.shared) return;
  if (it->second.owned) return take_over(block, it->second, container, true);
  it->second.owned = true;
  it->second.container = container;
  held_.emplace(container, block);
  for (auto inner = instances_.lower_bound(block);
       inner != instances_.end() && inner->first - block < it->second.size; ++inner) {
    if (is_library_type(inner->second.module->tables.types[inner->second.type].name))
      put_into(inner->second.object, it->second.object);
  }
  if (const auto* known = instance_at(container))
    return put_block(*it, container, known->first, known->second);
  const auto* around = block_at(container);  // a container in a container
  if (around != nullptr && around->second.owned) return put_into(it->second.object, around->second.object);
  waiting_.emplace(container, block);
}

void AddressSpace::hand_over(uint64_t to, uint64_t from, unsigned how) {
  if (to == from) return;
  auto held = [&](uint64_t container) {
    std::vector<uint64_t> blocks;
    for (auto it = held_.lower_bound({container, 0}); it != held_.end() && it->first == container; ++it)
      blocks.push_back(it->second);
    return blocks;
  };
  std::vector<uint64_t> theirs = held(from), ours;
  if (how == CLEAVE_OWNS_EXCHANGED) ours = held(to);
  for (uint64_t block : theirs) take_over(block, blocks_.at(block), to, how != CLEAVE_OWNS_SOME);
  for (uint64_t block : ours) take_over(block, blocks_.at(block), from, true);
}

// The block is now held by another container, or that is at least possible.
void AddressSpace::take_over(uint64_t address, Block& block, uint64_t container, bool surely) {
  ObjectId before = builder_.tables().object(block.object).outer, now = holder_of(container);
  bool same = before != kNone<ObjectId> && now != kNone<ObjectId> && outermost(before) == outermost(now);
  if (same && !surely) return;
  // From a container that nothing of the program's holds, such as a local one, it comes to its first holder.
  bool first = before == kNone<ObjectId> || is_of_library(outermost(before));
  let_go(address, block);
  if (same || (first && surely)) {
    if (!same) take_out(block.object);
    return own(container, address);
  }
  block.shared = true;
  block.element.clear();
  take_out(block.object);
}

void AddressSpace::take_out(ObjectId part) {
  ObjectId whole = builder_.tables().object(part).outer;
  if (whole == kNone<ObjectId>) return;
  builder_.set_outer(outermost(whole), kNone<ObjectId>);  // as it is: who knows its variables asks again
  set_outer(part, kNone<ObjectId>);
}

// The container holds the block no longer.
void AddressSpace::let_go(uint64_t address, Block& block) {
  held_.erase({block.container, address});
  waiting_.erase({block.container, address});
  block.owned = false;
}

bool AddressSpace::lies_in(ObjectId part, ObjectId whole) const {
  while (part != kNone<ObjectId> && part != whole) part = builder_.tables().object(part).outer;
  return part == whole;
}

ObjectId AddressSpace::outermost(ObjectId object) const {
  for (;;) {
    ObjectId up = builder_.tables().object(object).outer;
    if (up == kNone<ObjectId>) return object;
    object = up;
  }
}

ObjectId AddressSpace::holder_of(uint64_t container) const {
  if (const auto* known = instance_at(container)) return known->second.object;
  const auto* around = block_at(container);
  return around != nullptr && around->second.owned ? around->second.object : kNone<ObjectId>;
}

bool AddressSpace::is_of_library(ObjectId object) const {
  const std::string& type = builder_.tables().object(object).type;
  return type.empty() || is_library_type(type);
}

void AddressSpace::take_waiting(uint64_t base, const Instance& owner) {
  auto first = waiting_.lower_bound({base, 0}), last = first;
  for (; last != waiting_.end() && last->first - base < owner.size; ++last) {
    auto block = blocks_.find(last->second);
    if (block != blocks_.end() && block->second.owned) put_block(*block, last->first, base, owner);
  }
  waiting_.erase(first, last);
}

void AddressSpace::put_block(std::pair<const uint64_t, Block>& at, uint64_t container, uint64_t base,
                             const Instance& owner) {
  Block& block = at.second;
  const SiteTables& tables = owner.module->tables;
  std::string field = field_path(tables, owner.type, container - base, true);
  if (!field.empty() && !is_library_type(tables.types[owner.type].name))
    block.element = fmt::format("{}::{}[]", tables.types[owner.type].name, field);
  // What was touched before it was known whose it is.
  for (auto it = unplaced_.lower_bound(at.first); it != unplaced_.end() && it->first - at.first < block.size;
       ++it) {
    if (!block.element.empty() && builder_.tables().variable(it->second).name.starts_with(*block.name + "+"))
      change(it->second).name = block.element;
  }
  put_into(block.object, owner.object);
}

void AddressSpace::put_into(ObjectId part, ObjectId whole) {
  if (builder_.tables().object(part).outer != kNone<ObjectId> || lies_in(whole, part)) return;
  set_outer(part, whole);
}

// What of the standard library's was touched before it was known whose member that is.
void AddressSpace::name_innards(const std::pair<const uint64_t, Instance>& owner) {
  auto it = innards_.lower_bound(owner.first);
  while (it != innards_.end() && it->first - owner.first < owner.second.size) {
    VariableInfo& info = change(it->second);
    info.name = declared_name(it->first, owner);
    it = is_library_type(info.name) ? std::next(it) : innards_.erase(it);
  }
}

// What a person calls memory that lies in an object: the field of the outermost object that is known, or the
// variable.
std::string AddressSpace::declared_name(uint64_t address,
                                        const std::pair<const uint64_t, Instance>& within) const {
  if (const auto* global = global_at(address)) return declared_name(address, *global);
  const std::pair<const uint64_t, Instance>* top = &within;
  for (auto up = outers_.find(raw(top->second.object)); up != outers_.end();
       up = outers_.find(raw(top->second.object))) {
    auto above = instances_.find(builder_.tables().object(up->second.object).address);
    if (above == instances_.end() || above->second.object != up->second.object || &*above == top) break;
    top = &*above;
  }
  const SiteTables& tables = top->second.module->tables;
  const std::string& type = tables.types[top->second.type].name;
  const auto* block = is_library_type(type) ? block_at(address) : nullptr;
  if (block != nullptr && !block->second.element.empty()) return block->second.element;
  const std::string& field = fields_.at(*top->second.module, top->second.type, address - top->first).shown;
  return field.empty() ? type : type + "::" + field;
}

// As the program's own accesses of a field are called after its class, so is what the library has in one,
// wherever the object lies.
std::string AddressSpace::declared_name(uint64_t address,
                                        const std::pair<const uint64_t, Global>& global) const {
  const SiteTables& tables = global.second.module->tables;
  const GlobalEntry& entry = tables.globals[global.second.index];
  const std::string_view type = entry.type == kNoIndex ? std::string_view() : tables.types[entry.type].name;
  const bool named = !type.empty() && !type.ends_with(')');  // (unnamed struct)
  if (named && !is_library_type(type)) {
    uint64_t offset = address - global.first;
    const uint64_t elements = array_elements(entry.type_name);
    if (elements > 0 && entry.size >= elements) offset %= entry.size / elements;
    const FieldName& field = fields_.at(*global.second.module, entry.type, offset);
    if (!field.shown.empty()) return fmt::format("{}::{}", type, field.shown);
  }
  return without_innards(global_name(address, global, false));
}

}  // namespace cleave
