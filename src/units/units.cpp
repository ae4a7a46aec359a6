#include "units/units.h"

#include <algorithm>
#include <utility>

#include "trace/core/library.h"

namespace cleave {
namespace {

using Scope = UnitRole::Scope;

constexpr uint32_t kNoFrame = UINT32_MAX;

// One past the innermost frame that is no lock section; 0: all are.
template <typename Frames>
size_t past_innermost_function(const Frames& frames) {
  size_t past = frames.size();
  while (past > 0 && frames[past - 1].section()) --past;
  return past;
}

bool names_set(const std::vector<std::string>& globs, std::string_view set) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return matches_set(glob, set); });
}

}  // namespace

UnitTracker::UnitTracker(UnitOptions options, SetMap& sets, const Trace& tables,
                         LockFunctions& lock_functions)
    : options_(std::move(options)),
      roles_(options_, sets, tables),
      sets_(sets),
      tables_(tables),
      lock_functions_(lock_functions) {}

UnitTracker::Thread& UnitTracker::make_thread(ThreadId id) {
  if (raw(id) >= threads_.size()) threads_.resize(raw(id) + 1);
  std::unique_ptr<Thread>& state = threads_[raw(id)];
  if (spare_.empty()) {
    state = std::make_unique<Thread>();
  } else {
    state = std::move(spare_.back());
    spare_.pop_back();
  }
  ++running_;
  return *state;
}

// What is left of a thread is room for the next one: programs make thousands.
void UnitTracker::end_thread(ThreadId id, EventIndex position) {
  if (raw(id) >= threads_.size() || !threads_[raw(id)]) return;
  Thread& state = *threads_[raw(id)];
  while (!state.frames.empty()) pop(state, state.frames.size() - 1, position);
  state.change();  // what was answered was the other thread's
  state.change_sections();
  spare_.push_back(std::move(threads_[raw(id)]));
  --running_;
}

void UnitTracker::drop_gone_sets() {
  for (std::unique_ptr<Thread>& state : threads_) {
    if (!state) continue;
    for (size_t i = 0; i < state->frames.size(); ++i) {
      state->frames[i].claims.erase_if([&](const Claim& claim) { return sets_.info(claim.set).gone; });
    }
    for (Known& known : state->known) known.set = kNone<SetId>;
  }
}

void UnitTracker::feed(const Event& event, EventIndex position) {
  ended_.clear();
  switch (event.kind) {
    case EventKind::Begin:
      begin(event, position);
      break;
    case EventKind::End: {
      Thread& state = thread(event.thread);
      const size_t past = past_innermost_function(state.frames);
      if (past > 0) pop(state, past - 1, position);
      break;
    }
    case EventKind::Acquire:
    case EventKind::AcquireShared:
      count_lock(thread(event.thread));
      if (options_.locks) begin_section(event, event.sync(), position);
      break;
    case EventKind::Release:
    case EventKind::ReleaseShared:
      if (options_.locks) end_section(event, event.sync(), position);
      break;
    case EventKind::Wait:
      if (!options_.split_at_waits) break;
      split(thread(event.thread), position, false);
      break;
    case EventKind::Fork:
    case EventKind::Join:
    case EventKind::Down:
    case EventKind::Pass:
      split(thread(event.thread), position, true);
      break;
    case EventKind::Exit:
      end_thread(event.thread, position);
      break;
    default:
      break;
  }
}

void UnitTracker::begin(const Event& event, EventIndex position) {
  const UnitRole& role = roles_.of(event.unit());
  if (role.round) next_round(thread(event.thread), position);
  // In another run the thread waits here, and what it does is split: no heuristic takes it for atomic.
  if (role.may_wait && options_.split_at_waits) split(thread(event.thread), position, true);
  // What a person said about a function holds whatever the heuristics have made of its callers.
  ObjectId self = event.self();
  // Only a text trace names an object without an address: there `self=` says what the unit is declared on.
  bool only_self =
      self != kNone<ObjectId> && role.scope == Scope::Everything && tables_.object(self).address == 0;
  if (role.barred || (role.scope == Scope::Everything && !only_self))
    end_additional(thread(event.thread), position);
  Frame& frame = push(event.thread, {.name = event.unit(),
                                     .thread = event.thread,
                                     .object = self,
                                     .site = event.site,
                                     .context = event.context,
                                     .begin = position});
  frame.role = role;
  if (self != kNone<ObjectId>) {
    frame.self = sets_.follow(self);
    frame.owner = sets_.owner_of(frame.self);
  }
  if (only_self) frame.role.scope = Scope::Owners;
}

