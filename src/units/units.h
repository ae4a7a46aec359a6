// Which unit an access belongs to: the top-most unit of its thread that is declared on the access's set
// (Marathon 3).
//
// Where units come from is UnitOptions (--units, cleave.toml). What a unit is declared on:
//   annotated, lock sections, functions:GLOB, [units] atomic   every set
//   methods, struct functions, CLEAVE_UNITFOR                  the sets of their object, the statics of its
//   class and
//                                                              of the file the function stands in
//   [units] unitfor                                            the same, and the sets that it names
//   begin NAME self=OBJECT of a text trace                     the sets of OBJECT
// With the source `methods`, a function that touches fields of another object, directly or through accessors,
// is an additional unit for that object, from its first such access on that no declared unit covers. It does
// not propagate to its callers (the paper's unitfor), and it is over where one of the object's own methods is
// called. Where a lock section covers what such a function touches, it does so for all of it together, as the
// function would. Accessors are plain getters and setters and the steps of iterators: they are never units
// for what they touch, nor are the lock sections in them; their caller is. What a function uses through
// getters and setters in a loop, it uses anew in each round: there each round is a unit of its own. A walk
// with an iterator is one. A loop whose rounds take locks is no walk: what it touches directly, it touches
// anew too.
//
// What a method, or a struct function, touches through pointers that its object holds (SiteInfo::through_own)
// is taken for part of that object (the paper's owned), as long as nobody else touches it: as soon as
// somebody does outside of all methods of the object, it is nobody's and stays so. While there is one thread
// only, that is how things are put together: there it goes to the last one that reaches it so, and what
// others touch counts for nothing.
//
// Lock sections need not nest: of two that overlap, the one that began first is the top-most until it ends.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "findings/finding.h"
#include "trace/core/trace.h"
#include "units/by_set.h"
#include "units/lock_functions.h"
#include "units/sets.h"

namespace cleave {

// [units] unitfor of cleave.toml, "audit(Chain)": what CLEAVE_UNITFOR says, from outside. The function is a
// unit on the sets of that name (matches_set). Both are globs. Where the annotation means the object of one
// parameter, this means every object of that kind: what was passed is not in a trace.
struct UnitFor {
  std::string function, set;
};

struct UnitOptions {
  // None of the sources named: `annotated` where the program has any annotation, else `methods,locks`.
  bool annotated = false, locks = false, methods = false;
  std::vector<std::string> without;             // ids of the rules of src/units that are switched off
  bool causal = false;                          // src/units finds these; nothing in model/ does
  std::vector<std::string> functions;           // globs of functions:GLOB
  std::vector<std::string> atomic, not_atomic;  // globs of [units] in cleave.toml; they override everything
  std::vector<UnitFor> unitfor;                 // of [units] too
  // A unit ends where its thread waits on a condition variable, and another of the same name begins.
  bool split_at_waits = true;

