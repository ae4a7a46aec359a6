#include "trace/recorded/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cleave {
namespace {

constexpr uint32_t kNobody = UINT32_MAX;

uint64_t address_of(uint64_t header) { return header & CLEAVE_HEADER_ADDRESS_MASK; }
uint16_t branches_of(uint64_t header) { return static_cast<uint16_t>(header >> CLEAVE_HEADER_ADDRESS_BITS); }

size_t payload_words(const RecordShape& shape, const uint64_t* words) {
  return shape.words == 0xffff ? words[0] + 1 : shape.words;
}

// The first record of a thread that somebody made.
bool waits_for_fork(std::span<const uint64_t> words) {
  return words.size() > 2 && address_of(words[0]) == static_cast<uint64_t>(RecordKind::thread_start) &&
         words[2] != kNobody;
}

}  // namespace

void Merger::refresh() {
  assembler_.refresh();
  std::vector<size_t> fresh;  // by thread number, so that ids do not depend on who filled a buffer first
  for (size_t i = lanes_.size(); i < file_.threads().size(); ++i) fresh.push_back(i);
  std::sort(fresh.begin(), fresh.end(),
            [&](size_t a, size_t b) { return file_.threads()[a].number < file_.threads()[b].number; });
  for (size_t i : fresh) {
    ThreadCursor& lane = lanes_.emplace_back();
    lane.index = i;
    lane.number = file_.threads()[i].number;
    lane.thread = &assembler_.thread(lane.number);
    lane.order = lanes_.size();
    by_number_[lane.number] = &lane;
    starve(lane);
  }
  for (ThreadCursor& lane : lanes_) {
    if (lane.status != Status::Starved || lane.next_chunk >= file_.threads()[lane.index].chunks.size())
      continue;
    --starved_;
    lane.status = Status::Runnable;
    if (!open_chunk(lane)) continue;
    push(lane);
    if (forked_.contains(lane.number) || !waits_for_fork(lane.chunk.words()))
      begin_lane(lane);
    else
      shut(lane);
  }
}

// A finished file may have thousands of threads that came one after the other: only those hold memory that
// have begun.
void Merger::shut(ThreadCursor& lane) {
  if (lane.next_chunk != 1) return;
  lane.chunk.release();
  --lane.next_chunk;
  lane.shut = true;
}

void Merger::begin_lane(ThreadCursor& lane) {
  if (std::exchange(lane.shut, false)) open_chunk(lane);
  if (lane.listed) return;
  lane.listed = true;
  auto behind = std::find_if(begun_.rbegin(), begun_.rend(),
                             [&](const ThreadCursor* other) { return other->order < lane.order; });
  begun_.insert(behind.base(), &lane);
}

void Merger::push(ThreadCursor& lane) {
  lane.status = Status::Runnable;
  runnable_.push(&lane);
}

// The next chunk of the lane that has records. False when there is none: the lane is starved or done.
bool Merger::open_chunk(ThreadCursor& lane) {
  const std::vector<RecordChunk>& chunks = file_.threads()[lane.index].chunks;
  while (!lane.broken && lane.next_chunk < chunks.size()) {
    const RecordChunk& chunk = chunks[lane.next_chunk];
    const char* problem = lane.chunk.decode(file_, chunks, lane.next_chunk++);
    if (problem != nullptr) {
      lane.broken = broken_ = true;
      problems_.push_back(fmt::format("byte {}: {}; the rest of that thread is lost", chunk.offset, problem));
    }
    lane.position = 0;
    lane.in_chunk = 0;
    lane.far = lane.near = {};
    lane.slot = 0;
    lane.begun = false;
    lane.next_mark = 0;
    lane.mark_position = 0;
    update_clock(lane);
    if (!lane.chunk.words().empty()) return true;
  }
  if (lane.broken) {
    end_lane(lane);
    return false;
  }
  starve(lane);
  if (holder_ == &lane) wake(parked_turns_);
  return false;
}

void Merger::end_lane(ThreadCursor& lane) {
  lane.status = Status::Done;
  if (lane.listed) std::erase(begun_, &lane);
  lane.chunk.release();
  assembler_.finish(*lane.thread);
  wake(parked_joins_[lane.number]);
  wake(parked_turns_);
}

