#include "trace/recorded/address_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "trace/core/library.h"
#include "trace/core/type_paths.h"
#include "trace/core/unit_flags.h"

namespace cleave {
namespace {

// The entry of a map from start address that covers `address`.
template <typename Map>
const typename Map::value_type* covering(const Map& map, uint64_t address) {
  auto it = map.upper_bound(address);
  if (it == map.begin()) return nullptr;
  --it;
  return address - it->first < it->second.size ? &*it : nullptr;
}

template <typename Map>
void erase_range(Map& map, uint64_t address, uint64_t bytes) {
  uint64_t end = address + bytes < address ? UINT64_MAX : address + bytes;
  for (auto it = map.lower_bound(address); it != map.end() && it->first < end;) it = map.erase(it);
}

// Account → Account#12
void append_number(std::string& name, uint64_t number) {
  char digits[24];
  name += '#';
  name.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// The sources that the pass gives to a round of a loop and to a place to wait (pass/mark/marks.h).
constexpr uint32_t kRoundOfLoop = 6, kPlaceToWait = 7;

}  // namespace

void AddressSpace::add_module(const Module& module) {
  for (uint32_t i = 0; i < module.globals.size() && i < module.tables.globals.size(); ++i) {
    const GlobalEntry& entry = module.tables.globals[i];
    if (module.globals[i] == 0 || entry.size == 0 || entry.name.empty() ||
        (entry.flags & GlobalEntry::kThreadLocal))
      continue;
    Global& known = globals_[module.globals[i]];
    if (known.size < entry.size) known = {entry.size, &module, i};
    globals_begin_ = std::min(globals_begin_, module.globals[i]);
    uint64_t room = UINT64_MAX - module.globals[i];
    globals_end_ = std::max(globals_end_, module.globals[i] + std::min(entry.size, room));
  }
  // Whether a program has annotations must be known before the first of them is reached.
  for (uint32_t i = 0; i < module.tables.units.size(); ++i) {
    auto source = static_cast<UnitSource>(module.tables.units[i].source);
    if (source == UnitSource::Annotated || source == UnitSource::UnitFor) unit_name(module, i);
  }
}

SiteId AddressSpace::site_slowly(const Module& module, uint32_t index) {
  if (index == kNoIndex) return kNone<SiteId>;
  if (module.number >= site_ids_.size()) site_ids_.resize(module.number + 1);
  std::vector<SiteId>& ids = site_ids_[module.number];
  if (ids.empty()) ids.resize(module.tables.sites.size(), kNone<SiteId>);
  SiteId& id = ids[index];
  if (id != kNone<SiteId>) return id;
  const SiteEntry& entry = module.tables.sites[index];
  SiteInfo info{
      .file = std::string(module.tables.text(entry.file)), .line = entry.line, .column = entry.column};
  if (entry.function != kNoIndex) info.function = module.tables.functions[entry.function].name;
  info.variable = module.tables.text(entry.variable);
  info.type = module.tables.text(entry.type);
  info.through_own = entry.flags & SiteEntry::kThroughOwn;
  return id = builder_.add_site(std::move(info));
}

UnitNameId AddressSpace::unit_name_slowly(const Module& module, uint32_t index) {
  if (index == kNoIndex) return kNone<UnitNameId>;
  if (module.number >= unit_ids_.size()) unit_ids_.resize(module.number + 1);
  std::vector<UnitNameId>& ids = unit_ids_[module.number];
  if (ids.empty()) ids.resize(module.tables.units.size(), kNone<UnitNameId>);
  if (ids[index] != kNone<UnitNameId>) return ids[index];
  const UnitEntry& entry = module.tables.units[index];
  UnitNameInfo info{.name = entry.name,
                    .source = static_cast<UnitSource>(std::min<uint32_t>(entry.source, 5))};
  if (entry.source == kRoundOfLoop || entry.source == kPlaceToWait) {
    info.source = UnitSource::Function;
    info.flags = entry.source == kRoundOfLoop ? kUnitRound : kUnitMayWait;
  }
  if (entry.type != kNoIndex) {
    const TypeEntry& type = module.tables.types[entry.type];
    info.type = type.name;
    if (type.outer != kNoIndex || (type.flags & TypeEntry::kIterator) != 0)
      info.flags |= UnitNameInfo::kExposes;
  }
  if (entry.function != kNoIndex) {
    const FunctionEntry& function = module.tables.functions[entry.function];
    info.file = module.tables.text(function.file);
    if ((function.flags & FunctionEntry::kGetter) != 0) info.flags |= UnitNameInfo::kGetter;
    if ((function.flags & FunctionEntry::kSetter) != 0) info.flags |= UnitNameInfo::kSetter;
    if ((function.flags & FunctionEntry::kFriend) != 0) info.flags |= kUnitSteps;
    if (info.flags & kUnitSteps && entry.type != kNoIndex &&
        (module.tables.types[entry.type].flags & TypeEntry::kIterator) != 0)
      info.flags |= kUnitWalks;
  }
  auto [it, fresh] =
      units_.emplace(fmt::format("{}\n{}\n{}", info.name, entry.source, info.type), kNone<UnitNameId>);
  if (fresh) it->second = builder_.add_unit_name(std::move(info));
  return ids[index] = it->second;
}

const std::pair<const uint64_t, AddressSpace::Global>* AddressSpace::global_at(uint64_t address) const {
  return address >= globals_begin_ && address < globals_end_ ? covering(globals_, address) : nullptr;
}
const std::pair<const uint64_t, AddressSpace::Block>* AddressSpace::block_at(uint64_t address) const {
  return covering(blocks_, address);
}
const std::pair<const uint64_t, AddressSpace::Instance>* AddressSpace::instance_at(uint64_t address) const {
  auto it = instances_.upper_bound(address);
  if (it == instances_.begin()) return nullptr;
  --it;
  // A member that ends before the address stands in the way of the object that holds both.
  while (address - it->first >= it->second.size) {
    auto outer = outers_.find(raw(it->second.object));
    if (outer == outers_.end()) return nullptr;
    auto above = instances_.find(builder_.tables().object(outer->second.object).address);
    if (above == instances_.end() || above->first > it->first || above->second.size <= it->second.size ||
        above->second.object != outer->second.object)
      return nullptr;
    it = above;
  }
  return &*it;
}

const std::pair<const uint64_t, AddressSpace::Instance>& AddressSpace::instance(uint64_t base,
                                                                                const Module& module,
                                                                                uint32_t type) {
  const TypeEntry& entry = module.tables.types[type];
  auto it = instances_.find(base);
  // A class that adds no field to its base is as large as that: it is the outer one all the same.
  auto is_base = [&](const Instance& known) {
    std::string path;
    return known.size == entry.size &&
           member_path(module.tables, type, 0, known.module->tables.types[known.type].name, &path);
  };
  if (it != instances_.end() && it->second.size >= entry.size && !is_base(it->second)) return *it;
  ObjectInfo info{.type = entry.name, .address = base, .size = std::max<uint64_t>(entry.size, 1)};
  Instance made{info.size, kNone<ObjectId>, &module, type};
  const auto* global = global_at(base);
  if (global != nullptr) {
    info.name = global_name(base, *global, false);
    const GlobalEntry& of = global->second.module->tables.globals[global->second.index];
    if (global->first == base && array_elements(of.type_name) == 0) info.name = of.name;
    size_t dot = info.name.find('.');  // the object is the element, not its first field
    if (dot != std::string::npos && array_elements(of.type_name) > 0) info.name.resize(dot);
  } else {
    info.name = entry.name;
    append_number(info.name, ++instances_of(module, type));
  }
  const auto* block = block_at(base);
  if (block != nullptr && block->first == base && block->second.size == info.size) {
    made.object = block->second.object;  // the block is the object
    ObjectInfo& object = change(made.object);
    object.type = info.type;
    object.name = info.name;
  } else {
    made.object = make(std::move(info));
  }
  hold(made.object);
  const auto* around = instance_at(base);
  uint64_t end = base + made.size;
  instances_changed(base, around != nullptr ? std::max(end, around->first + around->second.size) : end);
  if (block != nullptr && block->second.owned && made.object != block->second.object &&
      is_library_type(entry.name))
    put_into(made.object, block->second.object);
  redirect_inner(base, made);
  take_waiting(base, made);
  ObjectId before = it != instances_.end() ? it->second.object : kNone<ObjectId>;
  const auto& placed = *instances_.insert_or_assign(base, made).first;
  drop(before);
  place_fields(base, made);
  name_innards(placed);
  return placed;
}

// What a constructor or a fill touched before anybody said what lies there are fields of this object.
void AddressSpace::place_fields(uint64_t base, const Instance& owner) {
  if (cut_) cut_stretches(base, owner);
  auto first = unplaced_.lower_bound(base), last = first;
  for (; last != unplaced_.end() && last->first - base < owner.size; ++last) {
    const FieldName& field = fields_.at(*owner.module, owner.type, last->first - base);
    if (field.path.empty()) continue;
    VariableInfo& info = change(last->second);
    info.name = owner.module->tables.types[owner.type].name + "::" + field.shown;
    info.field = field.path;
    hold(owner.object);
    drop(std::exchange(info.object, owner.object));
    info.flags = field.flags;
    info.set = field.set;
    builder_.moved(last->second);
  }
  unplaced_.erase(first, last);
}

void AddressSpace::redirect_inner(uint64_t base, const Instance& outer) {
  for (auto it = instances_.lower_bound(base); it != instances_.end() && it->first - base < outer.size;
       ++it) {
    const std::string& inner = it->second.module->tables.types[it->second.type].name;
    std::string path;
    if (!lies_in(outer.object, it->second.object) &&
        member_path(outer.module->tables, outer.type, it->first - base, inner, &path)) {
      auto [member, fresh] = outers_.try_emplace(raw(it->second.object), Outer{kNone<ObjectId>, {}});
      hold(outer.object);
      drop(std::exchange(member->second, {outer.object, path}).object);
      set_outer(it->second.object, outer.object);
    } else if (is_library_type(inner)) {  // a part of a container's inside that the types do not lead to
      put_into(it->second.object, outer.object);
    }
  }
}

ObjectId AddressSpace::self(uint64_t address, const Module& module, uint32_t type) {
  if (address == 0) return kNone<ObjectId>;
  Self& line = selves_[((address ^ type) * 0x9e3779b97f4a7c15ull >> 32) % kSelves];
  const uint64_t& generation = generation_at(address);
  bool known = line.address == address && line.type == type && line.module == &module;
  if (known && line.generation == generation) return line.object;
  ObjectId object = self_slowly(address, module, type);
  line = {address, generation, &module, type, object};
  return object;
}

// An instance in [from, end) came or went: what lies there may be part of another one now.
void AddressSpace::instances_changed(uint64_t from, uint64_t end) {
  uint64_t first = from >> 12, last = std::max(from, end) >> 12;
  if (last - first >= kGenerations) last = first + kGenerations - 1;
  for (uint64_t page = first; page <= last; ++page) ++generations_[page % kGenerations];
}

ObjectId AddressSpace::self_slowly(uint64_t address, const Module& module, uint32_t type) {
  const auto* known = instance_at(address);
  std::string path;
  if (type == kNoIndex) return known != nullptr ? known->second.object : kNone<ObjectId>;
  if (known != nullptr && known->first != address &&
      member_path(known->second.module->tables, known->second.type, address - known->first,
                  module.tables.types[type].name, &path)) {
    return known->second.object;
  }
  return instance(address, module, type).second.object;
}

bool AddressSpace::initial_of(uint64_t address, uint32_t bytes, uint64_t* value) const {
  const auto* global = global_at(address);
  if (global == nullptr) return false;
  const GlobalEntry& entry = global->second.module->tables.globals[global->second.index];
  uint64_t offset = address - global->first;
  if ((entry.flags & GlobalEntry::kZeroInitialised) != 0) return *value = 0, true;
  if (entry.initial.empty() || offset + bytes > entry.initial.size()) return false;
  *value = 0;
  for (uint32_t i = 0; i < bytes; ++i) *value |= uint64_t{entry.initial[offset + i]} << (8 * i);
  return true;
}

VariableId AddressSpace::add_variable(uint64_t address, uint32_t bytes, TableSite site,
                                      const uint64_t* value) {
  Named named = name_of(address, bytes, site);
  VariableInfo info{.name = std::move(named.name),
                    .address = address,
                    .size = bytes,
                    .object = named.object,
                    .field = std::move(named.field),
                    .flags = named.flags,
                    .home = std::move(named.home),
                    .set = std::move(named.set)};
  info.initial_known = initial_of(address, bytes, &info.initial);
  if (!info.initial_known && value != nullptr) info.initial = *value;
  return place(std::move(info));
}

// Makes it. What it is may be known better later.
VariableId AddressSpace::place(VariableInfo info) {
  const uint64_t address = info.address;
  bool placed = !info.field.empty() || global_at(address) != nullptr;
  bool library = is_library_type(info.name);
  VariableId id = make(std::move(info));
  if (!placed) unplaced_[address] = id;
  if (placed && library) innards_[address] = id;
  return id;
}

VariableId AddressSpace::add_part(VariableId whole, uint64_t address, uint32_t bytes, TableSite site) {
  VariableInfo info = builder_.tables().variable(whole);
  uint64_t offset = address - info.address;
  const VariableInfo old = info;
  Named named = name_of(address, bytes, {});
  if (named.object == old.object && !named.name.starts_with("memory@")) {
    info.name = named.name;
    info.field = named.field;
  } else if (offset != 0 && old.size <= 8) {  // a word of a stretch would have had its name
    info.name = fmt::format("{}+{}", old.name, offset);
    if (!info.field.empty()) info.field = fmt::format("{}+{}", old.field, offset);
  }
  info.address = address;
  info.size = bytes;
  info.initial = offset < 8 ? info.initial >> (8 * offset) : 0;
  if (bytes < 8) info.initial &= (uint64_t{1} << (8 * bytes)) - 1;
  VariableId id = make(std::move(info));
  if (auto known = unplaced_.find(old.address); known != unplaced_.end()) unplaced_[address] = id;
  return id;
}

SyncId AddressSpace::sync_slowly(uint64_t address, SyncKind kind) {
  auto cached = sync_cache_.find(address);
  if (cached != sync_cache_.end()) {
    SyncKind known = builder_.tables().sync(cached->second).kind;
    if (known == kind) {
      sync_line(address) = {address, kind, cached->second};
      return cached->second;
    }
    bool both_locks = (known == SyncKind::Mutex || known == SyncKind::RwLock) &&
                      (kind == SyncKind::Mutex || kind == SyncKind::RwLock);
    if (known == SyncKind::Unknown || both_locks) {
      if (kind != SyncKind::Unknown) change(cached->second).kind = kind;
      sync_line(address) = {};
      return cached->second;
    }
  }
  SyncId id = make(SyncInfo{.name = sync_name(address, kind), .kind = kind, .address = address});
  if (cached != sync_cache_.end()) end_sync(cached->second);
  syncs_[address] = id;
  sync_cache_[address] = id;
  sync_line(address) = {address, kind, id};
  return id;
}

SyncId AddressSpace::sync_anew(uint64_t address, SyncKind kind) {
  if (auto known = syncs_.find(address); known != syncs_.end()) {
    end_sync(known->second);
    syncs_.erase(known);
  }
  sync_cache_.erase(address);
  if (SyncLine& line = sync_line(address); line.address == address) line = {};
  return sync(address, kind);
}

uint64_t& AddressSpace::instances_of(const Module& module, uint32_t type) {
  if (module.number >= instance_counts_.size()) instance_counts_.resize(module.number + 1);
  std::vector<uint64_t*>& counts = instance_counts_[module.number];
  if (counts.empty()) counts.resize(module.tables.types.size());
  if (counts[type] == nullptr) counts[type] = &counts_[module.tables.types[type].name];
  return *counts[type];
}

AddressSpace::Count& AddressSpace::allocation_place(TableSite called_for, const char* how) {
  uint64_t key = called_for ? uint64_t{called_for.module->number} << 32 | called_for.site : UINT64_MAX;
  auto [it, fresh] = allocation_places_[std::string_view(how) == "malloc" ? 0 : 1].try_emplace(key);
  if (fresh) {
    std::string place = place_of(called_for);
    it->second = &*counts_.try_emplace(place.empty() ? how : fmt::format("{}@{}", how, place), 0).first;
  }
  return *it->second;
}

ObjectId AddressSpace::allocate(uint64_t address, uint64_t bytes, TableSite caller, TableSite called_for,
                                const char* how) {
  forget(address, std::max<uint64_t>(bytes, 1));
  Count& place = allocation_place(called_for, how);
  ObjectInfo info{.name = place.first, .address = address, .size = bytes};
  append_number(info.name, ++place.second);
  if (caller && is_system_file(caller.module->tables.text(caller.module->tables.sites[caller.site].file)))
    info.type = kLibraryBlock;
  ObjectId id = make(std::move(info));
  hold(id);
  blocks_[address] = Block{.size = std::max<uint64_t>(bytes, 1), .object = id, .name = &place.first};
  return id;
}

uint64_t AddressSpace::block_size(uint64_t address) const {
  auto it = blocks_.find(address);
  return it == blocks_.end() ? 0 : it->second.size;
}

ObjectId AddressSpace::block_object(uint64_t address) const {
  auto it = blocks_.find(address);
  return it == blocks_.end() ? kNone<ObjectId> : it->second.object;
}

void AddressSpace::forget(uint64_t address, uint64_t bytes) {
  uint64_t end = address + bytes < address ? UINT64_MAX : address + bytes, changed = 0;
  for (auto it = blocks_.lower_bound(address); it != blocks_.end() && it->first < end;
       it = blocks_.erase(it)) {
    if (it->second.owned) let_go(it->first, it->second);
    drop(it->second.object);
  }
  for (auto it = instances_.lower_bound(address); it != instances_.end() && it->first < end;
       it = instances_.erase(it)) {
    changed = std::max(changed, it->first + it->second.size);
    drop(it->second.object);
  }
  if (changed != 0) {
    const auto* around = instance_at(address);
    instances_changed(address,
                      around != nullptr ? std::max(changed, around->first + around->second.size) : changed);
  }
  uint64_t words = address & ~uint64_t{7}, words_end = end > UINT64_MAX - 7 ? end : (end + 7) & ~uint64_t{7};
  erase_range(unplaced_, words, words_end - words);  // atoms go by whole words
  erase_range(innards_, words, words_end - words);
  waiting_.erase(waiting_.lower_bound({address, 0}), waiting_.lower_bound({end, 0}));
  for (auto it = syncs_.lower_bound(address); it != syncs_.end() && it->first < end; it = syncs_.erase(it)) {
    end_sync(it->second);
    sync_cache_.erase(it->first);
    if (SyncLine& line = sync_line(it->first); line.address == it->first) line = {};
  }
}

}  // namespace cleave