  bool any_source() const { return annotated || locks || methods || causal || !functions.empty(); }
  // The default filled in from the names that the trace knows so far.
  UnitOptions resolved(const Trace& tables) const;
};

// The patterns of cleave.toml that fit no variable, or no set, that `sets` was asked about.
std::vector<UnmatchedPattern> unmatched_patterns(const UnitOptions& units, const SetMap& sets);

// The words of --units, each of which may be a list with commas.
Result<UnitOptions> parse_unit_sources(std::span<const std::string> words);

enum class UnitId : uint32_t {};  // an instance: numbered in the order of their first access

struct Unit {
  UnitNameId name = kNone<UnitNameId>;  // kNone for a lock section
  SyncId lock = kNone<SyncId>;          // of a lock section
  ThreadId thread = kNone<ThreadId>;
  ObjectId object = kNone<ObjectId>;  // `this` of a method
  SiteId site = kNone<SiteId>;        // where it began
  ContextId context = kNone<ContextId>;
  EventIndex begin = kNone<EventIndex>;
  EventIndex end = kNone<EventIndex>;  // kNone: the trace ends before the unit does
  // It binds the accesses of others together, but nothing is reported when it is split itself.
  bool context_only = false;
  uint32_t cause = UINT32_MAX;  // UnitMap::causes: why it must be atomic; UINT32_MAX: by what it is
};

// Why a stretch must be atomic, where its accesses show it (src/units).
struct UnitCause {
  std::string_view rule;  // id of the rule
  EventIndex first = kNone<EventIndex>, second = kNone<EventIndex>;
  bool by_data = false;  // the second depends on the first by data, not by control only
};

// What a person calls it: the function, the name in CLEAVE_ATOMIC_BEGIN, or the function with the critical
// section.
std::string unit_label(const Trace& tables, const Unit& unit, const LockFunctions& lock_functions);
// The same where the lock of a section may have ended: by its name.
std::string unit_label(const Trace& tables, const Unit& unit, const LockFunctions& lock_functions,
                       std::string_view lock);

// A unit that is open now. `additional`: it is not declared on the set of the access that was asked about,
// which therefore counts as one with the set it is declared on (Marathon 4.1). `merged`: of a lock section,
// which function call touches the set directly: in the section what that call touches so counts as one; 0:
// none does.
struct OpenUnit {
  Unit unit;
  UnitId id = kNone<UnitId>;
  bool additional = false;
  uint64_t merged = 0;
  uint32_t handle = UINT32_MAX;  // for who follows the units; UINT32_MAX at first
};

// What a name in Begin is, by the options.
struct UnitRole {
  enum class Scope : uint8_t { Nothing, Everything, Owners, Additional };
  Scope scope = Scope::Nothing;
  // Its caller takes what it touches (of a method of an iterator or nested class: of other objects), and
  // `opaque_locks`: the lock sections in it are no units for that either.
  bool transparent = false, opaque_locks = false;
  bool walks = false;      // a step of an iterator: what it touches is touched by its caller directly
  bool round = false;      // no unit: another round of a loop begins
  bool may_wait = false;   // no unit: a place to wait on a condition variable
  bool barred = false;     // said not to be atomic: it is no additional unit, and nothing around it is for it
  bool heuristic = false;  // ends where its thread forks or joins: such a function is not meant to be atomic
  bool known = false;
  const std::vector<std::string>* sets = nullptr;  // globs: it is declared on these too (UnitFor)
  OwnerId statics = kNone<OwnerId>, file = kNone<OwnerId>;
};

// Decides each name once.
class UnitRoles {
 public:
  UnitRoles(const UnitOptions& options, SetMap& sets, const Trace& tables)
      : options_(options), sets_(sets), tables_(tables) {}

  const UnitRole& of(UnitNameId name) {
    if (raw(name) >= roles_.size() || !roles_[raw(name)].known) learn(name);
    return roles_[raw(name)];
  }
  // Where all memory is one set: is it a unit.
  bool is_unit(UnitNameId name) {
    UnitRole::Scope scope = of(name).scope;
    return scope == UnitRole::Scope::Everything || scope == UnitRole::Scope::Owners;
  }

 private:
  void learn(UnitNameId name);
  UnitRole decide(const UnitNameInfo& info);

  const UnitOptions& options_;
  SetMap& sets_;
  const Trace& tables_;
  std::vector<UnitRole> roles_;
  std::deque<std::vector<std::string>> named_sets_;  // UnitRole::sets
};

// Follows a trace event by event. O(depth of open units) an access, O(1) amortised while nothing begins or
// ends.
class UnitTracker {
 public:
  // `options` must be resolved. All others must outlive the tracker; `tables` and `sets` may grow, and the
  // tracker tells `lock_functions` of the sections that it sees.
  UnitTracker(UnitOptions options, SetMap& sets, const Trace& tables, LockFunctions& lock_functions);

  // Every event, in order. The ids of units with at least one access that ended here are in ended().
  void feed(const Event& event, EventIndex position);
  std::span<const OpenUnit> ended() const { return ended_; }

  // What an access has to know of its variable, whose object may have come into other hands by the access. To
  // be asked once for each access, in order, before cover().
  SetMap::Member member(const Event& access) {
    const SetMap::Member known = sets_.member(access.variable());
    if (known.hold == Hold::Fixed || (known.hold == Hold::Free && !leads(access))) [[likely]]
      return known;
    return reached(access, known);
  }

  // Who takes the accesses of a thread to a set. The same one, `note` included, is given until one of the
  // thread's units begins, ends or changes.
  struct Cover {
    OpenUnit* unit = nullptr;  // null: none covers it, the access is a unit of its own
    uint64_t note = 0;         // for who asks; 0 at first
    bool additional = false;   // the unit is not declared on the set
  };
  // Valid until the next call. Another unit of the thread may end before the access: see ended().
  Cover& cover(const Event& access, SetId set, EventIndex position) {
    ended_.clear();
    if (raw(access.thread) < threads_.size() && threads_[raw(access.thread)]) [[likely]] {
      Thread& state = *threads_[raw(access.thread)];
      Known& known = state.known[raw(set) % kKnown];
      if (known.set == set && *known.where == known.number && known.atomic == access.atomic()) [[likely]]
        return known.cover;
    }
    return cover_slowly(access, set, position);
  }
  // The unit of an access, or null when none covers it.
  const OpenUnit* unit_of(const Event& access, EventIndex position) {
    return cover(access, member(access).set, position).unit;
  }

