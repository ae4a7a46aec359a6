// Where accesses race, time stamps are too coarse to order them, but values are evidence: a read returns what
// the last write left. This looks a few records ahead in the other threads for one that explains what is
// about to be read, or that reads what is about to be overwritten, and lets it go first.
#include "trace/merge.h"

namespace cleave {
namespace {

uint64_t slot_address(const SlotPlan& slot, const uint64_t* words) {
  return slot.address_constant + (slot.address_source == Source::Word ? words[slot.address_index] : 0);
}

size_t leg_begin(const SegmentPlan& plan, uint32_t leg) { return leg == 0 ? 0 : plan.legs[leg - 1]; }

}  // namespace

// Whoever must come before the lane's next leg of a segment is run up to there; and before each of their
// steps, whoever must come before that, kDeepest levels deep.
void Merger::let_others_first(Lane& lane, int depth) {
  if (lane.position >= lane.chunk.words().size()) return;
  const uint64_t* at = lane.chunk.words().data() + lane.position;
  uint64_t header = at[0] & CLEAVE_HEADER_ADDRESS_MASK;
  if (header < 4096) return;
  const SegmentPlan& plan = *file_.modules().find(header, lane.chunk.offset());
  if (!plan.accesses) return;
  const uint64_t* words = at + 1;
  for (size_t i = leg_begin(plan, lane.leg), end = plan.legs[lane.leg]; i < end; ++i) {
    const SlotPlan& slot = plan.slots[i];
    if (slot.kind > SlotKind::Write) continue;
    uint64_t address = slot_address(slot, words);
    const Atom* atom = assembler_.atom(address, slot.width);
    uint64_t value = low_bytes(Assembler::slot_value(slot, words), slot.width);
    if (slot.kind == SlotKind::Read) {
      bool contradicted = atom != nullptr ? atom->known && atom->value != value : value != 0;
      if (!contradicted) continue;
      Ahead writer = find_ahead(address, slot.width, value, SlotKind::Write);
      if (writer.lane != nullptr) run_ahead(writer, depth);
      continue;
    }
    bool destroys = atom == nullptr || (atom->shared && atom->known && atom->value != value);
    if (!destroys || lane.locks > 0 || !worth_looking()) continue;
    uint64_t old_value =
        atom != nullptr ? atom->value : 0;  // nobody has touched it yet: 0 for all that is known
    constexpr int kReaders = 16;
    for (int n = 0; n < kReaders; ++n) {
      Ahead reader = find_ahead(address, slot.width, old_value, SlotKind::Read);
      if (reader.lane == nullptr) break;
      ++saved_reads_;
      run_ahead(reader, depth);
    }
  }
}

// Looking for readers before every write of shared memory pays only where threads race: seldom when it seldom
// helps.
bool Merger::worth_looking() {
  constexpr uint64_t kTrial = 4096, kSeldom = 64;
  ++looks_;
  return looks_ < kTrial || saved_reads_ * kSeldom > looks_ || looks_ % kSeldom == 0;
}

void Merger::run_ahead(const Ahead& ahead, int depth) {
  constexpr int kDeepest = 4;
  Lane& lane = *ahead.lane;
  lane.busy = true;
  for (uint32_t n = 0; n < ahead.steps && lane.position < lane.chunk.words().size(); ++n) {
    if (depth < kDeepest) let_others_first(lane, depth + 1);
    const uint64_t* at = lane.chunk.words().data() + lane.position;
    uint64_t header = at[0] & CLEAVE_HEADER_ADDRESS_MASK, awaited = 0;
    // The lane stands in the heap: it must not be parked from here.
    if (header < 4096 && gate_of(lane, static_cast<RecordKind>(header), at + 1, &awaited) != Gate::Open)
      break;
    step(lane, false);
  }
  lane.busy = false;
}

// How many steps of which idle lane lead up to and through one that does `kind` of `value` at `address`.
Merger::Ahead Merger::find_ahead(uint64_t address, uint32_t bytes, uint64_t value, SlotKind kind) {
  Ahead best;
  for (Lane& other : lanes_) {
    if (other.busy || other.status != Status::Runnable) continue;
    std::span<const uint64_t> words = other.chunk.words();
    uint32_t at = other.position, leg = other.leg;
    for (uint32_t n = 1; n <= kAhead && at < words.size() && (best.lane == nullptr || n < best.steps); ++n) {
      uint64_t header = words[at] & CLEAVE_HEADER_ADDRESS_MASK;
      if (header < 4096) {
        const RecordShape& shape = shape_of(header);
        auto record = static_cast<RecordKind>(header);
        bool gated = shape.ticket != RecordShape::kNowhere || record == RecordKind::join ||
                     record == RecordKind::turn || (record == RecordKind::thread_start && n > 1);
        if (gated || shape.words == 0xffff) break;
        at += 1u + shape.words;
        continue;
      }
      const SegmentPlan* plan = file_.modules().find(header, other.chunk.offset());
      bool stop = false;
      if (plan->accesses &&
          matches_ahead(*plan, leg, words.data() + at + 1, address, bytes, value, kind, &stop)) {
        best = {&other, n};
        break;
      }
      if (stop) break;
      if (++leg < plan->legs.size()) continue;
      leg = 0;
      at += 1u + plan->words;
    }
  }
  return best;
}

// `stop` is set when the leg accesses that memory in a way that makes going on useless.
bool Merger::matches_ahead(const SegmentPlan& plan, uint32_t leg, const uint64_t* words, uint64_t address,
                           uint32_t bytes, uint64_t value, SlotKind kind, bool* stop) const {
  for (size_t i = leg_begin(plan, leg); i < plan.legs[leg]; ++i) {
    const SlotPlan& slot = plan.slots[i];
    if (slot.kind > SlotKind::Write || slot_address(slot, words) != address || slot.width != bytes) continue;
    if (slot.kind == kind && low_bytes(Assembler::slot_value(slot, words), bytes) == value) return true;
    // A write of another value ends what a reader of the old one could see.
    *stop |= slot.kind == SlotKind::Write && kind == SlotKind::Read;
  }
  return false;
}

}  // namespace cleave
