// Records in, events out: what each record of a thread means, given that everything before it in the total
// order has been seen. Keeps the tables, the atoms of memory and every thread's stack; knows nothing of how
// the order is found.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "trace/core/atoms.h"
#include "trace/core/call_stack.h"
#include "trace/core/event_list.h"
#include "trace/core/stream.h"
#include "trace/core/trace.h"
#include "trace/recorded/address_space.h"
#include "trace/recorded/own_locks.h"
#include "trace/recorded/records.h"

namespace cleave {

// Where an event comes from: record `record` of its thread, slot `slot` of it if it is a segment.
struct EventOrigin {
  uint64_t record = 0;
  uint32_t slot = 0;
  friend bool operator==(const EventOrigin&, const EventOrigin&) = default;
};

struct Batch {
  std::vector<VariableSplit> splits;
  EventList events;
  std::vector<std::pair<uint32_t, uint64_t>> old_values;  // position in events, what the update read
  std::vector<EventOrigin> origins;                       // if asked for
  FreedIds freed;                                         // after the last event
  // What the update at that position read.
  uint64_t old_value(size_t position) const;
  void clear() {
    freed.clear();
    splits.clear();
    events.clear();
    old_values.clear();
    origins.clear();
  }
};

// A read that found another value than the last write left: what was not instrumented wrote, or the order is
// not the real one.
struct UnexplainedRead {
  SiteId site = kNone<SiteId>;
  uint64_t times = 0;
};

class EventBuilder {
 public:
  // One thread of the program, as far as its events go.
  struct Thread {
    ThreadId id = kNone<ThreadId>;
    CallStack stack;
    struct OpenUnit {
      UnitNameId name;
      size_t depth;  // of the stack when it began
    };
    std::vector<OpenUnit> units;
    uint64_t branches = 0;  // since the last event
    uint32_t children = 0;
    EventOrigin origin;  // of what is being processed
    bool exited = false;
  };

  EventBuilder(TraceBuilder& builder, const TraceFile& file, bool origins);
  // What ends is told in the batch in which it ends, and its id used again after give_back(). Not with
  // origins.
  void reuse_ids();
  void give_back(const FreedIds& ids);
  // What is copied or filled as a whole is one location until a part of it is touched (assembler_ranges.cpp).
  // With reuse_ids() only.
  void stretch_ranges();

  // New modules of the file are taken in.
  void refresh();
  // The state of the thread with this number; made on first sight.
  Thread& thread(uint32_t number);

  // Which accesses another thread may have to go before: a read that memory contradicts, a write that
  // destroys what another thread may be about to read.
  enum class Caution { None, Reads, All };
  // How far a segment came: its first `valid` payload words were written. `fault`: an access of this address
  // ended it; 0: none did.
  struct Reach {
    size_t valid;
    uint64_t fault = 0;
  };
  // Slots `from` to `to` of a segment. Stops before an access that calls for caution, except at `clear`; the
  // slot where it stopped.
  size_t segment(Thread& thread, const SegmentPlan& plan, const uint64_t* words, Reach reach, size_t from,
                 size_t to, Caution caution, size_t clear);
  void add_branches(Thread& thread, uint16_t branches) { thread.branches += branch_count(branches); }
  // A record of the runtime; `words` is its payload.
  void record(Thread& thread, RecordKind kind, uint16_t branches, std::span<const uint64_t> words);
  void set_origin_base(uint64_t offset) { chunk_offset_ = offset; }
  // Closes what the thread left open.
  void finish(Thread& thread);

  // Of the batch that is being filled.
  size_t pending() const { return current_.events.size(); }
  Batch take_current();
  void recycle(Batch batch) { spare_ = std::move(batch); }

  static bool calls_for_caution(const Atom* atom, SlotKind kind, uint64_t value, Caution caution) {
    if (kind == SlotKind::Read) return atom != nullptr ? atom->known && atom->value != value : value != 0;
    bool destroys = atom == nullptr || (atom->shared && atom->known && atom->value != value);
    return destroys && caution == Caution::All;
  }
  const Atom* atom(uint64_t address, uint32_t bytes) { return atoms_.find(address, bytes); }
  const AtomMap& atoms() const { return atoms_; }

  const AddressSpace& directory() const { return directory_; }
  AddressSpace& directory() { return directory_; }
  const std::vector<uint64_t>& unexplained() const {
    return unexplained_;
  }  // reads, by SiteId; last: without a site
  uint64_t unexplained_reads() const { return unexplained_reads_; }
  // Contents of long ranges are not recorded; the first read afterwards tells. (event, value), loaded traces
  // only.
  const std::vector<std::pair<uint64_t, uint64_t>>& learned() const { return learned_; }

  // The value and the address that a slot has in a record.
  static uint64_t slot_value(const SlotPlan& slot, const uint64_t* words) {
    return slot.value_source == Source::Word ? words[slot.value_index] : slot.value_constant;
  }

