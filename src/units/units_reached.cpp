// What objects reach through their pointers, and whose it is (units.h).
#include "units/units.h"

namespace cleave {
namespace {

constexpr uint32_t kNoFrame = UINT32_MAX;

}  // namespace

void UnitTracker::learn_sites() {
  for (size_t site = leading_sites_.size(); site < tables_.sites().size(); ++site)
    leading_sites_.push_back(tables_.sites()[site].through_own);
}

void UnitTracker::learn_contexts() {
  for (size_t context = leading_contexts_.size(); context < tables_.contexts().size(); ++context) {
    const SiteId call = tables_.contexts()[context].call_site;
    leading_contexts_.push_back(call != kNone<SiteId> && tables_.site(call).through_own);
  }
}

SetMap::Member UnitTracker::reached(const Event& access, const SetMap::Member& known) {
  Thread& state = thread(access.thread);
  const InstanceId part = sets_.part_of(access.variable());
  if (known.hold == Hold::Taken && inside(state, part)) return known;
  const InstanceId by = leads(access) ? holder(state, access, part) : kNone<InstanceId>;
  if (known.hold == Hold::Taken && running_ > 1) {
    sets_.share(part);
  } else if (by == kNone<InstanceId> || !sets_.take(by, part)) {
    return known;
  }
  owners_changed();
  return sets_.member(access.variable());
}

// The object of the function that the place of the access stands in, or that of the call of an accessor that
// the access is in. Whose frame the innermost one is, is told by its calling context: not every function has
// one. What iterators and nested classes point to is not theirs.
InstanceId UnitTracker::holder(const Thread& state, const Event& access, InstanceId part) {
  auto next = [&](uint32_t above) {
    while (above > 0 && state.frames[above - 1].section()) --above;
    return above == 0 ? kNoFrame : above - 1;
  };
  uint32_t frame = next(static_cast<uint32_t>(state.frames.size()));
  if (frame == kNoFrame) return kNone<InstanceId>;
  ContextId context = access.context;
  if (!leading_sites_[raw(access.site)]) {
    if (const Frame& callee = state.frames[frame]; callee.unit.context == context) {
      const bool accessor = callee.role.opaque_locks && callee.role.scope == UnitRole::Scope::Additional;
      if (!accessor || callee.self == kNone<InstanceId> || sets_.root(callee.self) != part)
        return kNone<InstanceId>;
      frame = next(frame);
      if (frame == kNoFrame) return kNone<InstanceId>;
    }
    context = tables_.context(context).parent;
  }
  const Frame& caller = state.frames[frame];
  return caller.unit.context == context && !caller.role.transparent ? caller.self : kNone<InstanceId>;
}

// Whether a method of who has taken it is open, or of who has taken that.
bool UnitTracker::inside(Thread& state, InstanceId part) {
  if (state.inside == part && state.inside_version == state.version) return true;
  for (size_t i = 0; i < state.frames.size(); ++i) {
    const InstanceId self = state.frames[i].self;
    if (self == kNone<InstanceId>) continue;
    const InstanceId root = sets_.root(self);
    for (InstanceId up = sets_.taker(part); up != kNone<InstanceId>; up = sets_.taker(up)) {
      if (up != root) continue;
      state.inside = part;
      state.inside_version = state.version;
      return true;
    }
  }
  return false;
}

// Methods that are open may be of an object that has come into other hands.
void UnitTracker::owners_changed() {
  for (std::unique_ptr<Thread>& state : threads_) {
    if (!state) continue;
    bool changed = false;
    for (size_t i = 0; i < state->frames.size(); ++i) {
      Frame& frame = state->frames[i];
      if (frame.self == kNone<InstanceId>) continue;
      const OwnerId owner = sets_.owner_of(frame.self);
      changed |= owner != frame.owner;
      frame.owner = owner;
    }
    state->inside = kNone<InstanceId>;
    if (!changed) continue;
    for (Known& answer : state->known) answer.set = kNone<SetId>;
  }
}

}  // namespace cleave