  // Whether the call of OpenUnit::merged is not over yet.
  bool goes_on(ThreadId thread, uint64_t call) const;
  // Units open in all threads that had an access, for the end of the trace.
  std::vector<OpenUnit> open() const;
  // Lets go of sets that are gone (SetMap::many_gone).
  void drop_gone_sets();
  // Sets that open units refer to, and units that are open.
  size_t held() const;
  // Deepest nesting of units so far.
  size_t depth() const { return depth_; }

 private:
  // A unit, once it has an access.
  struct Part {
    OpenUnit open;
    EventIndex begin = kNone<EventIndex>;
  };
  // A set that a frame is an additional unit for, or was.
  struct Claim {
    SetId set = kNone<SetId>;
    bool whole = false;         // as a whole
    bool round = false;         // in this round
    bool left = false;          // as a whole it was: a loop or one of the object's methods came
    bool by_accessors = false;  // `whole`, and no direct access has touched it
  };
  struct Frame {
    Unit unit;
    Part whole;
    Part round;  // in a loop, for what is used through accessors; and for sets that the whole has left
    BySet<Claim> claims;
    bool in_rounds = false;
    bool rounds_lock =
        false;  // a round has taken locks: what comes is of its round, also what is touched directly
    uint64_t locks_before = 0;  // Thread::locks when this round, or the frame, began
    UnitRole role;
    InstanceId self = kNone<InstanceId>;  // of its object
    OwnerId owner = kNone<OwnerId>;
    uint64_t stamp = 0;           // another one whenever another unit begins as its whole; 0: it is gone
    uint64_t below = 0;           // Thread::version before it came
    uint64_t sections_below = 0;  // of a section: Thread::sections before it came

    bool section() const { return unit.lock != kNone<SyncId>; }
    // It is a method of the set's object, or stands in its file, or is said to be a unit for it.
    bool is_for(const SetInfo& set) const;
  };
  // Who takes the accesses to a set.
  struct Answer {
    uint32_t frame = UINT32_MAX;
    bool additional = false;
    bool round = false;
    bool by_accessor = false;
    uint32_t claimed = UINT32_MAX;  // a frame that was an additional unit for the set until now
    uint64_t merged = 0;            // OpenUnit::merged
    bool in_section = false;        // a lock section was looked at: what is within it counts
  };
  // Frames that are gone keep their memory for the next ones. A frame stays where it is.
  class Frames {
   public:
    Frame& push() {
      if (size_ == frames_.size()) frames_.push_back(std::make_unique<Frame>());
      return *frames_[size_++];
    }
    void erase(size_t frame) {
      if (frame + 1 < size_)
        std::rotate(frames_.begin() + static_cast<ptrdiff_t>(frame),
                    frames_.begin() + static_cast<ptrdiff_t>(frame) + 1,
                    frames_.begin() + static_cast<ptrdiff_t>(size_));
      --size_;
    }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    Frame& operator[](size_t frame) { return *frames_[frame]; }
    const Frame& operator[](size_t frame) const { return *frames_[frame]; }

   private:
    std::vector<std::unique_ptr<Frame>> frames_;
    size_t size_ = 0;
  };
  // An answer, good as long as there is the same number where it was found.
  struct Known {
    SetId set = kNone<SetId>;
    bool atomic = false;
    const uint64_t* where = nullptr;
    uint64_t number = 0;
    Cover cover;
  };
  static constexpr size_t kKnown = 16;
  // Who is declared on a set depends on the frames up to that one, and if it is a lock section on the
  // sections within it; of a method in a section, and everything else, on all of them. When a frame goes and
  // nothing else has changed, what was known before it came is good again.
  struct Thread {
    Frames frames;
    uint64_t last = 1;                               // number that was given out
    uint64_t version = 1;                            // of the frames
    uint64_t changed_at = 0;                         // no version up to this one comes back
    uint64_t locks = 0;                              // taken so far, but those in accessors
    uint64_t sections = 1, sections_changed_at = 0;  // the same of the lock sections among the frames
    std::array<Known, kKnown> known;                 // answers, by set
    // What was found to be touched in a method of who has taken it, at that version.
    InstanceId inside = kNone<InstanceId>;
    uint64_t inside_version = 0;

