// One total order out of the threads of a binary trace.
//
// Exact: tickets (a record is taken only after all smaller numbers of its stripe), fork before start, exit
// before join, turns of a controlled run. What these leave open is ordered by time stamps, with positions
// between two stamps interpolated, a few records at a time. Where accesses race, values help: before a read
// that memory contradicts, a thread that is about to write that value goes first, and before a write, a
// thread that is about to read the value that it would destroy. Both look ahead a few records only and never
// pass a gate. Ties go to the smaller thread number, so the same file gives the same order.
//
// A file without its end lacks what the threads had not yet written when the program was killed. There a
// thread that waits for a record which is missing (a smaller ticket, the fork of a thread, the end of one
// that is joined) has come to its end: what it did after that may depend on what nobody knows, and an order
// that is guessed there shows violations that are none. So the events are a prefix of a possible run.
//
// Memory: one decoded chunk for each thread that has begun and not ended. Time: O(log threads) for each
// switch.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <queue>
#include <string>
#include <vector>

#include "abi/order.h"
#include "trace/recorded/event_builder.h"
#include "trace/recorded/records.h"

namespace cleave {

class Merger {
 public:
  enum class Outcome { Batch, NeedsMore, End };

  Merger(const TraceFile& file, EventBuilder& assembler)
      : file_(file), assembler_(assembler), next_ticket_(CLEAVE_STRIPES, 0) {
    refresh();
  }

  // Takes in threads and chunks that have been added to the file.
  void refresh();
  // Goes on until `events` events are pending in the assembler, or a thread has no more records here and
  // `final` is false, or all is done.
  Outcome run(size_t events, bool final);
  // A thread without records here counts as asleep: the others go on without it.
  void skip_idle_threads() { patient_ = false; }

  // All records that stand in the file before this place have been taken in. O(threads).
  uint64_t read_up_to() const;

  // What had to be guessed, one sentence each.
  std::vector<std::string> remarks() const;
  // Whether records are missing; complete at the end.
  bool ends_early() const { return broken_ || !file_.ended() || file_.damaged(); }

 private:
  enum class Status { Runnable, Parked, Starved, Done };
  enum class Gate { Open, Ticket, Start, Join, Turn };

  struct ThreadCursor {
    size_t index = 0;  // in TraceFile::threads()
    uint32_t number = 0;
    EventBuilder::Thread* thread = nullptr;
    Status status = Status::Starved;
    DecodedChunk chunk;
    size_t next_chunk = 0;
    uint32_t position = 0;  // of the next record in chunk.words()
    uint32_t in_chunk = 0;  // number of that record in the chunk
    uint32_t slot = 0;      // next of that record, if it is a segment
    bool begun = false;     // something of that record has been taken
    size_t next_mark = 0;   // first mark at or after position
    uint32_t mark_position = 0;
    uint64_t mark_stamp = 0;  // last stamp passed
    uint64_t clock = 0;
    uint64_t record = 0;
    Gate gate = Gate::Open;
    uint64_t awaited = 0;  // stripe, or thread number, or turn
    uint32_t locks = 0;    // held
    bool busy = false;     // being run, or waiting for another that is run before it
    bool broken = false;   // the rest of its records cannot be decoded
    bool listed = false;   // in begun_
    bool shut = false;  // its first chunk was looked at and is to be decoded again: the thread has not begun
    bool starving = false;  // in starving_
    // How far its accesses have been prefetched.
    struct Cursor {
      uint32_t position = 0, record = 0;  // in the chunk
    } far, near;
    size_t order = 0;  // in lanes_
  };
  struct Later {
    bool operator()(const ThreadCursor* a, const ThreadCursor* b) const {
      return a->clock != b->clock ? a->clock > b->clock : a->number > b->number;
    }
  };
  // An access in the chunk of an idle lane, so many records ahead of where the lane stands.
  struct Ahead {
    ThreadCursor* lane = nullptr;
    uint32_t distance = 0;
    uint32_t record = 0, slot = 0;  // in the chunk
  };