void UnitTracker::begin_section(const Event& event, SyncId lock, EventIndex position) {
  Frame& frame = push(event.thread, {.lock = lock,
                                     .thread = event.thread,
                                     .site = event.site,
                                     .context = event.context,
                                     .begin = position});
  frame.role.scope = Scope::Everything;
}

UnitTracker::Frame& UnitTracker::push(ThreadId id, const Unit& unit) {
  Thread& state = thread(id);
  Frame& frame = state.frames.push();  // its units were finished when it went
  frame.unit = unit;
  frame.whole.begin = frame.round.begin = unit.begin;
  frame.in_rounds = frame.rounds_lock = false;
  frame.locks_before = state.locks;
  frame.role = {};
  frame.self = kNone<InstanceId>;
  frame.owner = kNone<OwnerId>;
  frame.below = state.version;
  if (frame.section()) {
    frame.sections_below = state.sections;
    state.sections = ++state.last;
  }
  frame.stamp = ++state.last;
  state.version = ++state.last;
  depth_ = std::max(depth_, state.frames.size());
  return frame;
}

void UnitTracker::end_section(const Event& event, SyncId lock, EventIndex position) {
  Thread& state = thread(event.thread);
  for (size_t frame = state.frames.size(); frame > 0; --frame) {
    const Unit& section = state.frames[frame - 1].unit;
    if (section.lock != lock) continue;
    lock_functions_.held(section.site, section.context, event.context);
    return pop(state, frame - 1, position);
  }
}

void UnitTracker::pop(Thread& state, size_t index, EventIndex position) {
  Frame& frame = state.frames[index];
  finish(frame.whole, position);
  finish(frame.round, position);
  frame.claims.clear();
  if (frame.self != kNone<InstanceId>) sets_.let_go(frame.self);
  frame.stamp = 0;
  const bool innermost = index + 1 == state.frames.size();
  if (frame.section()) {
    if (innermost && frame.sections_below > state.sections_changed_at)
      state.sections = frame.sections_below;
    else
      state.change_sections();
  }
  state.frames.erase(index);
  if (!innermost) return state.change();
  state.version = frame.below > state.changed_at ? frame.below : ++state.last;
}

void UnitTracker::split(Thread& state, EventIndex position, bool only_heuristic) {
  for (size_t i = 0; i < state.frames.size(); ++i) {
    Frame& frame = state.frames[i];
    if (only_heuristic && !frame.role.heuristic) continue;
    finish(frame.whole, position);
    finish(frame.round, position);
    frame.claims.clear();
    frame.stamp = ++state.last;
  }
  state.change();
  state.change_sections();
}

// What an accessor locks is locked for what its caller uses through it, not between two uses.
void UnitTracker::count_lock(Thread& state) {
  const size_t past = past_innermost_function(state.frames);
  if (past == 0 || !state.frames[past - 1].role.opaque_locks) ++state.locks;
}

// An object that a worker takes out of a locked queue, changes and puts back is another worker's until it
// comes again.
void UnitTracker::next_round(Thread& state, EventIndex position) {
  const size_t past = past_innermost_function(state.frames);
  if (past == 0) return;
  Frame& frame = state.frames[past - 1];
  frame.in_rounds = true;
  frame.rounds_lock |= std::exchange(frame.locks_before, state.locks) != state.locks;
  finish_round(frame, position);
  for (Claim& claim : frame.claims.all()) {
    if (claim.whole && (claim.by_accessors || frame.rounds_lock)) leave(claim);
  }
  state.change();
}

void UnitTracker::end_additional(Thread& state, EventIndex position) {
  for (size_t i = 0; i < state.frames.size(); ++i) {
    Frame& frame = state.frames[i];
    for (Claim& claim : frame.claims.all()) {
      if (claim.whole) leave(claim);
    }
    finish_round(frame, position);
  }
  state.change();
}

void UnitTracker::finish_round(Frame& frame, EventIndex position) {
  for (Claim& claim : frame.claims.all()) claim.round = false;
  finish(frame.round, position);
}

void UnitTracker::finish(Part& part, EventIndex position) {
  part.begin = position;
  if (part.open.id == kNone<UnitId>) return;
  part.open.unit.end = position;
  ended_.push_back(part.open);
  part.open.id = kNone<UnitId>;
  part.open.additional = false;
  part.open.handle = UINT32_MAX;
}