 private:
  struct Piece {
    uint32_t id;
    uint8_t offset, bytes;
    bool fresh;
  };
  // The place of the thread's next event, all of it but its branches to be filled.
  Event* append(Thread& thread) {
    if (thread.branches > UINT16_MAX) [[unlikely]]
      emit_branches(thread);
    if (origins_) current_.origins.push_back(thread.origin);
    return current_.events.append();
  }
  static uint16_t take_branches(Thread& thread) {
    return static_cast<uint16_t>(std::exchange(thread.branches, 0));
  }
  void emit(Thread& thread, const Event& event) {
    Event* at = append(thread);
    *at = event;
    at->branches = take_branches(thread);
  }
  // The same, field by field.
  void emit(Thread& thread, EventKind kind, SiteId site, ContextId context, uint32_t object, uint32_t object2,
            uint64_t value, uint8_t width) {
    Event* at = append(thread);
    at->kind = kind;
    at->width_and_order = width;
    at->branches = take_branches(thread);
    at->thread = thread.id;
    at->site = site;
    at->context = context;
    at->object = object;
    at->object2 = object2;
    at->value = value;
  }
  void emit_branches(Thread& thread);
  // The thread is the one that touched the atom last.
  static void hold(const Thread& thread, Atom& atom) {
    if (atom.last == raw(thread.id)) return;
    atom.shared |= atom.last != UINT32_MAX;
    atom.last = raw(thread.id);
  }
  size_t usual_accesses(Thread& thread, const SegmentPlan& plan, const uint64_t* words, size_t from,
                        size_t to, Caution caution);
  void slot(Thread& thread, const SegmentPlan& plan, const SlotPlan& slot, uint64_t address, uint64_t value);
  void access(Thread& thread, Event& event, uint64_t address, uint32_t bytes, uint64_t old_value,
              TableSite site);
  void access_slowly(Thread& thread, Event& event, uint64_t address, uint32_t bytes, uint64_t old_value,
                     TableSite site);
  void touch(Thread& thread, const Event& event, Atom& atom, uint64_t value, uint64_t old_value);
  void resolve(uint64_t address, uint32_t bytes, bool fill, TableSite site, const uint64_t* read);
  void split(uint32_t whole, uint64_t from, uint64_t to, TableSite site);
  void split(uint32_t whole, std::span<const uint64_t> bounds, TableSite site);
  uint32_t stretch_for(uint64_t at, uint64_t end, bool fill, TableSite site);
  void touch_stretch(Thread& thread, const Event& event, Atom& atom, const uint8_t* found);
  void keep_contents(Atom& stretch, const uint8_t* data);
  void cut_at_bounds(uint64_t address, uint64_t end);
  void break_stretch(uint64_t address, TableSite site);
  void forget_atoms(uint64_t address, uint64_t bytes);
  // Where in the program something is.
  struct Place {
    SiteId site = kNone<SiteId>;
    ContextId context = kNone<ContextId>;
  };
  void begin_unit(Thread& thread, const Module& module, const SlotPlan& slot, Place at, uint64_t value);
  void end_unit(Thread& thread, UnitNameId name, Place at);
  void close_units(Thread& thread, size_t depth, Place at);
  void atomic_access(Thread& thread, std::span<const uint64_t> words);
  void own_lock(Thread& thread, EventKind kind, uint64_t address, Place at);
  void range(Thread& thread, bool write, std::span<const uint64_t> words);
  void range_part(Thread& thread, const Event& event, TableSite site, uint64_t address, uint64_t end,
                  bool fill, const uint8_t* contents);
  void written_unseen(Atom& atom);
  void sync(Thread& thread, EventKind kind, SyncKind what, uint64_t address);
  void sync_made(SyncKind what, std::span<const uint64_t> words);
  void semaphore(Thread& thread, EventKind kind, uint64_t address);
  void wait(Thread& thread, EventKind kind, std::span<const uint64_t> words);
  void life(Thread& thread, RecordKind kind, std::span<const uint64_t> words);
  void memory(Thread& thread, RecordKind kind, std::span<const uint64_t> words);
  void allocated(Thread& thread, uint64_t address, uint64_t bytes, const char* how);
  void given_back(Thread& thread, uint64_t address, uint64_t bytes);
  void local_gone(Thread& thread, std::span<const uint64_t> words);
  void write_freed(Thread& thread, const Event& event, std::span<const uint32_t> atoms);
  void forget_memory(uint64_t address, uint64_t bytes);
  // A block that was given back and whose memory nobody has again.
  struct FreedBlock {
    uint64_t end = 0;
    size_t atoms = 0;
    uint64_t number = 0;
  };
  std::map<uint64_t, FreedBlock>::iterator forget_freed(std::map<uint64_t, FreedBlock>::iterator block);
  void input_value(Thread& thread, std::span<const uint64_t> words);
  Event at_call(Thread& thread, EventKind kind);
  TableSite hook_site(uint64_t segment_address) const;
  void note_unexplained(SiteId site);

  TraceBuilder& builder_;
  const TraceFile& file_;
  AddressSpace directory_;
  ContextTree contexts_;
  AtomMap atoms_;
  bool stretches_ = false;
  Contents contents_;
  std::vector<uint64_t> bounds_;  // of the parts of what is being cut
  struct Tokens {
    bool made = false;  // their number at the start is known
    uint64_t left = 0;
  };
  boost::unordered_flat_map<uint32_t, Tokens> tokens_;  // of semaphores and barriers
  OwnLocks own_locks_;
  std::deque<Thread> threads_;
  std::vector<Thread*> by_number_;
  std::map<uint32_t, Thread*> by_high_number_;
  size_t modules_seen_ = 0;
  bool origins_ = false;
  uint64_t chunk_offset_ = 0;
  Batch current_, spare_;
  uint64_t given_ = 0;  // events of all batches before
  std::map<uint64_t, FreedBlock> freed_;
  std::deque<std::pair<uint64_t, uint64_t>> freed_order_;  // address and number, oldest first
  uint64_t freed_number_ = 0;
  size_t freed_atoms_ = 0;
  std::vector<uint32_t> freed_ids_;
  std::vector<Piece> pieces_;
  std::vector<uint32_t> ids_;
  std::vector<uint64_t> unexplained_;
  uint64_t unexplained_reads_ = 0;
  boost::unordered_flat_map<uint32_t, uint64_t> unknown_writes_;  // atom → event that wrote what is not known
  std::vector<std::pair<uint64_t, uint64_t>> learned_;
};

}  // namespace cleave
