#include "units/sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/glob.h"
#include "trace/core/library.h"

namespace cleave {
namespace {

// slots[3] is part of the global slots.
std::string_view whole_array(std::string_view name) { return name.substr(0, name.find('[')); }

// For a person: the type where there is one, else the place of the allocation, since findings are told once
// for all instances. Blocks of one place are numbered: malloc@pool.c:12#3. A container that is a global is
// called what the program calls it.
std::string shown(const ObjectInfo& object) {
  const bool named =
      object.address != 0 && object.name.find('#') == std::string::npos && !is_library_type(object.name);
  if (std::string own = named && is_library_type(object.type) ? without_innards(object.name) : "";
      !own.empty())
    return own;
  if (!object.type.empty() && object.type != kLibraryBlock) return object.type;
  return object.address == 0 ? object.name : object.name.substr(0, object.name.rfind('#'));
}

}  // namespace

bool matches_set(std::string_view glob, std::string_view name) {
  return matches_glob(glob, name) || matches_glob(glob, name.substr(0, name.find('.')));
}

SetMap::Member SetMap::find(VariableId variable) {
  if (raw(variable) >= by_variable_.size()) {
    by_variable_.resize(raw(variable) + 1 + raw(variable) / 2);
    places_.resize(by_variable_.size());
  }
  Variable& known = by_variable_[raw(variable)];
  // Its object has come to belong to another one: the tables need not be asked for what has not changed.
  if (const Place place = places_[raw(variable)]; place.instance != kNone<InstanceId>) {
    return this->place(variable, place);
  }
  const VariableInfo& info = tables_.variable(variable);
  known.owns = (info.flags & VariableInfo::kOwned) != 0 || patterns_.about(info, tables_).owned;
  known.hold = Hold::Fixed;
  known.set = classify(variable);
  return known.member();
}

SetMap::Member SetMap::place(VariableId variable, const Place& place) {
  const InstanceId root = instances_.root(place.instance);
  link(variable, root);
  Variable& known = by_variable_[raw(variable)];
  known.set = set_at(instances_.top(root), place.part);
  known.hold = instances_[root].shared            ? Hold::Fixed
               : taker(root) == kNone<InstanceId> ? Hold::Free
                                                  : Hold::Taken;
  return known.member();
}

// The name that a person has given the set of the variable; empty if none.
const std::string& SetMap::part_of(const VariableInfo& info) {
  const std::string* declared = patterns_.about(info, tables_).set;
  return declared != nullptr ? *declared : info.set;
}

// Whether the set is one of its object.
bool SetMap::in_object(const VariableInfo& info, const std::string& part) const {
  return info.object != kNone<ObjectId> && !(info.flags & VariableInfo::kAtomic && part.empty());
}

SetId SetMap::classify(VariableId variable) {
  if (options_.one) return everything();
  const VariableInfo& info = tables_.variable(variable);
  const std::string& by_hand = hand_declared(variable);
  if (!by_hand.empty()) return intern(kHand, by_hand, {.owner = owner_by_hand(by_hand)});

  const std::string& part = part_of(info);
  if (in_object(info, part)) {
    places_[raw(variable)] = {instances_.of(info.object), part_number(part)};
    return place(variable, places_[raw(variable)]).set;
  }
  if (!part.empty()) return intern(kDeclared, part, {.owner = home(info.home)});
  if (info.flags & VariableInfo::kAtomic) return atomic_set(variable, info);
  if (!info.home.empty()) return intern(kStatics, info.home, {.owner = home(info.home)});
  return intern(kGlobal, whole_array(info.name), {});
}

SetId SetMap::set_at(InstanceId root, uint32_t part) {
  Instance& whole = instances_[root];
  if (part == 0 && whole.set != kNone<SetId>) return whole.set;
  const uint64_t key = uint64_t{raw(root)} << 32 | part;
  if (part != 0) {
    if (auto known = named_parts_.find(key); known != named_parts_.end()) return known->second;
  }
  if (whole.owner == kNone<OwnerId>) whole.owner = OwnerId{next_owner_++};
  SetInfo made{.owner = whole.owner, .gone = whole.holds == 0};
  if (whole.object != kNone<ObjectId>) {
    made.name = name(shown(tables_.object(whole.object)));
    made.machinery = is_std_internal(tables_.object(whole.object).type);
  } else {
    made.name = whole.name;
    made.machinery = whole.machinery;
  }
  if (part == 0) return whole.set = add(made);
  const std::string& own = *parts_[part - 1];
  made.name = own.find('.') == std::string::npos ? name(std::string(made.name) + "." + own) : own;
  whole.named_parts = true;
  return named_parts_[key] = add(made);
}

SetId SetMap::atomic_set(VariableId variable, const VariableInfo& info) {
  auto [known, fresh] = atomic_sets_.try_emplace(raw(variable), kNone<SetId>);
  if (fresh) known->second = add({.name = name(info.name), .atomic = true});
  return known->second;
}

SetId SetMap::add(SetInfo info) {
  if (free_sets_.empty()) {
    sets_.push_back(info);
    return id_of<SetId>(sets_.size() - 1);
  }
  const SetId set = free_sets_.back();
  free_sets_.pop_back();
  sets_[raw(set)] = info;
  return set;
}

// Of which nobody has to tell the name.
void SetMap::end(SetId set) {
  sets_[raw(set)].gone = true;
  gone_.push_back(set);
}

void SetMap::reuse_gone() {
  free_sets_.insert(free_sets_.end(), gone_.begin(), gone_.end());
  gone_.clear();
  fresh_gone_ = 0;
}

template <typename Action>
void SetMap::each_set(InstanceId instance, Action&& action) {
  const Instance& of = instances_[instance];
  if (of.set != kNone<SetId>) action(of.set);
  for (uint32_t part = 1; of.named_parts && part <= parts_.size(); ++part) {
    auto named = named_parts_.find(uint64_t{raw(instance)} << 32 | part);
    if (named != named_parts_.end()) action(named->second);
  }
}

// Takes in what instances have lost.
void SetMap::settle() {
  for (InstanceId empty : instances_.take_empty()) {
    each_set(empty, [&](SetId set) {
      fresh_gone_ += !sets_[raw(set)].gone;
      sets_[raw(set)].gone = true;
    });
  }
  for (;;) {
    std::vector<InstanceId> unused = instances_.take_unused();
    if (unused.empty()) return;
    for (InstanceId instance : unused) remove(instance);
  }
}

SetId SetMap::intern(Kind kind, std::string_view name, SetInfo info) {
  ByText<SetId>& known = by_name_[kind];
  if (auto it = known.find(name); it != known.end()) return it->second;
  // Of a file people say the last part, and what they say is the same in every checkout.
  info.name = this->name(kind == kStatics ? name.substr(name.rfind('/') + 1) : name);
  return known[std::string(name)] = add(info);
}

std::string_view SetMap::name(std::string_view text) {
  auto known = names_.find(text);
  return known != names_.end() ? *known : *names_.emplace(text).first;
}

uint32_t SetMap::part_number(std::string_view part) {
  if (part.empty()) return 0;
  if (auto known = part_numbers_.find(part); known != part_numbers_.end()) return known->second;
  auto made = part_numbers_.emplace(part, static_cast<uint32_t>(parts_.size() + 1)).first;
  parts_.push_back(&made->first);  // keys of an unordered_map stay where they are
  return made->second;
}

OwnerId SetMap::home(std::string_view name) {
  if (name.empty()) return kNone<OwnerId>;
  auto [it, fresh] = homes_.try_emplace(std::string(name), OwnerId{next_owner_});
  next_owner_ += fresh;
  return it->second;
}

void SetMap::link(VariableId variable, InstanceId root) {
  Variable& linked = by_variable_[raw(variable)];
  unlink(linked);
  uint32_t& first = instances_[root].first_member;
  linked.before = kHead | raw(root);
  linked.next = first;
  if (first != kNobody) by_variable_[first].before = raw(variable);
  first = raw(variable);
}

void SetMap::unlink(Variable& variable) {
  if (variable.before == kNobody) return;
  if (variable.next != kNobody) by_variable_[variable.next].before = variable.before;
  (variable.before & kHead ? instances_[InstanceId{variable.before & ~kHead}].first_member
                           : by_variable_[variable.before].next) = variable.next;
  variable.before = variable.next = kNobody;
}

void SetMap::own(ObjectId whole, ObjectId part) {
  const InstanceId owned = instances_.root(instances_.of(part)), owner = instances_.of(whole);
  if (instances_.root(owner) == owned) return;
  release_all(owned);
  instances_.own(owner, owned);
  ask_again(owned);
}

bool SetMap::take(InstanceId whole, InstanceId part) {
  constexpr uint8_t kDeepest = 8, kMostHands = 8;
  const bool taken_before = taker(part) != kNone<InstanceId>;
  release(part);
  whole = instances_.top(whole);
  if (whole == part) return taken_before;
  ask_again(part);
  Instance& taken = instances_[part];
  taken.shared = ++taken.hands > kMostHands || taken.takers_below >= kDeepest;
  if (!taken.shared) instances_.take(whole, part);
  return true;
}

void SetMap::share(InstanceId part) {
  instances_[part].shared = true;
  release(part);
  ask_again(part);
}

void SetMap::release(InstanceId part) {
  if (taker(part) == kNone<InstanceId>) return;
  ask_again(part);
  instances_.release(part);
  settle();
}

// It stops being outermost. What it had taken is taken anew when it is reached again.
void SetMap::release_all(InstanceId whole) {
  release(whole);
  while (instances_[whole].first_taken != kNone<InstanceId>) release(instances_[whole].first_taken);
}

void SetMap::refresh() {
  const TableChanges& changes = tables_.changes();
  changes_read_ = std::max(changes_read_, changes.outer_set_dropped);
  moves_read_ = std::max(moves_read_, changes.moved_dropped);
  std::span<const ObjectId> outer_set =
      std::span(changes.outer_set).subspan(changes_read_ - changes.outer_set_dropped);
  changes_read_ += outer_set.size();
  if (!outer_set.empty()) {
    // Whoever held it until now has its variables; if nobody did, it has them itself.
    for (ObjectId object : outer_set) {
      const InstanceId known = instances_.known(object);
      if (known == kNone<InstanceId>) continue;
      if (tables_.object(object).outer != kNone<ObjectId>) release_all(known);
      ask_again(instances_.root(known));
    }
    instances_.outer_changed(outer_set);
    settle();
  }
  for (; moves_read_ < changes.moved_dropped + changes.moved.size(); ++moves_read_) {
    uint32_t variable = raw(changes.moved[moves_read_ - changes.moved_dropped]);
    if (variable >= by_variable_.size()) continue;
    unlink(by_variable_[variable]);
    by_variable_[variable] = {};
    places_[variable] = {};
  }
}

// Of what belonged to it, to whom does it belong now?
void SetMap::ask_again(InstanceId root) {
  for (uint32_t next = instances_[root].first_member; next != kNobody;) {
    Variable& variable = by_variable_[next];
    next = variable.next;
    variable.set = kNone<SetId>;
    variable.next = variable.before = kNobody;
  }
  instances_[root].first_member = kNobody;
  for (InstanceId part = instances_[root].first_taken; part != kNone<InstanceId>;
       part = instances_[part].next_taken)
    ask_again(part);
}

void SetMap::forget(const FreedIds& freed) {
  for (VariableId variable : freed.variables) forget(variable);
  for (ObjectId object : freed.objects) forget(object);
  settle();
}

void SetMap::forget(VariableId variable) {
  if (raw(variable) >= by_variable_.size()) return;
  unlink(by_variable_[raw(variable)]);
  by_variable_[raw(variable)] = {};
  places_[raw(variable)] = {};
  if (atomic_sets_.empty()) return;
  auto atomic = atomic_sets_.find(raw(variable));
  if (atomic == atomic_sets_.end()) return;
  end(atomic->second);
  atomic_sets_.erase(atomic);
}

void SetMap::forget(ObjectId object) {
  const InstanceId instance = instances_.known(object);
  if (instance == kNone<InstanceId>) return;
  if (instances_[instance].uses > 1) {
    instances_[instance].name = name(shown(tables_.object(object)));
    instances_[instance].machinery = is_std_internal(tables_.object(object).type);
  }
  instances_.ended(instance);
}

void SetMap::remove(InstanceId instance) {
  const uint32_t first = instances_[instance].first_member;
  for (uint32_t member = first; member != kNobody; member = by_variable_[member].next) places_[member] = {};
  ask_again(instance);
  each_set(instance, [&](SetId set) { end(set); });
  for (uint32_t part = 1; instances_[instance].named_parts && part <= parts_.size(); ++part)
    named_parts_.erase(uint64_t{raw(instance)} << 32 | part);
  instances_.remove(instance);
}

SetMap::Kept SetMap::keep(VariableId variable) {
  const VariableInfo& info = tables_.variable(variable);
  const std::string& part = part_of(info);
  if (options_.one || !hand_declared(variable).empty() || !in_object(info, part))
    return {.name = this->info(set_of(variable)).name};
  Kept kept{.name = {}, .instance = instances_.of(info.object), .part = part_number(part)};
  instances_.use(kept.instance);
  return kept;
}

void SetMap::drop(const Kept& kept) {
  if (kept.instance != kNone<InstanceId>) instances_.unuse(kept.instance);
}

std::string_view SetMap::name_of(const Kept& kept) {
  if (kept.instance == kNone<InstanceId>) return kept.name;
  return info(set_at(instances_.top(kept.instance), kept.part)).name;
}

std::vector<UnmatchedPattern> SetMap::unmatched() const {
  return options_.one ? std::vector<UnmatchedPattern>() : patterns_.unmatched();
}

bool SetMap::ever_had(std::string_view glob) const {
  return std::any_of(names_.begin(), names_.end(),
                     [&](const std::string& name) { return matches_set(glob, name); });
}

// A set of fields of one object is one of that object's.
OwnerId SetMap::owner_by_hand(const std::string& set) {
  std::optional<ObjectId> object;
  for (const auto& [name, members] : tables_.declared_sets()) {
    if (name != set) continue;
    for (VariableId member : members) {
      const ObjectId of = tables_.variable(member).object;
      if (object.value_or(of) != of) return kNone<OwnerId>;
      object = of;
    }
  }
  return !object || *object == kNone<ObjectId> ? kNone<OwnerId> : owner_of(instances_.of(*object));
}

const std::string& SetMap::hand_declared(VariableId variable) {
  static const std::string none;
  if (tables_.declared_sets().size() != declared_read_) {
    declared_read_ = tables_.declared_sets().size();
    for (const auto& [name, members] : tables_.declared_sets()) {
      for (VariableId member : members) declared_by_hand_[raw(member)] = name;
    }
  }
  auto it = declared_by_hand_.find(raw(variable));
  return it == declared_by_hand_.end() ? none : it->second;
}

}  // namespace cleave
