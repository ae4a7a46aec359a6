// Which set a variable belongs to (Marathon 4.1, carried over to C and C++).
//
//   a field of an object              the set of the outermost object that holds it by value, or owns it; or
//   of the one that
//                                     has taken that (take())
//   a field with CLEAVE_SET("name")   the set "name" of that object; cleave.toml says the same from outside
//                                     (set_patterns.h), as it does of CLEAVE_OWNED
//   a static field of a class         the set of the class's static fields
//   a file-scope static of a C file   the set of the file
//   any other global                  a set of its own (an array is one global)
//   an atomic variable                a set of its own, on which only units that span everything are
//   declared: the
//                                     heuristics say nothing about atomics, a unit that a person marked does
//   `set NAME x y` of a text trace    that set; overrides all of the above. One of fields of one object is
//   that object's
//
// With `one`, all memory is one set.
//
// Where ids of variables and objects are used again (trace/core/stream.h) the map has to be told what has
// ended. It then holds what is there, and what is not there any more but holds something that is.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/ids.h"
#include "trace/core/stream.h"
#include "trace/core/trace.h"
#include "units/instances.h"
#include "units/set_patterns.h"

namespace cleave {

struct SetInfo {
  std::string_view name;  // for people, and the same for every instance of a type: Account, Account.money
  OwnerId owner = kNone<OwnerId>;  // kNone: only units that span everything are declared on it
  bool atomic = false;             // of an atomic variable: the heuristics stay away
  bool machinery =
      false;  // of an object of the standard library's: what its own code does there is its own affair
  bool gone = false;  // nothing is in it and nothing will be: it is there for its name only
};

// Of what an object is outermost, or is in: nobody may take it; nobody has taken it; somebody has.
enum class Hold : uint8_t { Fixed, Free, Taken };

struct SetOptions {
  bool one = false;
  std::vector<SetDeclaration> declared;  // [sets] of cleave.toml
  std::vector<std::string> owned;        // [fields] owned of cleave.toml: globs
};

// Whether a set is meant by a glob: by its name as reports have it, or by what stands before the dot of
// Account.money.
bool matches_set(std::string_view glob, std::string_view name);

// Computed on first use and kept, so a growing trace is no trouble. Amortised O(1) a question. Not for
// several threads.
class SetMap {
 public:
  // `tables` must outlive the map; it may grow.
  SetMap(SetOptions options, const Trace& tables)
      : options_(std::move(options)),
        tables_(tables),
        patterns_(options_.declared, options_.owned),
        instances_(tables) {}

  // What an access has to know of its variable, in one place.
  struct Member {
    SetId set = kNone<SetId>;
    bool owns = false;  // a pointer that owns what it points to
    Hold hold = Hold::Fixed;
  };
  Member member(VariableId variable) {
    if (raw(variable) < by_variable_.size() && by_variable_[raw(variable)].set != kNone<SetId>) [[likely]]
      return by_variable_[raw(variable)].member();
    return find(variable);
  }
  SetId set_of(VariableId variable) { return member(variable).set; }
  void prefetch(uint32_t variable) const {
    if (variable < by_variable_.size()) __builtin_prefetch(&by_variable_[variable]);
  }
  const SetInfo& info(SetId set) const { return sets_[raw(set)]; }
  bool one() const { return options_.one; }

  // All memory, of `one`.
  SetId everything() { return intern(kGlobal, "all memory", {}); }
  OwnerId owner_of(InstanceId instance) {
    OwnerId& owner = instances_[instances_.top(instance)].owner;
    if (owner == kNone<OwnerId>) owner = OwnerId{next_owner_++};
    return owner;
  }
  // An object that is there, to be told what becomes of it; it has to be let go of.
  InstanceId follow(ObjectId object) {
    const InstanceId instance = instances_.of(object);
    instances_.follow(instance);
    return instance;
  }
  void let_go(InstanceId instance) { instances_.unfollow(instance); }
  // Owner of the static fields of a class, or of the statics of a file. kNone for an empty name.
  OwnerId home(std::string_view name);
  // From now on the fields of `part` belong to the sets of `whole` (CLEAVE_OWNED, std::unique_ptr).
  // O(variables of `part` so far).
  void own(ObjectId whole, ObjectId part);
  // Takes in what growing tables have learned about objects within objects.
  void refresh();

  // The outermost object that a variable of Hold::Free or Taken lies in.
  InstanceId part_of(VariableId variable) { return instances_.root(places_[raw(variable)].instance); }
  InstanceId root(InstanceId instance) { return instances_.root(instance); }
  // Who has taken it; kNone: nobody.
  InstanceId taker(InstanceId part) const { return instances_[part].taker; }
  // From now on the variables of `part` (part_of()) belong to the sets of `whole`, which may have taken it
  // from another. Several times that is possible; then it is shared. False: nothing has changed. O(variables
  // of `part` so far), as the next one is.
  bool take(InstanceId whole, InstanceId part);
  // Nobody has it, and nobody will.
  void share(InstanceId part);

