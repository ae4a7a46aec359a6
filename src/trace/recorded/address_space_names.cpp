// What variables, blocks and locks are called.
#include <fmt/format.h>

#include <algorithm>

#include "trace/core/library.h"
#include "trace/core/type_paths.h"
#include "trace/recorded/address_space.h"

namespace cleave {

bool AddressSpace::in_program(TableSite site) {
  const SiteTables& tables = site.module->tables;
  if (site.module->number >= in_program_.size()) in_program_.resize(site.module->number + 1);
  std::vector<uint8_t>& known = in_program_[site.module->number];
  if (known.empty()) known.resize(tables.sites.size());
  uint8_t& answer = known[site.site];
  if (answer != 0) return answer == 2;
  answer = 1;
  for (uint32_t index = site.site; index != kNoIndex && answer == 1; index = tables.sites[index].inlined_at) {
    if (!is_system_file(tables.text(tables.sites[index].file))) answer = 2;
  }
  return answer == 2;
}

std::string AddressSpace::place_of(TableSite site) const {
  if (!site) return {};
  const SiteTables& tables = site.module->tables;
  uint32_t index = site.site;
  // Within code of the system's headers the place that a person knows is where it was called from.
  while (tables.sites[index].inlined_at != kNoIndex &&
         is_system_file(tables.text(tables.sites[index].file))) {
    index = tables.sites[index].inlined_at;
  }
  std::string_view file = tables.text(tables.sites[index].file);
  size_t slash = file.rfind('/');
  return fmt::format("{}:{}", slash == std::string_view::npos ? file : file.substr(slash + 1),
                     tables.sites[index].line);
}

std::string AddressSpace::global_name(uint64_t address, const std::pair<const uint64_t, Global>& global,
                                      bool stop_at_system) const {
  const SiteTables& tables = global.second.module->tables;
  const GlobalEntry& entry = tables.globals[global.second.index];
  uint64_t offset = address - global.first;
  std::string name = entry.name;
  uint64_t elements = array_elements(entry.type_name);
  if (elements > 0 && entry.size >= elements) {
    uint64_t size = entry.size / elements;
    name += fmt::format("[{}]", offset / size);
    offset %= size;
  }
  bool whole = stop_at_system && offset == 0;  // a pthread_mutex_t, not its first field
  if (entry.type != kNoIndex && !(whole && (tables.types[entry.type].flags & TypeEntry::kSystemType) != 0)) {
    std::string path = field_path(tables, entry.type, offset, stop_at_system);
    if (!path.empty()) return name + "." + path;
  }
  return offset == 0 ? name : fmt::format("{}+{}", name, offset);
}

void AddressSpace::note_field(Named& named, const Module& module, uint32_t type, uint64_t offset) const {
  const FieldName& field = fields_.at(module, type, offset);
  named.field = field.path;
  named.flags = field.flags;
  named.set = field.set;
}

void AddressSpace::note_global(Named& named, const Module& module, const GlobalEntry& entry) const {
  std::string_view type = entry.type_name;
  if (type.starts_with("std::atomic") || type.starts_with("_Atomic")) named.flags |= VariableInfo::kAtomic;
  if ((entry.flags & GlobalEntry::kClassStatic) != 0) {
    named.home = entry.name.substr(0, entry.name.rfind("::"));
  } else if ((entry.flags & GlobalEntry::kFileStatic) != 0 && module.name.ends_with(".c")) {
    named.home = module.tables.text(entry.file);
  }
}

// Whether the object that a site speaks of can lie where this access would put it. A fill or copy that the
// optimiser made out of several stores has the site of one of them, and touches more than that field.
bool AddressSpace::fits(uint64_t address, uint64_t base, uint64_t bytes, const SiteEntry& entry,
                        const Module& module) const {
  if (address < base || bytes > fields_.at(module, entry.object_type, entry.offset).room) return false;
  const TypeEntry& type = module.tables.types[entry.object_type];
  auto holds = [&](uint64_t start, uint64_t size) {
    return base >= start && base + type.size <= start + size;
  };
  if (const auto* global = global_at(address)) return holds(global->first, global->second.size);
  if (const auto* block = block_at(address)) return holds(block->first, block->second.size);
  const auto* known = instance_at(address);  // two objects of one class do not overlap
  return known == nullptr || known->first == base ||
         known->second.module->tables.types[known->second.type].name != type.name;
}

// Whether the site is in the constructor of a class that has no other method. Its fields are touched by those
// who hold it, and are called what they are to them, although the constructor comes first.
bool AddressSpace::makes_plain(TableSite site) const {
  const SiteTables& tables = site.module->tables;
  const uint32_t type = tables.sites[site.site].object_type;
  std::string_view name = tables.types[type].name;
  name = name.substr(name.rfind(':') + 1);  // also where there is none
  auto constructs = [&](std::string_view function) { return function.ends_with(fmt::format("::{0}", name)); };
  const uint32_t function = tables.sites[site.site].function;
  if (function >= tables.functions.size() || !constructs(tables.functions[function].name)) return false;
  return std::ranges::none_of(tables.units, [&](const UnitEntry& unit) {
    return unit.type == type && !constructs(unit.name) && unit.name.find('~') == std::string::npos;
  });
}

AddressSpace::Named AddressSpace::name_of(uint64_t address, uint32_t bytes, TableSite site) {
  Named named;
  const SiteEntry* entry = site ? &site.module->tables.sites[site.site] : nullptr;
  std::string_view said = entry != nullptr ? site.module->tables.text(entry->variable) : std::string_view();
  const auto* global = global_at(address);
  // The field that a site speaks of is where the whole access begins.
  const uint64_t base = (site.bytes != 0 ? site.address : address) - (entry != nullptr ? entry->offset : 0);
  if (entry != nullptr && entry->object_type != kNoIndex &&
      fits(address, base, std::max<uint64_t>(bytes, site.bytes), *entry, *site.module)) {
    const SiteTables& tables = site.module->tables;
    const TypeEntry& type = tables.types[entry->object_type];
    const auto* known = instance_at(base);
    std::string prefix;
    bool inner = known != nullptr && known->first != base &&
                 member_path(known->second.module->tables, known->second.type, base - known->first, type.name,
                             &prefix);
    const auto& owner = inner ? *known : instance(base, *site.module, entry->object_type);
    named.object = owner.second.object;
    note_field(named, *owner.second.module, owner.second.type, address - owner.first);
    if (named.field.empty())
      named.field = prefix + fields_.at(*site.module, entry->object_type, entry->offset).path;
    const auto* block = block_at(address);
    if (is_library_type(type.name)) {
      bool element = block != nullptr && !block->second.element.empty();
      named.name = element ? block->second.element : declared_name(address, owner);
      return named;
    }
    const size_t bracket = named.field.find('[');
    if (said.ends_with("[]") && named.field.ends_with(']') && bracket == named.field.rfind('['))
      named.name = std::string(said.substr(0, said.size() - 2)) + named.field.substr(bracket);
    else
      named.name =
          !said.empty() && bracket == std::string::npos ? std::string(said) : type.name + "::" + named.field;
    if (inner && (said.empty() || (prefix.find('[') == std::string::npos && makes_plain(site))))
      named.name = owner.second.module->tables.types[owner.second.type].name + "::" + named.field;
    return named;
  }
  if (global != nullptr) {
    named.name = global_name(address, *global, false);
    if (without_innards(named.name) != named.name) named.name = declared_name(address, *global);
    const GlobalEntry& of = global->second.module->tables.globals[global->second.index];
    if (of.type != kNoIndex && array_elements(of.type_name) == 0) {
      const auto& owner = instance(global->first, *global->second.module, of.type);
      named.object = owner.second.object;
      note_field(named, *owner.second.module, of.type, address - global->first);
    }
    note_global(named, *global->second.module, of);
    return named;
  }
  if (const auto* known = instance_at(address)) {
    named.object = known->second.object;
    note_field(named, *known->second.module, known->second.type, address - known->first);
    if (!named.field.empty()) {
      named.name = declared_name(address, *known);
      return named;
    }
  }
  if (const auto* block = block_at(address)) {
    named.object = named.object == kNone<ObjectId> ? block->second.object : named.object;
    const Block& found = block->second;
    named.name =
        found.element.empty() ? fmt::format("{}+{}", *found.name, address - block->first) : found.element;
    return named;
  }
  named.name =
      !said.empty() ? std::string(said) : fmt::format("memory@{}", site ? place_of(site) : std::string("?"));
  return named;
}

std::string AddressSpace::sync_name(uint64_t address, SyncKind kind) {
  if (const auto* global = global_at(address)) return global_name(address, *global, true);
  if (const auto* known = instance_at(address)) {
    std::string field =
        field_path(known->second.module->tables, known->second.type, address - known->first, true);
    return fmt::format("{}.{}", builder_.tables().object(known->second.object).name,
                       field.empty() ? fmt::format("+{}", address - known->first) : field);
  }
  constexpr const char* kWords[] = {"sync", "lock", "rwlock", "condition", "semaphore", "barrier", "once"};
  const char* word = kWords[static_cast<size_t>(kind)];
  if (const auto* block = block_at(address))
    return fmt::format("{}+{}", builder_.tables().object(block->second.object).name, address - block->first);
  return fmt::format("{}#{}", word, ++counts_[word]);
}

}  // namespace cleave