// Stamps are given at marks; between two of them time is taken to run evenly over the words.
void Merger::update_clock(ThreadCursor& lane) {
  const auto& marks = lane.chunk.marks();
  while (lane.next_mark < marks.size() && marks[lane.next_mark].position <= lane.position) {
    lane.mark_position = marks[lane.next_mark].position;
    lane.mark_stamp = std::max(lane.mark_stamp, marks[lane.next_mark].stamp);
    ++lane.next_mark;
  }
  lane.clock = lane.mark_stamp;
  if (lane.next_mark >= marks.size()) return;
  const auto& next = marks[lane.next_mark];
  if (next.stamp <= lane.mark_stamp || next.position <= lane.mark_position) return;
  double share =
      static_cast<double>(lane.position - lane.mark_position) / (next.position - lane.mark_position);
  uint64_t span = lane.mark_stamp == 0 ? 0 : next.stamp - lane.mark_stamp;
  lane.clock = lane.mark_stamp == 0
                   ? next.stamp
                   : lane.mark_stamp + static_cast<uint64_t>(share * static_cast<double>(span));
}

// Where in the chunk the lane's clock passes `until`.
uint32_t Merger::stop_position(const ThreadCursor& lane, uint64_t until) const {
  const auto& marks = lane.chunk.marks();
  uint32_t position = lane.mark_position;
  uint64_t stamp = lane.mark_stamp;
  for (size_t i = lane.next_mark; i < marks.size(); ++i) {
    if (marks[i].stamp > until) {
      if (stamp == 0 || stamp >= until || marks[i].stamp <= stamp) return position;
      double share = static_cast<double>(until - stamp) / static_cast<double>(marks[i].stamp - stamp);
      return position + static_cast<uint32_t>(share * (marks[i].position - position));
    }
    position = marks[i].position;
    stamp = std::max(stamp, marks[i].stamp);
  }
  return UINT32_MAX;
}

void Merger::starve(ThreadCursor& lane) {
  lane.status = Status::Starved;
  ++starved_;
  if (lane.thread->exited)
    lane.chunk.release();  // hardly anything comes after that, and there may be thousands
  if (lane.starving) return;
  lane.starving = true;
  starving_.push_back(&lane);
}

// A thread that has exited may have late records, but nobody waits for them. Of thousands of threads most
// have.
bool Merger::somebody_is_awaited() {
  while (!starving_.empty()) {
    ThreadCursor& lane = *starving_.back();
    if (lane.status == Status::Starved && !lane.thread->exited) return true;
    lane.starving = false;
    starving_.pop_back();
  }
  return false;
}

uint64_t Merger::read_up_to() const {
  uint64_t place = file_.scanned();
  for (const ThreadCursor& lane : lanes_) {
    const std::vector<RecordChunk>& chunks = file_.threads()[lane.index].chunks;
    if (!lane.broken && lane.next_chunk < chunks.size())
      place = std::min(place, chunks[lane.next_chunk].offset);
  }
  return place;
}

Merger::Outcome Merger::run(size_t events, bool final) {
  if (final && !final_) {
    final_ = true;
    for (auto& [number, lanes] : parked_starts_) wake(lanes);
  }
  for (;;) {
    if (assembler_.pending() >= events) return Outcome::Batch;
    if (final && starved_ > 0) {
      for (ThreadCursor& lane : lanes_) {
        if (lane.status == Status::Starved) end_lane(lane);
      }
      starved_ = 0;
    }
    if (!final && patient_ && somebody_is_awaited()) return Outcome::NeedsMore;
    if (runnable_.empty()) {
      if (!final) return Outcome::NeedsMore;
      if (ends_early() ? cut() : force()) continue;
      return assembler_.pending() > 0 ? Outcome::Batch : Outcome::End;
    }
    ThreadCursor& lane = *runnable_.top();
    runnable_.pop();
    begin_lane(lane);
    if (lane.status != Status::Runnable) continue;
    uint64_t until = runnable_.empty() ? UINT64_MAX : runnable_.top()->clock;
    run_lane(lane, until, events);
  }
}

void Merger::run_lane(ThreadCursor& lane, uint64_t until, size_t events) {
  uint32_t stop = stop_position(lane, until);
  for (size_t done = 0;; ++done) {
    if (lane.position >= lane.chunk.words().size()) {
      if (!open_chunk(lane)) return;
      stop = stop_position(lane, until);
    }
    uint64_t header = lane.chunk.words()[lane.position];
    bool late = lane.position >= stop && (done >= kQuantum || address_of(header) < 4096) &&
                holder_ != &lane && done > 0;
    if (late || assembler_.pending() >= events) {
      update_clock(lane);
      return push(lane);
    }
    if (!step(lane, runnable_.empty() || turn_seen_)) return;
  }
}

