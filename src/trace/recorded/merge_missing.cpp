// What becomes of the lanes of a merge when records that they wait for are missing from the file.
#include <fmt/format.h>

#include <algorithm>

#include "trace/recorded/merge.h"

namespace cleave {

// Nobody can go on: something is missing from the file. The lane that stands earliest goes on all the same.
bool Merger::force() {
  ThreadCursor* first = nullptr;
  for (ThreadCursor& lane : lanes_) {
    if (lane.status != Status::Parked) continue;
    bool turn = lane.gate == Gate::Turn;
    if (first == nullptr ||
        (turn && first->gate == Gate::Turn ? lane.awaited < first->awaited : Later()(first, &lane)))
      first = &lane;
  }
  if (first == nullptr) return false;
  auto take_out = [&](std::vector<ThreadCursor*>& lanes) { std::erase(lanes, first); };
  const uint64_t* words = first->chunk.words().data() + first->position + 1;
  const RecordShape& shape = shape_of(words[-1] & CLEAVE_HEADER_ADDRESS_MASK);
  ++(first->gate == Gate::Ticket ? forced_tickets_ : forced_others_);
  switch (first->gate) {
    case Gate::Ticket:
      take_out(parked_tickets_[first->awaited]);
      for (uint8_t where : {shape.ticket, shape.ticket2}) {
        if (where == RecordShape::kNowhere) continue;
        uint64_t& next = next_ticket_[CLEAVE_TICKET_STRIPE(words[where]) % CLEAVE_STRIPES];
        next = std::max(next, CLEAVE_TICKET_NUMBER(words[where]));
      }
      break;
    case Gate::Start:
      take_out(parked_starts_[first->awaited]);
      forked_[first->number] = true;
      break;
    case Gate::Join: {
      take_out(parked_joins_[first->awaited]);
      auto child = by_number_.find(static_cast<uint32_t>(first->awaited));
      if (child != by_number_.end()) child->second->thread->exited = true;
      break;
    }
    default:
      take_out(parked_turns_);
      next_turn_ = first->awaited;
      break;
  }
  --parked_;
  push(*first);
  return true;
}

// Nobody can go on, and the file has no end: what the others wait for was never written.
bool Merger::cut() {
  bool any = false;
  for (ThreadCursor& lane : lanes_) {
    if (lane.status != Status::Parked) continue;
    any = true;
    ++cut_threads_;
    const ThreadChunks& thread = file_.threads()[lane.index];
    cut_records_ += thread.raw ? 0 : thread.records - std::min(thread.records, lane.record);
    lane.status = Status::Done;
    lane.chunk.release();
    assembler_.finish(*lane.thread);
  }
  parked_tickets_.clear();
  parked_starts_.clear();
  parked_joins_.clear();
  parked_turns_.clear();
  parked_ = 0;
  return any;
}

std::vector<std::string> Merger::remarks() const {
  std::vector<std::string> remarks = problems_;
  if (cut_threads_ > 0) {
    remarks.push_back(
        fmt::format("{} threads wait for operations that are missing from the file; what they did after that "
                    "({} records) is not used",
                    cut_threads_, cut_records_));
  }
  if (forced_tickets_ > 0) {
    remarks.push_back(
        fmt::format("{} synchronization operations stand before others that are missing from the file; their "
                    "order there is a guess",
                    forced_tickets_));
  }
  if (forced_others_ > 0) {
    remarks.push_back(
        fmt::format("{} starts or joins of threads stand where their other half is missing from the file",
                    forced_others_));
  }
  return remarks;
}

}  // namespace cleave
