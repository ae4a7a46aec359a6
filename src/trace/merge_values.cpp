// Where accesses race, time stamps are too coarse to order them, but values are evidence: a read returns what
// the last write left. This looks a few records ahead in the other threads for one that explains what is
// about to be read, or that reads what is about to be overwritten, and lets it go first.
#include "trace/merge.h"

namespace cleave {
namespace {

uint64_t slot_address(const SegmentPlan& plan, size_t slot, const uint64_t* words) {
  uint64_t address = 0;
  for (;;) {
    const SlotPlan& at = plan.slots[slot];
    address += at.address_constant;
    if (at.address_source == Source::Word) return address + words[at.address_index];
    if (at.address_source != Source::Derived) return address;
    slot = at.address_index;
  }
}

}  // namespace

void Merger::let_others_first(Lane& lane, const SegmentPlan& plan, const uint64_t* words) {
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const SlotPlan& slot = plan.slots[i];
    if (slot.kind > SlotKind::Write) continue;
    uint64_t address = slot_address(plan, i, words);
    const Atom* atom = assembler_.atom(address, slot.width);
    if (atom == nullptr || !atom->known) continue;
    uint64_t value = low_bytes(Assembler::slot_value(slot, words), slot.width);
    if (atom->value == value) continue;
    Ahead ahead;
    if (slot.kind == SlotKind::Read) {
      ahead = find_ahead(lane, address, slot.width, value, SlotKind::Write);
    } else if (atom->shared) {
      ahead = find_ahead(lane, address, slot.width, atom->value, SlotKind::Read);
    }
    if (ahead.lane == nullptr) continue;
    ++helped_;
    for (uint32_t n = 0; n < ahead.records; ++n) {
      // Only segments and marks lie on the way (find_ahead), so no gate parks the lane and it stays in the
      // heap.
      if (!step(*ahead.lane)) break;
    }
  }
}

// How many records of which other lane lead up to and through one that does `kind` of `value` at `address`.
Merger::Ahead Merger::find_ahead(const Lane& lane, uint64_t address, uint32_t bytes, uint64_t value,
                                 SlotKind kind) {
  Ahead best;
  for (Lane& other : lanes_) {
    if (&other == &lane || other.status != Status::Runnable) continue;
    std::span<const uint64_t> words = other.chunk.words();
    uint32_t at = other.position;
    for (uint32_t n = 1; n <= kAhead && at < words.size() && (best.lane == nullptr || n < best.records);
         ++n) {
      uint64_t header = words[at] & CLEAVE_HEADER_ADDRESS_MASK;
      if (header < 4096) {
        auto record = static_cast<RecordKind>(header);
        if (record != RecordKind::stamp && record != RecordKind::branches) break;
        at += 1u + shape_of(header).words;
        continue;
      }
      const SegmentPlan* plan = file_.modules().find(header, other.chunk.offset());
      bool stop = false;
      if (plan->accesses && matches_ahead(*plan, words.data() + at + 1, address, bytes, value, kind, &stop)) {
        best = {&other, n};
        break;
      }
      if (stop) break;
      at += 1u + plan->words;
    }
  }
  return best;
}

// `stop` is set when the segment accesses that memory in a way that makes going on useless.
bool Merger::matches_ahead(const SegmentPlan& plan, const uint64_t* words, uint64_t address, uint32_t bytes,
                           uint64_t value, SlotKind kind, bool* stop) const {
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const SlotPlan& slot = plan.slots[i];
    if (slot.kind > SlotKind::Write || slot_address(plan, i, words) != address || slot.width != bytes)
      continue;
    if (slot.kind == kind && low_bytes(Assembler::slot_value(slot, words), bytes) == value) return true;
    // A write of another value ends what a reader of the old one could see.
    *stop |= slot.kind == SlotKind::Write && kind == SlotKind::Read;
  }
  return false;
}

}  // namespace cleave