// Takes one record; `alone`: nobody could have come before it. False when the lane is parked before it.
bool Merger::step(ThreadCursor& lane, bool alone) {
  const SegmentPlan* plan = lane.chunk.segment(lane.in_chunk);
  if (plan == nullptr) {
    lane.thread->origin = {lane.record, 0};
    return process_record(lane, lane.chunk.words()[lane.position]);
  }
  lane.busy = true;
  if (assembler_.atoms().large()) look_ahead(lane);
  process_segment(lane, static_cast<uint32_t>(plan->slots.size()), !alone, 0);
  lane.busy = false;
  return true;
}

template <typename Prefetch>
void Merger::advance(const DecodedChunk& chunk, ThreadCursor::Cursor& cursor, uint32_t until,
                     Prefetch prefetch) {
  std::span<const uint64_t> words = chunk.words();
  for (; cursor.record < until && cursor.position < words.size(); ++cursor.record) {
    const uint64_t* payload = words.data() + cursor.position + 1;
    const SegmentPlan* plan = chunk.segment(cursor.record);
    if (plan == nullptr) {
      cursor.position += 1 + static_cast<uint32_t>(payload_words(shape_of(address_of(payload[-1])), payload));
      continue;
    }
    cursor.position += 1 + plan->words;
    for (const AddressPlan& address : plan->addresses) prefetch(address.constant + payload[address.index]);
  }
}

// Where an access finds its atom are two places in memory, one after the other; the addresses are known long
// before.
void Merger::look_ahead(ThreadCursor& lane) {
  constexpr uint32_t kFar = 12, kNear = 6;  // records
  const AtomMap& atoms = assembler_.atoms();
  advance(lane.chunk, lane.far, lane.in_chunk + kFar,
          [&](uint64_t address) { atoms.prefetch_word(address); });
  advance(lane.chunk, lane.near, lane.in_chunk + kNear,
          [&](uint64_t address) { atoms.prefetch_atom(address); });
}

// The lane's segment up to slot `to`. Where that calls for caution, others go first.
void Merger::process_segment(ThreadCursor& lane, uint32_t to, bool cautious, int depth) {
  std::span<const uint64_t> words = lane.chunk.words();
  const SegmentPlan& plan = *lane.chunk.segment(lane.in_chunk);
  const uint64_t* payload = words.data() + lane.position + 1;
  uint32_t next = lane.position + 1 + plan.words;
  const EventBuilder::Reach reach = reach_of(plan, words.subspan(next));
  if (!lane.begun) assembler_.add_branches(*lane.thread, branches_of(payload[-1]));
  lane.begun = true;
  lane.thread->origin = {lane.record, 0};
  EventBuilder::Caution caution = !cautious        ? EventBuilder::Caution::None
                                  : lane.locks > 0 ? EventBuilder::Caution::Reads
                                                   : EventBuilder::Caution::All;
  for (size_t clear = SIZE_MAX;; clear = lane.slot) {
    lane.slot = static_cast<uint32_t>(
        assembler_.segment(*lane.thread, plan, payload, reach, lane.slot, to, caution, clear));
    if (lane.slot >= to) break;
    let_others_first(lane, plan.slots[lane.slot], payload, depth);
  }
  if (lane.slot < plan.slots.size()) return;
  lane.slot = 0;
  lane.begun = false;
  lane.position = next;
  ++lane.in_chunk;
  ++lane.record;
}

bool Merger::process_record(ThreadCursor& lane, uint64_t header) {
  auto kind = static_cast<RecordKind>(address_of(header));
  const uint64_t* words = lane.chunk.words().data() + lane.position + 1;
  uint64_t awaited = 0;
  Gate gate = gate_of(lane, kind, words, &awaited);
  if (gate != Gate::Open) {
    update_clock(lane);
    park(lane, gate, awaited);
    return false;
  }
  const RecordShape& shape = shape_of(address_of(header));
  size_t count = payload_words(shape, words);
  assembler_.set_origin_base(lane.chunk.offset());
  assembler_.record(*lane.thread, kind, branches_of(header), {words, count});
  if (shape.ticket != RecordShape::kNowhere) pass_ticket(words[shape.ticket]);
  if (shape.ticket2 != RecordShape::kNowhere) pass_ticket(words[shape.ticket2]);
  lane.position += static_cast<uint32_t>(1 + count);
  ++lane.in_chunk;
  ++lane.record;
  after(lane, kind, words);
  return true;
}

