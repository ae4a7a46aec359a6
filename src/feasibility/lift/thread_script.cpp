#include "feasibility/lift/thread_script.h"

namespace cleave {

const SegmentPlan* ThreadScript::hook_of(const ScriptSlot& slot) const {
  size_t word = 0;
  switch (slot.kind) {
    case RecordKind::atomic:
    case RecordKind::fence:
      break;
    case RecordKind::range_read:
    case RecordKind::range_write:
      word = 1;
      break;
    default:
      return nullptr;
  }
  if (slot.words.size() <= word) return nullptr;
  return file_.modules().find(slot.words[word] & CLEAVE_HEADER_ADDRESS_MASK, UINT64_MAX - 1);
}

bool ThreadScript::fetch() {
  if (ended_) return false;
  const Record* record = cursor_.next();
  if (record == nullptr || record->number > last_) {
    ended_ = true;
    return false;
  }
  for (uint32_t i = 0; i < branch_count(record->branches); ++i) {
    outcomes_.push_back(branch_outcome(record->branches, i));
  }
  if (record->kind != RecordKind::segment) {
    ScriptSlot slot;
    slot.record = record->number;
    slot.kind = record->kind;
    slot.words.assign(record->words.begin(), record->words.end());
    slot.hook = hook_of(slot);
    ahead_.push_back(std::move(slot));
    return true;
  }
  // The tables of the legs follow that of the segment, each with the slots of its leg.
  const std::vector<SegmentTable>& tables = record->segment->module->tables.segments;
  size_t leg = record->segment->index + 1, left = SIZE_MAX;
  if (leg < tables.size() && (tables[leg - 1].flags & CLEAVE_SEGMENT_LEGS) != 0)
    left = tables[leg].slots.size();
  for (uint32_t i = 0; i < record->segment->slots.size(); ++i) {
    while (left == 0 && leg + 1 < tables.size()) left = tables[++leg].slots.size();
    if (left != SIZE_MAX) --left;
    const SlotPlan& plan = record->segment->slots[i];
    ScriptSlot slot{.segment = record->segment, .slot = i, .record = record->number};
    slot.leg = static_cast<uint32_t>(leg);
    slot.address = plan.address_constant;
    auto word = [&](size_t index) { return index < record->words.size() ? record->words[index] : 0; };
    if (plan.address_source == Source::Word) slot.address += word(plan.address_index);
    slot.value = plan.value_source == Source::Word ? word(plan.value_index) : plan.value_constant;
    ahead_.push_back(std::move(slot));
  }
  return true;
}

const ScriptSlot* ThreadScript::peek() {
  while (ahead_.empty()) {
    if (!fetch()) return nullptr;
  }
  return &ahead_.front();
}

std::optional<bool> ThreadScript::outcome() {
  while (outcomes_.empty()) {
    if (!fetch()) return std::nullopt;
  }
  bool taken = outcomes_.front();
  outcomes_.pop_front();
  return taken;
}

}  // namespace cleave
