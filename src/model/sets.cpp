#include "model/sets.h"

#include <fmt/format.h>

#include "model/glob.h"
#include "trace/library.h"

namespace cleave {
namespace {

// slots[3] is part of the global slots.
std::string_view whole_array(std::string_view name) { return name.substr(0, name.find('[')); }

// For a person: the type where there is one, else the place of the allocation, since findings are told once for all
// instances. Blocks of one place are numbered: malloc@pool.c:12#3. A container that is a global is called what the program
// calls it.
std::string shown(const ObjectInfo& object) {
  const bool named = object.address != 0 && object.name.find('#') == std::string::npos && !is_library_type(object.name);
  if (std::string own = named && is_library_type(object.type) ? without_innards(object.name) : ""; !own.empty()) return own;
  if (!object.type.empty() && object.type != kLibraryBlock) return object.type;
  return object.address == 0 ? object.name : object.name.substr(0, object.name.rfind('#'));
}

}  // namespace

SetMap::Member SetMap::find(VariableId variable) {
  if (raw(variable) >= by_variable_.size()) by_variable_.resize(raw(variable) + 1 + raw(variable) / 2);
  bool owns = (tables_.variable(variable).flags & VariableInfo::kOwned) != 0;
  return by_variable_[raw(variable)] = {classify(variable), owns};
}

SetId SetMap::classify(VariableId variable) {
  if (options_.one) return everything();
  const VariableInfo& info = tables_.variable(variable);
  const std::string& by_hand = hand_declared(variable);
  if (!by_hand.empty()) return intern("hand:" + by_hand, {.name = by_hand});

  const SetDeclaration* declared = declaration_of(info);
  std::string part = declared ? declared->name : info.set;
  if (info.object != kNone<ObjectId> && !(info.flags & VariableInfo::kAtomic && part.empty())) {
    ObjectId object = root(info.object);
    members_[raw(object)].push_back(variable);
    if (part.empty()) {
      if (raw(object) >= set_by_root_.size()) set_by_root_.resize(raw(object) + 1 + raw(object) / 2, kNone<SetId>);
      if (set_by_root_[raw(object)] != kNone<SetId>) return set_by_root_[raw(object)];
    }
    std::string name = shown(tables_.object(object));
    if (!part.empty()) name = part.find('.') == std::string::npos ? name + "." + part : part;
    SetInfo made{.name = name, .owner = owner_of(object), .machinery = is_machinery(tables_.object(object).type)};
    if (!part.empty()) return intern(fmt::format("object:{}:{}", raw(object), part), std::move(made));
    sets_.push_back(std::move(made));
    return set_by_root_[raw(object)] = id_of<SetId>(sets_.size() - 1);
  }
  if (!part.empty()) return intern("declared:" + part, {.name = part, .owner = home(info.home)});
  if (info.flags & VariableInfo::kAtomic) {
    return intern(fmt::format("atomic:{}", raw(variable)), {.name = info.name, .atomic = true});
  }
  if (!info.home.empty())
    return intern("statics:" + info.home, {.name = info.home, .owner = home(info.home)});
  std::string global(whole_array(info.name));
  return intern("global:" + global, {.name = global});
}

SetId SetMap::intern(std::string key, SetInfo info) {
  auto [it, fresh] = by_key_.try_emplace(std::move(key), id_of<SetId>(sets_.size()));
  if (fresh) sets_.push_back(std::move(info));
  return it->second;
}

OwnerId SetMap::intern_owner(std::string key) {
  return owners_.try_emplace(std::move(key), id_of<OwnerId>(owners_.size())).first->second;
}

OwnerId SetMap::owner_of(ObjectId object) {
  if (object == kNone<ObjectId>) return kNone<OwnerId>;
  uint32_t outermost = raw(root(object));
  if (outermost >= owner_by_root_.size()) owner_by_root_.resize(outermost + 1 + outermost / 2, kNone<OwnerId>);
  OwnerId& owner = owner_by_root_[outermost];
  if (owner == kNone<OwnerId>) owner = intern_owner(fmt::format("object:{}", outermost));
  return owner;
}

OwnerId SetMap::home(std::string_view name) {
  return name.empty() ? kNone<OwnerId> : intern_owner("home:" + std::string(name));
}

ObjectId SetMap::above(ObjectId object) const {
  if (raw(object) < shortcuts_.size() && shortcuts_[raw(object)] != kNone<ObjectId>) return shortcuts_[raw(object)];
  if (!owned_by_.empty()) {
    auto owned = owned_by_.find(raw(object));
    if (owned != owned_by_.end()) return owned->second;
  }
  return tables_.object(object).outer;
}

// A list whose nodes own the next one is as long as it likes: the way up is walked once. What is above an object stays
// there, whatever comes to be above that.
ObjectId SetMap::root(ObjectId object) {
  // Ownership is a forest by construction (own refuses circles), so this ends.
  ObjectId top = object;
  size_t steps = 0;
  for (ObjectId up = above(top); up != kNone<ObjectId> && up != top; up = above(top), ++steps) top = up;
  if (steps < 2) return top;
  if (shortcuts_.size() < tables_.objects().size()) shortcuts_.resize(tables_.objects().size(), kNone<ObjectId>);
  while (object != top) {
    ObjectId next = above(object);
    shortcuts_[raw(object)] = top;
    object = next;
  }
  return top;
}

void SetMap::own(ObjectId whole, ObjectId part) {
  part = root(part);
  if (root(whole) == part || owned_by_.contains(raw(part))) return;
  owned_by_[raw(part)] = whole;
  ask_again(part);
}

void SetMap::refresh() {
  const std::vector<ObjectId>& changed = tables_.changes().outer_set;
  for (; changes_read_ < changed.size(); ++changes_read_) {
    uint32_t object = raw(changed[changes_read_]);
    // What had something above it and now has something else: the ways up through it are wrong.
    if (object < shortcuts_.size() && shortcuts_[object] != kNone<ObjectId>) shortcuts_.clear();
    ask_again(changed[changes_read_]);
  }
  const std::vector<VariableId>& moved = tables_.changes().moved;
  for (; moves_read_ < moved.size(); ++moves_read_) {
    uint32_t variable = raw(moved[moves_read_]);
    if (variable < by_variable_.size()) by_variable_[variable] = {};
  }
}

void SetMap::ask_again(ObjectId object) {
  auto it = members_.find(raw(object));
  if (it == members_.end()) return;
  for (VariableId variable : it->second) by_variable_[raw(variable)] = {};
  members_.erase(it);
}

const SetDeclaration* SetMap::declaration_of(const VariableInfo& info) const {
  if (options_.declared.empty()) return nullptr;
  std::string field;
  if (info.object != kNone<ObjectId>) field = tables_.object(info.object).type + "::" + info.field;
  for (const SetDeclaration& declaration : options_.declared) {
    for (const std::string& member : declaration.members) {
      if ((!field.empty() && matches_glob(member, field)) || matches_glob(member, info.name))
        return &declaration;
    }
  }
  return nullptr;
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