Merger::Gate Merger::gate_of(ThreadCursor& lane, RecordKind kind, const uint64_t* words, uint64_t* awaited) {
  const RecordShape& shape = shape_of(static_cast<uint64_t>(kind));
  for (uint8_t where : {shape.ticket, shape.ticket2}) {
    if (where == RecordShape::kNowhere || ticket_open(words[where])) continue;
    *awaited = CLEAVE_TICKET_STRIPE(words[where]) % CLEAVE_STRIPES;
    return Gate::Ticket;
  }
  if (kind == RecordKind::thread_start && words[1] != kNobody && !forked_.contains(lane.number)) {
    auto parent = by_number_.find(static_cast<uint32_t>(words[1]));
    // Of a live trace the creator may not have written anything yet.
    bool unknown = parent == by_number_.end();
    bool never = unknown ? final_ : parent->second->status == Status::Done || parent->second == &lane;
    if (never && !(final_ && ends_early())) return Gate::Open;
    *awaited = lane.number;
    return Gate::Start;
  }
  if (kind == RecordKind::join) {
    auto child = by_number_.find(static_cast<uint32_t>(words[0]));
    bool never = child == by_number_.end() || child->second->status == Status::Done || child->second == &lane;
    if (child != by_number_.end() && child->second->thread->exited) return Gate::Open;
    if (never && !(final_ && ends_early())) return Gate::Open;
    *awaited = words[0];
    return Gate::Join;
  }
  if (kind == RecordKind::turn && turn_seen_) {
    bool held = holder_ != nullptr && holder_ != &lane && holder_->status == Status::Runnable;
    *awaited = words[0];
    if (held || words[0] > next_turn_) return Gate::Turn;
  }
  return Gate::Open;
}

void Merger::park(ThreadCursor& lane, Gate gate, uint64_t awaited) {
  lane.status = Status::Parked;
  if (holder_ == &lane) wake(parked_turns_);
  lane.gate = gate;
  lane.awaited = awaited;
  ++parked_;
  switch (gate) {
    case Gate::Ticket:
      parked_tickets_[awaited].push_back(&lane);
      break;
    case Gate::Start:
      parked_starts_[awaited].push_back(&lane);
      break;
    case Gate::Join:
      parked_joins_[awaited].push_back(&lane);
      break;
    default:
      parked_turns_.push_back(&lane);
      break;
  }
}

// All of them look again at what they wait for.
void Merger::wake(std::vector<ThreadCursor*>& lanes) {
  std::vector<ThreadCursor*> woken = std::move(lanes);
  lanes.clear();
  parked_ -= woken.size();
  for (ThreadCursor* lane : woken) push(*lane);
}

void Merger::pass_ticket(uint64_t ticket) {
  uint32_t stripe = CLEAVE_TICKET_STRIPE(ticket) % CLEAVE_STRIPES;
  next_ticket_[stripe] = std::max(next_ticket_[stripe], CLEAVE_TICKET_NUMBER(ticket) + 1);
  if (parked_ == 0) return;
  auto it = parked_tickets_.find(stripe);
  if (it == parked_tickets_.end()) return;
  std::vector<ThreadCursor*> still;
  for (ThreadCursor* lane : it->second) {
    uint64_t header = lane->chunk.words()[lane->position];
    uint64_t awaited = 0;
    Gate gate = gate_of(*lane, static_cast<RecordKind>(address_of(header)),
                        lane->chunk.words().data() + lane->position + 1, &awaited);
    if (gate == Gate::Ticket && awaited == stripe) {
      still.push_back(lane);
      continue;
    }
    --parked_;
    push(*lane);
  }
  it->second = std::move(still);
  if (it->second.empty()) parked_tickets_.erase(it);
}

void Merger::after(ThreadCursor& lane, RecordKind kind, const uint64_t* words) {
  if (kind == RecordKind::fork) {
    forked_[static_cast<uint32_t>(words[0])] = true;
    if (auto child = by_number_.find(static_cast<uint32_t>(words[0]));
        child != by_number_.end() && child->second->status != Status::Done)
      begin_lane(*child->second);
    auto it = parked_starts_.find(words[0]);
    if (it != parked_starts_.end()) wake(it->second);
  } else if (kind == RecordKind::mutex_lock || kind == RecordKind::exclusive_lock) {
    ++lane.locks;
  } else if (kind == RecordKind::mutex_unlock || kind == RecordKind::exclusive_unlock) {
    lane.locks -= lane.locks > 0 ? 1 : 0;
  } else if (kind == RecordKind::thread_exit) {
    auto it = parked_joins_.find(lane.number);
    if (it != parked_joins_.end()) wake(it->second);
  } else if (kind == RecordKind::turn) {
    turn_seen_ = true;
    next_turn_ = std::max(next_turn_, words[0] + 1);
    holder_ = &lane;
  }
}

}  // namespace cleave