// Outermost first: the top-most unit that is declared on the set, or is an additional unit for it already,
// takes the access. If there is none, the innermost function becomes an additional unit. One of the object's
// own methods comes before an additional unit, which is over with it: who calls methods takes each for
// atomic. `alone`: the heuristics have nothing to say about the access.
UnitTracker::Answer UnitTracker::find_frame(const Thread& state, SetId set, bool alone) const {
  const SetInfo& info = sets_.info(set);
  alone = alone || info.atomic;
  uint32_t innermost = kNoFrame, claimed = kNoFrame;
  bool in_accessor = false, walks = false, in_section = false;
  for (uint32_t i = 0; i < state.frames.size(); ++i) {
    const Frame& frame = state.frames[i];
    const UnitRole& role = frame.role;
    bool section = frame.section();
    bool own = frame.is_for(info);
    in_section |= section && !alone && options_.methods;
    bool declared = section
                        ? !in_accessor && claimed == kNoFrame && (alone || !guards_itself(state, i, info))
                        : role.scope == Scope::Everything || (!alone && role.scope == Scope::Owners && own);
    if (declared) {
      Answer answer{.frame = i, .claimed = claimed, .in_section = in_section};
      if (section && !alone && options_.methods) answer.merged = direct_user(state, i, innermost, info);
      return answer;
    }
    if (alone) continue;
    if (claimed == kNoFrame && !frame.claims.empty()) {
      if (const Claim* claim = frame.claims.find(set); claim != nullptr && (claim->whole || claim->round))
        claimed = i;
    }
    if (role.barred) innermost = claimed = kNoFrame;
    if (role.opaque_locks && (role.scope == Scope::Additional || !own))
      in_accessor = true, walks = role.walks;
    if (role.heuristic && !role.transparent) innermost = i;
  }
  const bool by_accessor = in_accessor && !walks;
  Answer answer{
      .frame = claimed != kNoFrame ? claimed : innermost, .additional = true, .by_accessor = by_accessor};
  if (answer.frame == kNoFrame) return answer;
  const Frame& frame = state.frames[answer.frame];
  const Claim* claim = frame.claims.find(set);
  if (claim != nullptr && claim->whole) return answer;
  answer.round = frame.rounds_lock || (by_accessor && frame.in_rounds) ||
                 (claim != nullptr && (claim->round || claim->left));
  return answer;
}

bool UnitTracker::Frame::is_for(const SetInfo& set) const {
  if (set.owner != kNone<OwnerId> &&
      (set.owner == owner || set.owner == role.statics || set.owner == role.file))
    return true;
  return role.sets != nullptr && names_set(*role.sets, set.name);
}

// Whether, within a lock section, a method of the set's own object touches the set under another lock: the
// object keeps itself whole, as a logger does, and who calls it twice in a section does not thereby make it
// part of what the section is for.
bool UnitTracker::guards_itself(const Thread& state, uint32_t section, const SetInfo& set) const {
  bool in_method = false;
  for (uint32_t i = section + 1; i < state.frames.size(); ++i) {
    const Frame& frame = state.frames[i];
    if (in_method && frame.section() && frame.unit.lock != state.frames[section].unit.lock) return true;
    in_method |= frame.role.scope == Scope::Owners && frame.is_for(set);
  }
  return false;
}

// The call that would be the additional unit for a set if it were not in a lock section, by its number; 0:
// the set's own methods touch it there, or no function does. `around`: the function that the section is in.
uint64_t UnitTracker::direct_user(const Thread& state, uint32_t section, uint32_t around,
                                  const SetInfo& set) const {
  uint32_t user = around;
  for (uint32_t i = section + 1; i < state.frames.size(); ++i) {
    const UnitRole& role = state.frames[i].role;
    if (role.barred || (role.scope == Scope::Owners && state.frames[i].is_for(set))) return 0;
    if (role.heuristic && !role.transparent) user = i;
  }
  return user == kNoFrame ? 0 : state.frames[user].stamp;
}

// Notes that the frame of the answer is an additional unit for the set, or that another one is no more.
void UnitTracker::claim(Thread& state, const Answer& answer, SetId set, EventIndex position) {
  if (answer.claimed != kNoFrame) {
    Frame& frame = state.frames[answer.claimed];
    Claim& claim = *frame.claims.find(set);
    if (claim.round) finish_round(frame, position);
    if (claim.whole) leave(claim);
    state.change();
  }
  if (answer.frame == kNoFrame || !answer.additional) return;
  Frame& frame = state.frames[answer.frame];
  Claim* claim = frame.claims.find(set);
  if (claim == nullptr) claim = &frame.claims.add({.set = set});
  if (answer.round) {
    claim->round = true;
    return;
  }
  claim->by_accessors = answer.by_accessor && (!claim->whole || claim->by_accessors);
  claim->whole = true;
}