  void push(ThreadCursor& lane);
  void begin_lane(ThreadCursor& lane);
  void shut(ThreadCursor& lane);
  void run_lane(ThreadCursor& lane, uint64_t until, size_t events);
  bool step(ThreadCursor& lane, bool alone);
  void starve(ThreadCursor& lane);
  bool somebody_is_awaited();
  bool open_chunk(ThreadCursor& lane);
  static EventBuilder::Reach reach_of(const SegmentPlan& plan, std::span<const uint64_t> behind);
  void process_segment(ThreadCursor& lane, uint32_t to, bool cautious, int depth);
  bool process_record(ThreadCursor& lane, uint64_t header);
  Gate gate_of(ThreadCursor& lane, RecordKind kind, const uint64_t* words, uint64_t* awaited);
  bool ticket_open(uint64_t ticket) const {
    return CLEAVE_TICKET_NUMBER(ticket) <= next_ticket_[CLEAVE_TICKET_STRIPE(ticket) % CLEAVE_STRIPES];
  }
  void pass_ticket(uint64_t ticket);
  void park(ThreadCursor& lane, Gate gate, uint64_t awaited);
  void wake(std::vector<ThreadCursor*>& lanes);
  void after(ThreadCursor& lane, RecordKind kind, const uint64_t* words);
  void end_lane(ThreadCursor& lane);
  bool force();
  bool cut();
  uint32_t stop_position(const ThreadCursor& lane, uint64_t until) const;
  void update_clock(ThreadCursor& lane);
  void let_others_first(const ThreadCursor& lane, const SlotPlan& slot, const uint64_t* words, int depth);
  void look_ahead(ThreadCursor& lane);
  template <typename Prefetch>
  static void advance(const DecodedChunk& chunk, ThreadCursor::Cursor& cursor, uint32_t until,
                      Prefetch prefetch);
  bool worth_looking();
  void run_ahead(const Ahead& ahead, int depth);
  Ahead find_ahead(uint64_t address, uint32_t bytes, uint64_t value, SlotKind kind);
  struct Match {
    bool found = false, stop = false;  // stop: it accesses that memory in a way that makes going on useless
    uint32_t slot = 0;
  };
  Match match_ahead(const SegmentPlan& plan, uint32_t from, const uint64_t* words, uint64_t address,
                    uint32_t bytes, uint64_t value, SlotKind kind) const;

  static constexpr size_t kQuantum = 16;  // records a thread runs at least
  static constexpr uint32_t kAhead = 32;  // records looked at in another thread

  const TraceFile& file_;
  EventBuilder& assembler_;
  std::deque<ThreadCursor> lanes_;
  std::map<uint32_t, ThreadCursor*> by_number_;
  // Those that were made or have run, and are not done, in the order of lanes_: who may run ahead of another.
  // A program may have thousands of threads, one after the other.
  std::vector<ThreadCursor*> begun_;
  std::priority_queue<ThreadCursor*, std::vector<ThreadCursor*>, Later> runnable_;
  std::vector<uint64_t> next_ticket_;
  std::map<uint64_t, std::vector<ThreadCursor*>> parked_tickets_, parked_starts_,
      parked_joins_;  // by stripe, number, child
  std::vector<ThreadCursor*> parked_turns_;
  uint64_t next_turn_ = 0;
  bool turn_seen_ = false;
  const ThreadCursor* holder_ =
      nullptr;  // who has the turn: until it waits for its next one, nobody else gets one
  std::map<uint32_t, bool> forked_;  // number → the thread's records are there
  bool patient_ = true;
  bool final_ = false;   // nothing more will come
  bool broken_ = false;  // the records of a lane cannot be decoded
  uint64_t cut_threads_ = 0, cut_records_ = 0;
  size_t starved_ = 0;
  std::vector<ThreadCursor*> starving_;  // all that are starved and have not exited, and some others
  size_t parked_ = 0;
  uint64_t forced_tickets_ = 0, forced_others_ = 0;
  uint64_t looks_ = 0, saved_reads_ = 0;
  std::vector<std::string> problems_;
};

}  // namespace cleave