    Thread() {
      for (Known& answer : known) answer.where = &changed_at, answer.number = UINT64_MAX;
    }
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;
    void change() {
      changed_at = last;
      version = ++last;
    }
    void change_sections() {
      sections_changed_at = last;
      sections = ++last;
    }
  };

  Thread& thread(ThreadId id) {
    if (raw(id) < threads_.size() && threads_[raw(id)]) [[likely]]
      return *threads_[raw(id)];
    return make_thread(id);
  }
  Thread& make_thread(ThreadId id);
  void end_thread(ThreadId id, EventIndex position);
  void begin(const Event& event, EventIndex position);
  void begin_section(const Event& event, SyncId lock, EventIndex position);
  void end_section(const Event& event, SyncId lock, EventIndex position);
  Cover& cover_slowly(const Event& access, SetId set, EventIndex position);
  Frame& push(ThreadId thread, const Unit& unit);
  void pop(Thread& thread, size_t frame, EventIndex position);
  void split(Thread& thread, EventIndex position, bool only_heuristic);
  void count_lock(Thread& thread);
  void next_round(Thread& thread, EventIndex position);
  void end_additional(Thread& thread, EventIndex position);
  void finish_round(Frame& frame, EventIndex position);
  void finish(Part& part, EventIndex position);
  Answer find_frame(const Thread& thread, SetId set, bool alone) const;
  bool guards_itself(const Thread& thread, uint32_t section, const SetInfo& set) const;
  uint64_t direct_user(const Thread& thread, uint32_t section, uint32_t around, const SetInfo& set) const;
  bool in_library(const Event& access);
  void claim(Thread& thread, const Answer& answer, SetId set, EventIndex position);
  static void leave(Claim& claim);
  bool leads(const Event& access) { return known_to_lead(access) && options_.methods && !access.atomic(); }
  // Whether the place of the access, or of the call that it is in, is SiteInfo::through_own.
  bool known_to_lead(const Event& access) {
    if (access.site == kNone<SiteId>) return false;
    if (raw(access.site) >= leading_sites_.size()) learn_sites();
    if (leading_sites_[raw(access.site)]) return true;
    if (access.context == kNone<ContextId>) return false;
    if (raw(access.context) >= leading_contexts_.size()) learn_contexts();
    return leading_contexts_[raw(access.context)];
  }
  void learn_sites();
  void learn_contexts();
  SetMap::Member reached(const Event& access, const SetMap::Member& known);
  InstanceId holder(const Thread& thread, const Event& access, InstanceId part);
  bool inside(Thread& thread, InstanceId part);
  void owners_changed();

  UnitOptions options_;
  UnitRoles roles_;
  SetMap& sets_;
  const Trace& tables_;
  LockFunctions& lock_functions_;
  std::vector<std::unique_ptr<Thread>> threads_;  // null: it has nothing open
  std::vector<std::unique_ptr<Thread>> spare_;    // of threads that have ended
  std::vector<OpenUnit> ended_;
  std::vector<uint8_t> library_sites_;  // 0: not known, 1: of the program, 2: of the library
  std::vector<bool> leading_sites_, leading_contexts_;
  uint32_t next_ = 0;
  size_t depth_ = 0;
  size_t running_ = 0;  // threads that have done something and are not over
};

// The same for a whole trace in memory: 4 bytes an event.
struct UnitMap {
  std::vector<Unit> units;       // those with at least one access, by UnitId
  std::vector<UnitId> by_event;  // kNone: not an access, or a unit of its own
  LockFunctions lock_functions;  // for unit_label
  std::vector<UnitCause> causes;
  // By variable: which ones are bound together, where that is more than the sets say. Empty: the sets say it.
  std::vector<uint32_t> groups;

  const Unit& unit(UnitId id) const { return units[raw(id)]; }
  UnitId unit_of(EventIndex event) const { return by_event[raw(event)]; }
};

// What shows that the unit must be atomic, for a person; empty where the unit is one by itself.
CauseReport cause_of(const Trace& trace, const UnitMap& units, const Unit& unit);

// Options are resolved by this. O(events).
UnitMap map_units(const Trace& trace, const UnitOptions& options, SetMap& sets);

}  // namespace cleave