  // These have ended; the tables still have them. O(1) each, amortised.
  void forget(const FreedIds& freed);
  // Sets that are gone (SetInfo::gone), when they are many: whoever refers to sets has to let go of them,
  // then call reuse_gone(), after which the numbers of those without a name to tell are others'.
  bool many_gone() const { return fresh_gone_ + gone_.size() > kFewGone + live_sets() / 2; }
  void reuse_gone();

  // The set of a variable that is about to end, for somebody who has to tell its name later.
  struct Kept {
    std::string_view name;  // if it is of no object
    InstanceId instance = kNone<InstanceId>;
    uint32_t part = 0;
  };
  Kept keep(VariableId variable);
  void drop(const Kept& kept);
  // What it is called now.
  std::string_view name_of(const Kept& kept);

  // Patterns of the options that fitted none of the variables that were asked about. None with `one`, which
  // does without.
  std::vector<UnmatchedPattern> unmatched() const;
  // Whether there ever was a set that the glob means.
  bool ever_had(std::string_view glob) const;

  // How many entries there are for objects and sets, for those who count memory.
  size_t size() const { return instances_.size() + live_sets() + gone_.size(); }

 private:
  static constexpr uint32_t kNobody = UINT32_MAX, kHead = 1u << 31;
  static constexpr size_t kFewGone = 64;
  // The set of a variable, and the list of all that belong to the same outermost object.
  struct Variable {
    SetId set = kNone<SetId>;
    uint32_t next = kNobody;
    uint32_t before = kNobody;  // kHead + instance: it is the first
    bool owns = false;
    Hold hold = Hold::Fixed;
    Member member() const { return {set, owns, hold}; }
  };
  // What decides it, of one that lies in an object: that, and the number of the name that a person gave.
  struct Place {
    InstanceId instance = kNone<InstanceId>;
    uint32_t part = 0;
  };
  // By text, without a copy of it.
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  template <typename Value>
  using ByText = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;
  enum Kind : uint8_t { kHand, kDeclared, kStatics, kGlobal, kKinds };  // of sets that are of no object

  size_t live_sets() const { return sets_.size() - free_sets_.size() - gone_.size(); }
  Member find(VariableId variable);
  SetId classify(VariableId variable);
  bool in_object(const VariableInfo& info, const std::string& part) const;
  const std::string& part_of(const VariableInfo& info);
  Member place(VariableId variable, const Place& place);
  SetId set_at(InstanceId root, uint32_t part);
  SetId atomic_set(VariableId variable, const VariableInfo& info);
  SetId add(SetInfo info);
  void end(SetId set);
  void settle();
  template <typename Action>
  void each_set(InstanceId instance, Action&& action);
  SetId intern(Kind kind, std::string_view name, SetInfo info);
  std::string_view name(std::string_view text);
  uint32_t part_number(std::string_view part);
  void link(VariableId variable, InstanceId root);
  void unlink(Variable& variable);
  void ask_again(InstanceId root);
  void release(InstanceId part);
  void release_all(InstanceId whole);
  void forget(VariableId variable);
  void forget(ObjectId object);
  void remove(InstanceId instance);
  const std::string& hand_declared(VariableId variable);
  OwnerId owner_by_hand(const std::string& set);

  SetOptions options_;
  const Trace& tables_;
  SetPatterns patterns_;
  Instances instances_;
  std::vector<Variable> by_variable_;
  std::vector<Place> places_;  // by variable
  std::vector<SetInfo> sets_;
  std::vector<SetId> free_sets_, gone_;  // to be used again: at once, after reuse_gone()
  size_t fresh_gone_ = 0;                // gone since reuse_gone()
  std::unordered_set<std::string, TextHash, std::equal_to<>> names_;  // of sets
  std::array<ByText<SetId>, kKinds> by_name_;                         // those that are of no object
  boost::unordered_flat_map<uint64_t, SetId> named_parts_;  // outermost instance and number of the name
  boost::unordered_flat_map<uint32_t, SetId> atomic_sets_;  // of variables
  ByText<uint32_t> part_numbers_;                           // from 1
  std::vector<const std::string*> parts_;
  ByText<OwnerId> homes_;
  uint32_t next_owner_ = 0;
  std::unordered_map<uint32_t, std::string> declared_by_hand_;  // variable → set of a text trace
  size_t changes_read_ = 0, moves_read_ = 0;                    // of Trace::changes()
  size_t declared_read_ = 0;                                    // declared_sets() when that was made
};

}  // namespace cleave
