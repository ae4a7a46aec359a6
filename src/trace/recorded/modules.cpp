#include "trace/recorded/modules.h"

#include <algorithm>
#include <cstring>

#include "abi/trace_file.h"

namespace cleave {
namespace {

// `earlier` are the slots of the segment before this one.
SlotPlan plan_of(const Slot& slot, const Module& module, const std::vector<SlotPlan>& earlier) {
  SlotPlan plan{.kind = slot.kind, .width = slot.width, .site = slot.site, .aux = slot.aux};
  plan.address_source = slot.address.source;
  plan.address_index = static_cast<uint16_t>(slot.address.index);
  plan.address_constant = static_cast<uint64_t>(slot.address.constant);
  if (slot.address.source == Source::Global) {
    plan.address_source = Source::Constant;
    uint64_t base = slot.address.index < module.globals.size() ? module.globals[slot.address.index] : 0;
    plan.address_constant += base;
    if (base == 0) plan.address_constant = 0;  // not linked in: no access
  }
  if (slot.address.source == Source::Derived) {
    const SlotPlan& base = earlier[slot.address.index];
    plan.address_source = base.address_source;
    plan.address_index = base.address_index;
    plan.address_constant += base.address_constant;
  }
  plan.value_source = slot.value.source;
  plan.value_index = static_cast<uint16_t>(slot.value.index);
  plan.value_constant = static_cast<uint64_t>(slot.value.constant);
  if (slot.site != kNoIndex) plan.inlined_at = module.tables.sites[slot.site].inlined_at;
  return plan;
}

// Of accesses that are likely to be to one word, one is enough.
void note_address(const SlotPlan& slot, std::vector<AddressPlan>& addresses) {
  if (slot.kind > SlotKind::Write || slot.address_source != Source::Word) return;
  bool known = std::any_of(addresses.begin(), addresses.end(), [&](const AddressPlan& other) {
    return other.index == slot.address_index && other.constant >> 3 == slot.address_constant >> 3;
  });
  if (!known) addresses.push_back({slot.address_index, slot.address_constant});
}

bool gives_event(SlotKind kind) {
  return kind != SlotKind::CallResult && kind != SlotKind::Switch && kind != SlotKind::Hook;
}

}  // namespace

const char* Modules::add(std::span<const uint8_t> body, uint64_t offset) {
  cleave_module_chunk header;
  if (body.size() < sizeof header) return "a module's chunk is too short";
  std::memcpy(&header, body.data(), sizeof header);
  body = body.subspan(sizeof header);
  uint64_t left = body.size();
  if (header.name_bytes > left ||
      header.segment_count > (left - header.name_bytes) / sizeof(cleave_segment)) {
    return "a module's chunk does not add up";
  }
  left -= header.name_bytes + header.segment_count * sizeof(cleave_segment);
  if (header.global_count > left / 8 || header.table_bytes > left - header.global_count * 8) {
    return "a module's chunk does not add up";
  }
  Module& module = modules_.emplace_back();
  module.number = static_cast<uint32_t>(modules_.size() - 1);
  module.offset = offset;
  module.address = header.segments;
  module.identity = header.identity;
  module.name.assign(reinterpret_cast<const char*>(body.data()), header.name_bytes);
  const uint8_t* segments = body.data() + header.name_bytes;
  const uint8_t* globals = segments + header.segment_count * sizeof(cleave_segment);
  module.globals.resize(header.global_count);
  if (header.global_count > 0) std::memcpy(module.globals.data(), globals, header.global_count * 8);
  Result<SiteTables> tables = decode_site_tables({globals + header.global_count * 8, header.table_bytes});
  const char* wrong = nullptr;
  if (tables.ok()) {
    module.tables = std::move(tables).value();
  } else {
    wrong = "a module's tables are damaged, its events are lost";
  }
  module.segments.resize(header.segment_count);
  for (size_t i = 0; i < header.segment_count; ++i) {
    cleave_segment raw;
    std::memcpy(&raw, segments + i * sizeof raw, sizeof raw);
    SegmentPlan& plan = module.segments[i];
    plan = {.module = &module, .index = static_cast<uint32_t>(i), .words = raw.words};
    if (i >= module.tables.segments.size() || module.tables.segments[i].words != raw.words) {
      if (wrong == nullptr) wrong = "a module's tables do not fit its segments, some of its events are lost";
      continue;
    }
    for (const Slot& slot : module.tables.segments[i].slots) {
      plan.slots.push_back(plan_of(slot, module, plan.slots));
      note_address(plan.slots.back(), plan.addresses);
      plan.events |= gives_event(slot.kind);
      plan.accesses |= slot.kind == SlotKind::Read || slot.kind == SlotKind::Write;
    }
  }
  std::fill(cache_.begin(), cache_.end(), CacheLine{});
  return wrong;
}

const SegmentPlan* Modules::find_slowly(uint64_t address, uint64_t offset) const {
  uint64_t until = UINT64_MAX;
  for (auto module = modules_.rbegin(); module != modules_.rend(); ++module) {
    uint64_t bytes = module->segments.size() * sizeof(cleave_segment);
    if (address < module->address || address - module->address >= bytes) continue;
    if (module->offset > offset) {
      until = module->offset;
      continue;
    }
    if ((address - module->address) % sizeof(cleave_segment) != 0) return nullptr;
    const SegmentPlan* segment = &module->segments[(address - module->address) / sizeof(cleave_segment)];
    cache_[address * 0x9e3779b97f4a7c15ull >> 52] = {address, module->offset, until, segment};
    return segment;
  }
  return nullptr;
}

}  // namespace cleave
