#include "units/instances.h"

#include <algorithm>

namespace cleave {

InstanceId Instances::make_one(ObjectId object) {
  InstanceId id;
  if (free_.empty()) {
    id = id_of<InstanceId>(all_.size());
    all_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
    all_[raw(id)] = {};
  }
  if (raw(object) >= by_object_.size())
    by_object_.resize(raw(object) + 1 + raw(object) / 2, kNone<InstanceId>);
  by_object_[raw(object)] = id;
  all_[raw(id)].object = object;
  all_[raw(id)].holds = all_[raw(id)].uses = 1;
  return id;
}

InstanceId Instances::make(ObjectId object) {
  const InstanceId made = make_one(object);
  for (InstanceId below = made;;) {
    const ObjectId self = all_[raw(below)].object, outer = tables_.object(self).outer;
    if (outer == kNone<ObjectId> || outer == self) return made;
    InstanceId above = known(outer);
    const bool fresh = above == kNone<InstanceId>;
    if (fresh) above = make_one(outer);
    attach(below, above);
    if (!fresh) return made;
    below = above;
  }
}

// What holds something that holds something is held by what is above it, so the numbers further up do not
// change.
void Instances::attach(InstanceId id, InstanceId above) {
  all_[raw(id)].above = above;
  ++all_[raw(above)].uses;
  all_[raw(above)].holds += all_[raw(id)].holds != 0;
}

void Instances::detach(InstanceId id, InstanceId from) {
  if (all_[raw(id)].holds != 0) let_go(from);
  unuse(from);
}

// It holds one less.
void Instances::let_go(InstanceId id) {
  while (id != kNone<InstanceId> && --all_[raw(id)].holds == 0) {
    empty_.push_back(id);
    id = all_[raw(id)].above != kNone<InstanceId> ? all_[raw(id)].above : all_[raw(id)].taker;
  }
}

void Instances::take(InstanceId taker, InstanceId part) {
  Instance &whole = all_[raw(taker)], &taken = all_[raw(part)];
  taken.taker = taker;
  taken.next_taken = whole.first_taken;
  if (whole.first_taken != kNone<InstanceId>) all_[raw(whole.first_taken)].before_taken = part;
  whole.first_taken = part;
  whole.takers_below = std::max<uint8_t>(whole.takers_below, static_cast<uint8_t>(taken.takers_below + 1));
  ++whole.uses;
  whole.holds += taken.holds != 0;
}

void Instances::unlink_taken(InstanceId part) {
  Instance& taken = all_[raw(part)];
  (taken.before_taken != kNone<InstanceId> ? all_[raw(taken.before_taken)].next_taken
                                           : all_[raw(taken.taker)].first_taken) = taken.next_taken;
  if (taken.next_taken != kNone<InstanceId>) all_[raw(taken.next_taken)].before_taken = taken.before_taken;
  taken.taker = taken.next_taken = taken.before_taken = kNone<InstanceId>;
}

void Instances::release(InstanceId part) {
  const InstanceId taker = all_[raw(part)].taker;
  unlink_taken(part);
  detach(part, taker);
}

// A list whose nodes own the next one is as long as it likes: the way up is walked once. What is above an
// object stays there, whatever comes to be above that. What holds what is a forest by construction, so this
// ends.
InstanceId Instances::root_slowly(InstanceId id) {
  InstanceId top = id;
  size_t steps = 0;
  for (InstanceId up = step(top); up != kNone<InstanceId>; up = step(top), ++steps) top = up;
  if (steps < 2) return top;
  while (id != top) {
    pass_over_ended(id);
    InstanceId next = step(id);
    all_[raw(id)].shortcut = top;
    all_[raw(id)].era = era_;
    id = next;
  }
  return top;
}

// Nothing changes any more between an owner that has ended and what holds that. An object that goes from
// owner to owner would have a longer way up each time.
void Instances::pass_over_ended(InstanceId id) {
  for (;;) {
    const InstanceId above = all_[raw(id)].above, next = all_[raw(above)].above;
    if (all_[raw(above)].object != kNone<ObjectId> || next == kNone<InstanceId>) return;
    attach(id, next);
    detach(id, above);
    ++era_;  // shortcuts may lead there, and it may go before what has them
  }
}

void Instances::own(InstanceId whole, InstanceId part) {
  attach(part, whole);
  all_[raw(part)].owned = true;
}

bool Instances::is_above(InstanceId id, InstanceId below) const {
  while (below != id && below != kNone<InstanceId>) below = all_[raw(below)].above;
  return below == id;
}

// All are taken out before any is put into another: in between it might look as if two held each other.
void Instances::outer_changed(std::span<const ObjectId> objects) {
  std::vector<std::pair<InstanceId, InstanceId>> left;
  for (ObjectId object : objects) {
    const InstanceId id = known(object);
    if (id == kNone<InstanceId> || all_[raw(id)].owned) continue;  // whoever owns it comes first
    InstanceId& above = all_[raw(id)].above;
    if (above != kNone<InstanceId>) left.emplace_back(id, std::exchange(above, kNone<InstanceId>));
  }
  if (!left.empty()) ++era_;
  for (ObjectId object : objects) {
    const InstanceId id = known(object);
    const ObjectId outer = tables_.object(object).outer;
    if (id == kNone<InstanceId> || all_[raw(id)].above != kNone<InstanceId> || outer == kNone<ObjectId>)
      continue;
    const InstanceId now = of(outer);
    if (!is_above(id, now)) attach(id, now);
  }
  for (auto [id, from] : left) detach(id, from);
}

void Instances::ended(InstanceId id) {
  by_object_[raw(all_[raw(id)].object)] = kNone<InstanceId>;
  all_[raw(id)].object = kNone<ObjectId>;
  let_go(id);
  unuse(id);
}

void Instances::remove(InstanceId id) {
  free_.push_back(id);
  if (all_[raw(id)].above != kNone<InstanceId>) unuse(all_[raw(id)].above);
  const InstanceId taker = all_[raw(id)].taker;
  if (taker == kNone<InstanceId>) return;
  unlink_taken(id);
  unuse(taker);
}

}  // namespace cleave
