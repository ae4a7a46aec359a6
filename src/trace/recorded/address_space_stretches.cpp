// Memory that is copied or filled as a whole: how much of it can be one variable, and what its parts are.
#include <algorithm>

#include "trace/core/library.h"
#include "trace/core/type_paths.h"
#include "trace/recorded/address_space.h"

namespace cleave {
namespace {

// Each has a set of its own, or what is stored in it matters.
constexpr uint32_t kEachForItself = VariableInfo::kAtomic | VariableInfo::kOwned;

// Where in a map from start address the next thing begins.
template <typename Map>
uint64_t next_in(const Map& map, uint64_t address) {
  auto it = map.upper_bound(address);
  return it == map.end() ? UINT64_MAX : it->first;
}

uint64_t whole_words(uint64_t bytes) { return std::max<uint64_t>(bytes & ~uint64_t{7}, 8); }

}  // namespace

VariableId AddressSpace::add_stretch(uint64_t address, uint64_t bytes, TableSite site) {
  Named named = name_of(address, 8, site);
  bytes = std::min(bytes, reach(address, named));
  if (bytes < kLeastStretch) bytes = 8;
  VariableInfo info{.name = std::move(named.name),
                    .address = address,
                    .size = static_cast<uint32_t>(bytes),
                    .object = named.object,
                    .field = std::move(named.field),
                    .flags = named.flags,
                    .home = std::move(named.home),
                    .set = std::move(named.set)};
  if (bytes == 8) info.initial_known = initial_of(address, 8, &info.initial);
  return place(std::move(info));
}

// How many bytes from a word on are called the same but for their place: up to where something else begins or
// this ends.
uint64_t AddressSpace::reach(uint64_t address, const Named& named) const {
  if ((named.flags & kEachForItself) != 0 || is_library_type(named.name)) return 8;
  uint64_t end =
      std::min({next_in(instances_, address), next_in(blocks_, address), next_in(globals_, address)});
  if (const auto* global = global_at(address)) {
    const GlobalEntry& of = global->second.module->tables.globals[global->second.index];
    if (of.type != kNoIndex && array_elements(of.type_name) > 0) return 8;
    end = std::min(end, global->first + global->second.size);
  } else if (const auto* block = block_at(address)) {
    end = std::min(end, block->first + block->second.size);
  }
  if (const auto* known = instance_at(address)) {
    const FieldName& field = fields_.at(*known->second.module, known->second.type, address - known->first);
    if (field.path.empty() || is_library_type(known->second.module->tables.types[known->second.type].name))
      return 8;
    end = std::min(end, address + std::min(field.leaf, known->first + known->second.size - address));
  }
  return whole_words(end - address);
}

// An object has come to be known where there are stretches of no known class: its fields need not be in one
// set.
void AddressSpace::cut_stretches(uint64_t base, const Instance& owner) {
  std::vector<VariableId> stretches;
  auto it = unplaced_.lower_bound(base);
  if (it != unplaced_.begin()) --it;
  for (; it != unplaced_.end() && (it->first < base || it->first - base < owner.size); ++it) {
    const VariableInfo& info = builder_.tables().variable(it->second);
    if (info.size > 8 && it->first + info.size > base) stretches.push_back(it->second);
  }
  std::vector<uint64_t> bounds;
  for (VariableId stretch : stretches) {
    const VariableInfo& info = builder_.tables().variable(stretch);
    const uint64_t begin = info.address, end = info.address + info.size;
    const uint64_t last = std::min(end, base + owner.size);
    bounds.assign(1, begin);
    for (uint64_t at = std::max(begin, base & ~uint64_t{7}); at < last;) {
      if (at > begin) bounds.push_back(at);
      const FieldName* field = at >= base ? &fields_.at(*owner.module, owner.type, at - base) : nullptr;
      const bool one = field != nullptr && !field->path.empty() && (field->flags & kEachForItself) == 0;
      at += one ? whole_words(std::min(field->leaf, last - at)) : 8;
      if (at >= last && at < end) bounds.push_back(at);
    }
    bounds.push_back(end);
    cut_(stretch, bounds);
  }
}

}  // namespace cleave
