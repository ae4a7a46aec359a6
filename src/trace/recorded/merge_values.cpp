// Where accesses race, time stamps are too coarse to order them, but values are evidence: a read returns what
// the last write left. This looks a few records ahead in the other threads for one that explains what is
// about to be read, or that reads what is about to be overwritten, and lets it go first.
#include "trace/recorded/merge.h"

namespace cleave {
namespace {

uint64_t slot_address(const SlotPlan& slot, const uint64_t* words) {
  return slot.address_constant + (slot.address_source == Source::Word ? words[slot.address_index] : 0);
}

}  // namespace

// Whoever must come before the lane's next access is run up to there; and before each of their accesses,
// whoever must come before that, kDeepest levels deep.
void Merger::let_others_first(const ThreadCursor& lane, const SlotPlan& slot, const uint64_t* words,
                              int depth) {
  uint64_t address = slot_address(slot, words);
  uint64_t value = low_bytes(EventBuilder::slot_value(slot, words), slot.width);
  if (slot.kind == SlotKind::Read) {
    Ahead writer = find_ahead(address, slot.width, value, SlotKind::Write);
    if (writer.lane != nullptr) run_ahead(writer, depth);
    return;
  }
  if (lane.locks > 0 || !worth_looking()) return;
  const Atom* atom = assembler_.atom(address, slot.width);
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

// Looking for readers before every write of shared memory pays only where threads race: seldom when it seldom
// helps.
bool Merger::worth_looking() {
  constexpr uint64_t kTrial = 4096, kSeldom = 64;
  ++looks_;
  return looks_ < kTrial || saved_reads_ * kSeldom > looks_ || looks_ % kSeldom == 0;
}

// Runs the lane up to and through that access.
void Merger::run_ahead(const Ahead& ahead, int depth) {
  constexpr int kDeepest = 4;
  ThreadCursor& lane = *ahead.lane;
  lane.busy = true;
  while (lane.position < lane.chunk.words().size() && lane.in_chunk <= ahead.record) {
    const SegmentPlan* plan = lane.chunk.segment(lane.in_chunk);
    if (plan == nullptr) {
      const uint64_t* at = lane.chunk.words().data() + lane.position;
      uint64_t header = at[0] & CLEAVE_HEADER_ADDRESS_MASK, awaited = 0;
      // The lane stands in the heap: it must not be parked from here.
      if (gate_of(lane, static_cast<RecordKind>(header), at + 1, &awaited) != Gate::Open) break;
      lane.thread->origin = {lane.record, 0};
      process_record(lane, at[0]);
      continue;
    }
    bool last = lane.in_chunk == ahead.record;
    if (last && lane.slot > ahead.slot) break;
    auto to = last ? ahead.slot + 1 : static_cast<uint32_t>(plan->slots.size());
    process_segment(lane, to, depth < kDeepest, depth + 1);
    if (last) break;
  }
  lane.busy = false;
}

// The nearest access of an idle lane that does `kind` of `value` at `address`.
Merger::Ahead Merger::find_ahead(uint64_t address, uint32_t bytes, uint64_t value, SlotKind kind) {
  Ahead best;
  for (ThreadCursor* begun : begun_) {
    ThreadCursor& other = *begun;
    if (other.busy || other.status != Status::Runnable) continue;
    std::span<const uint64_t> words = other.chunk.words();
    uint32_t at = other.position, number = other.in_chunk, slot = other.slot;
    for (uint32_t n = 1; n <= kAhead && at < words.size() && (best.lane == nullptr || n < best.distance);
         ++n, ++number, slot = 0) {
      const SegmentPlan* plan = other.chunk.segment(number);
      if (plan == nullptr) {
        auto record = static_cast<RecordKind>(words[at] & CLEAVE_HEADER_ADDRESS_MASK);
        const RecordShape& shape = shape_of(static_cast<uint64_t>(record));
        bool gated = shape.ticket != RecordShape::kNowhere || record == RecordKind::join ||
                     record == RecordKind::turn || (record == RecordKind::thread_start && n > 1);
        if (gated || shape.words == 0xffff) break;
        at += 1u + shape.words;
        continue;
      }
      Match match;
      if (plan->accesses)
        match = match_ahead(*plan, slot, words.data() + at + 1, address, bytes, value, kind);
      if (match.found) best = {&other, n, number, match.slot};
      if (match.found || match.stop) break;
      at += 1u + plan->words;
    }
  }
  return best;
}

Merger::Match Merger::match_ahead(const SegmentPlan& plan, uint32_t from, const uint64_t* words,
                                  uint64_t address, uint32_t bytes, uint64_t value, SlotKind kind) const {
  for (uint32_t i = from; i < plan.slots.size(); ++i) {
    const SlotPlan& slot = plan.slots[i];
    if (slot.kind > SlotKind::Write || slot_address(slot, words) != address || slot.width != bytes) continue;
    if (slot.kind == kind && low_bytes(EventBuilder::slot_value(slot, words), bytes) == value)
      return {.found = true, .slot = i};
    // A write of another value ends what a reader of the old one could see.
    if (slot.kind == SlotKind::Write && kind == SlotKind::Read) return {.stop = true};
  }
  return {};
}

// How far a segment came, by the records behind it.
EventBuilder::Reach Merger::reach_of(const SegmentPlan& plan, std::span<const uint64_t> behind) {
  EventBuilder::Reach reach{plan.words};
  auto is = [&](RecordKind kind) {
    return (behind[0] & CLEAVE_HEADER_ADDRESS_MASK) == static_cast<uint64_t>(kind);
  };
  if (behind.size() >= 2 && is(RecordKind::cut)) {
    reach.valid = std::min<uint64_t>(plan.words, behind[1]);
    behind = behind.subspan(2);
  }
  if (behind.size() >= 4 && is(RecordKind::fault)) reach.fault = behind[2];
  return reach;
}

}  // namespace cleave
