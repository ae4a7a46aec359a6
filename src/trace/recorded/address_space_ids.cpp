// What has ended leaves its id to others.
#include "trace/recorded/address_space.h"

namespace cleave {

void AddressSpace::give_back(const FreedIds& ids) {
  free_.append(ids);
  if (wholes_.empty()) return;
  for (VariableId variable : ids.variables) {
    if (wholes_.erase(raw(variable)) == 0) continue;
    auto place = innards_.find(builder_.tables().variable(variable).address);
    if (place != innards_.end() && place->second == variable) innards_.erase(place);
  }
}

VariableId AddressSpace::make(VariableInfo info) {
  hold(info.object);
  if (free_.variables.empty()) return builder_.add_variable(std::move(info));
  VariableId id = free_.variables.back();
  free_.variables.pop_back();
  change(id) = std::move(info);
  return id;
}

ObjectId AddressSpace::make(ObjectInfo info) {
  if (free_.objects.empty()) {
    if (ended_ != nullptr) uses_.push_back(0);
    return builder_.add_object(std::move(info));
  }
  ObjectId id = free_.objects.back();
  free_.objects.pop_back();
  change(id) = std::move(info);
  return id;
}

SyncId AddressSpace::make(SyncInfo info) {
  if (free_.syncs.empty()) return builder_.add_sync(std::move(info));
  SyncId id = free_.syncs.back();
  free_.syncs.pop_back();
  change(id) = std::move(info);
  return id;
}

void AddressSpace::set_outer(ObjectId part, ObjectId whole) {
  ObjectId before = builder_.tables().object(part).outer;
  hold(whole);
  builder_.set_outer(part, whole);
  drop(before);
}

// Its entry stays as it is until another takes its place. What only it was in, as it may for long chains,
// ends with it.
void AddressSpace::end_object(ObjectId object) {
  ending_.assign(1, object);
  auto drop = [&](ObjectId outer) {
    if (outer != kNone<ObjectId> && --uses_[raw(outer)] == 0) ending_.push_back(outer);
  };
  while (!ending_.empty()) {
    ObjectId ended = ending_.back();
    ending_.pop_back();
    ended_->objects.push_back(ended);
    if (auto member = outers_.find(raw(ended)); member != outers_.end()) {
      drop(member->second.object);
      outers_.erase(member);
    }
    drop(builder_.tables().object(ended).outer);
  }
}

void AddressSpace::end_variables(std::span<const VariableId> variables) {
  for (VariableId variable : variables) drop(builder_.tables().variable(variable).object);
}

void AddressSpace::end_whole(VariableId variable) {
  if (ended_ == nullptr) return;
  wholes_.insert(raw(variable));
  drop(builder_.tables().variable(variable).object);
  ended_->variables.push_back(variable);
}

}  // namespace cleave
