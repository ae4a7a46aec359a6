// Which set a variable belongs to (Marathon 4.1, carried over to C and C++).
//
//   a field of an object              the set of the outermost object that holds it by value, or owns it
//   a field with CLEAVE_SET("name")   the set "name" of that object; cleave.toml says the same from outside
//   a static field of a class         the set of the class's static fields
//   a file-scope static of a C file   the set of the file
//   any other global                  a set of its own (an array is one global)
//   an atomic variable                a set of its own, on which only units that span everything are
//   declared: the
//                                     heuristics say nothing about atomics, a unit that a person marked does
//   `set NAME x y` of a text trace    that set; overrides all of the above
//
// With `one`, all memory is one set.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "trace/trace.h"

namespace cleave {

enum class SetId : uint32_t {};
enum class OwnerId : uint32_t {
};  // what a unit is declared on: an object, the statics of a class or of a file

struct SetInfo {
  std::string name;  // for people, and the same for every instance of a type: Account, Account.money
  OwnerId owner = kNone<OwnerId>;  // kNone: only units that span everything are declared on it
  bool atomic = false;             // of an atomic variable: the heuristics stay away
  bool machinery = false;          // of an object of the standard library's: what its own code does there is its own affair
};

// [sets] of cleave.toml: "Account.money" = ["Account::checking", "Account::savings"]. Globs over Type::field
// and names of globals. Fields give one such set an object.
struct SetDeclaration {
  std::string name;
  std::vector<std::string> members;
};

struct SetOptions {
  bool one = false;
  std::vector<SetDeclaration> declared;
};

// Computed on first use and kept, so a growing trace is no trouble. Amortised O(1) a question. Not for
// several threads.
class SetMap {
 public:
  // `tables` must outlive the map; it may grow.
  SetMap(SetOptions options, const Trace& tables) : options_(std::move(options)), tables_(tables) {}

  // What an access has to know of its variable, in one place.
  struct Member {
    SetId set = kNone<SetId>;
    bool owns = false;  // a pointer that owns what it points to
  };
  Member member(VariableId variable) {
    if (raw(variable) < by_variable_.size() && by_variable_[raw(variable)].set != kNone<SetId>)
      return by_variable_[raw(variable)];
    return find(variable);
  }
  SetId set_of(VariableId variable) { return member(variable).set; }
  void prefetch(uint32_t variable) const {
    if (variable < by_variable_.size()) __builtin_prefetch(&by_variable_[variable]);
  }
  const SetInfo& info(SetId set) const { return sets_[raw(set)]; }
  size_t size() const { return sets_.size(); }
  bool one() const { return options_.one; }

  // All memory, of `one`.
  SetId everything() { return intern("one", {.name = "all memory"}); }
  OwnerId owner_of(ObjectId object);
  // Owner of the static fields of a class, or of the statics of a file. kNone for an empty name.
  OwnerId home(std::string_view name);
  // From now on the fields of `part` belong to the sets of `whole` (CLEAVE_OWNED, std::unique_ptr).
  // O(variables of `part` so far).
  void own(ObjectId whole, ObjectId part);
  // Takes in what growing tables have learned about objects within objects.
  void refresh();

 private:
  Member find(VariableId variable);
  SetId classify(VariableId variable);
  SetId intern(std::string key, SetInfo info);
  OwnerId intern_owner(std::string key);
  ObjectId above(ObjectId object) const;
  ObjectId root(ObjectId object);
  void ask_again(ObjectId object);
  const SetDeclaration* declaration_of(const VariableInfo& info) const;
  const std::string& hand_declared(VariableId variable);

  SetOptions options_;
  const Trace& tables_;
  std::vector<Member> by_variable_;
  std::vector<SetInfo> sets_;
  std::unordered_map<std::string, SetId> by_key_;
  std::unordered_map<std::string, OwnerId> owners_;
  std::vector<ObjectId> shortcuts_;                             // object → one that holds it, however far up
  std::vector<SetId> set_by_root_;                              // outermost object → the set of its unnamed part
  std::vector<OwnerId> owner_by_root_;                          // of outermost objects, where it was asked for
  std::unordered_map<uint32_t, ObjectId> owned_by_;             // object → who owns it
  std::unordered_map<uint32_t, std::string> declared_by_hand_;  // variable → set of a text trace
  std::unordered_map<uint32_t, std::vector<VariableId>> members_;   // outermost object → its variables
  size_t changes_read_ = 0, moves_read_ = 0;                        // of Trace::changes()
  size_t declared_read_ = 0;                                    // declared_sets() when that was made
};

}  // namespace cleave