void UnitTracker::leave(Claim& claim) {
  claim.whole = claim.by_accessors = false;
  claim.left = true;
}

bool UnitTracker::in_library(const Event& access) {
  if (access.site == kNone<SiteId>) return false;
  if (raw(access.site) >= library_sites_.size()) library_sites_.resize(raw(access.site) + 1);
  uint8_t& known = library_sites_[raw(access.site)];
  if (known == 0) known = is_system_file(tables_.site(access.site).file) ? 2 : 1;
  return known == 2;
}

UnitTracker::Cover& UnitTracker::cover_slowly(const Event& access, SetId set, EventIndex position) {
  Thread& state = thread(access.thread);
  Known& known = state.known[raw(set) % kKnown];
  const bool machinery = sets_.info(set).machinery;
  Answer answer;
  if (!state.frames.empty()) {
    const bool alone = access.atomic() || (machinery && in_library(access));
    // Where an additional unit is over, a lock section in it may be the top-most unit that is declared on the
    // set.
    do {
      answer = find_frame(state, set, alone);
      claim(state, answer, set, position);
    } while (answer.claimed != kNoFrame);
  }
  known = {
      .set = set, .atomic = access.atomic(), .where = &state.version, .number = state.version, .cover = {}};
  // Among what is the library's means the answer depends on the place of the access: it is not kept.
  if (machinery) known.set = kNone<SetId>;
  if (answer.frame == kNoFrame) return known.cover;
  Frame& frame = state.frames[answer.frame];
  if (!answer.additional && !answer.in_section)
    known.where = &frame.stamp, known.number = frame.stamp;
  else if (!answer.additional && frame.section())
    known.where = &state.sections, known.number = state.sections;
  Part& part = answer.round ? frame.round : frame.whole;
  if (part.open.id == kNone<UnitId>) {
    part.open.id = UnitId{next_++};
    part.open.unit = frame.unit;
    part.open.unit.begin = part.begin;
  }
  part.open.additional = answer.additional;
  part.open.merged = answer.merged;
  known.cover.unit = &part.open;
  known.cover.additional = answer.additional;
  return known.cover;
}

bool UnitTracker::goes_on(ThreadId id, uint64_t call) const {
  if (raw(id) >= threads_.size() || !threads_[raw(id)]) return false;
  const Frames& frames = threads_[raw(id)]->frames;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].stamp == call) return true;
  }
  return false;
}

std::vector<OpenUnit> UnitTracker::open() const {
  std::vector<OpenUnit> units;
  for (const std::unique_ptr<Thread>& state : threads_) {
    if (!state) continue;
    for (size_t i = 0; i < state->frames.size(); ++i) {
      const Frame& frame = state->frames[i];
      for (const Part* part : {&frame.whole, &frame.round}) {
        if (part->open.id != kNone<UnitId>) units.push_back(part->open);
      }
    }
  }
  return units;
}

size_t UnitTracker::held() const {
  size_t count = 0;
  for (const std::unique_ptr<Thread>& state : threads_) {
    if (!state) continue;
    for (size_t i = 0; i < state->frames.size(); ++i) count += 1 + state->frames[i].claims.size();
  }
  return count;
}

UnitMap map_units(const Trace& trace, const UnitOptions& options, SetMap& sets) {
  UnitMap map{.units = {}, .by_event = {}, .lock_functions = LockFunctions(trace)};
  map.by_event.assign(trace.size(), kNone<UnitId>);
  UnitTracker tracker(options.resolved(trace), sets, trace, map.lock_functions);
  auto keep = [&](const OpenUnit& open) {
    if (map.units.size() <= raw(open.id)) map.units.resize(raw(open.id) + 1);
    map.units[raw(open.id)] = open.unit;
  };
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace.events()[i];
    if (is_access(event.kind)) {
      if (const OpenUnit* open = tracker.unit_of(event, EventIndex{i})) map.by_event[i] = open->id;
      for (const OpenUnit& open : tracker.ended()) keep(open);
      continue;
    }
    tracker.feed(event, EventIndex{i});
    for (const OpenUnit& open : tracker.ended()) keep(open);
  }
  for (const OpenUnit& open : tracker.open()) keep(open);
  return map;
}

}  // namespace cleave
