// Objects by what holds them: an object lies in another one, by value, or is owned by it (sets.h). An
// outermost one may be taken by another, which is the only one that reaches it: that holds until somebody
// else does, so it is kept apart.
//
// The id of an object is used again when its memory has been given back. An instance is what the object was:
// it stays as long as the object, as whatever it holds, and as a name that somebody has to tell later.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "trace/core/trace.h"

namespace cleave {

enum class SetId : uint32_t {};
enum class OwnerId : uint32_t {
};  // what a unit is declared on: an object, the statics of a class or of a file
enum class InstanceId : uint32_t {};

struct Instance {
  InstanceId above = kNone<InstanceId>;     // what holds it
  InstanceId shortcut = kNone<InstanceId>;  // one that holds it, however far up; counts in its era only
  uint32_t era = 0;
  uint32_t holds = 0;  // the object itself, its open methods, instances that it holds and that hold
                       // something; 0: no access comes
  uint32_t uses = 0;   // the object itself, instances that it holds, names that are kept
  ObjectId object = kNone<ObjectId>;  // kNone: it has ended
  // Of outermost ones.
  SetId set = kNone<SetId>;  // of its unnamed part
  OwnerId owner = kNone<OwnerId>;
  uint32_t first_member = UINT32_MAX;  // list of its variables
  std::string_view name;               // what its sets are called after, once it has ended
  // Of outermost ones too.
  InstanceId taker = kNone<InstanceId>;  // an outermost one as well
  InstanceId first_taken = kNone<InstanceId>, next_taken = kNone<InstanceId>,
             before_taken = kNone<InstanceId>;  // a list
  uint8_t takers_below = 0;                     // so many takers stand one below the other, at most
  uint8_t hands = 0;                            // how often it was taken
  bool shared = false;                          // several reach it: nobody takes it any more
  bool owned = false;                           // `above` is the owner
  bool named_parts = false;                     // has sets with names
  bool machinery = false;                       // of the standard library; once it has ended
};

class Instances {
 public:
  // `tables` must outlive this; it may grow.
  explicit Instances(const Trace& tables) : tables_(tables) {}

  Instance& operator[](InstanceId id) { return all_[raw(id)]; }
  const Instance& operator[](InstanceId id) const { return all_[raw(id)]; }
  // How many there are.
  size_t size() const { return all_.size() - free_.size(); }

  // Made on first use, with all that hold it.
  InstanceId of(ObjectId object) {
    if (raw(object) < by_object_.size() && by_object_[raw(object)] != kNone<InstanceId>)
      return by_object_[raw(object)];
    return make(object);
  }
  // kNone: nobody has asked for it.
  InstanceId known(ObjectId object) const {
    return raw(object) < by_object_.size() ? by_object_[raw(object)] : kNone<InstanceId>;
  }
  // The outermost one that holds it. Amortised O(1), nearly.
  InstanceId root(InstanceId id) { return all_[raw(id)].above == kNone<InstanceId> ? id : root_slowly(id); }
  // `part`, which nothing holds and which does not hold `whole`, is owned by it from now on.
  void own(InstanceId whole, InstanceId part);
  // The outermost one, and beyond that who has taken it. O(takers), which are few.
  InstanceId top(InstanceId id) {
    id = root(id);
    while (all_[raw(id)].taker != kNone<InstanceId>) id = all_[raw(id)].taker;
    return id;
  }
  // `part` is taken from now on, or no longer. Both are outermost, and stay so while that holds; it does not
  // reach `taker`.
  void take(InstanceId taker, InstanceId part);
  void release(InstanceId part);
  // What the tables say about the `outer` of these objects has changed.
  void outer_changed(std::span<const ObjectId> objects);
  // The object has ended.
  void ended(InstanceId id);
  // For a name that is kept.
  void use(InstanceId id) { ++all_[raw(id)].uses; }
  void unuse(InstanceId id) {
    if (--all_[raw(id)].uses == 0) unused_.push_back(id);
  }

  // For a method that is open, which may outlive its object, and may take something until it ends.
  void follow(InstanceId id) {
    use(id);
    ++all_[raw(id)].holds;
  }
  void unfollow(InstanceId id) {
    let_go(id);
    unuse(id);
  }

  // Those that hold nothing any more, and those without a use, since the last call. The latter have to be
  // removed, which may leave more of them.
  std::vector<InstanceId> take_empty() { return std::exchange(empty_, {}); }
  std::vector<InstanceId> take_unused() { return std::exchange(unused_, {}); }
  void remove(InstanceId id);

 private:
  InstanceId make(ObjectId object);
  InstanceId make_one(ObjectId object);
  InstanceId root_slowly(InstanceId id);
  bool is_above(InstanceId id, InstanceId below) const;
  void attach(InstanceId id, InstanceId above);
  void detach(InstanceId id, InstanceId from);
  void let_go(InstanceId id);
  void pass_over_ended(InstanceId id);
  void unlink_taken(InstanceId part);
  InstanceId step(InstanceId id) const {
    const Instance& at = all_[raw(id)];
    return at.era == era_ && at.shortcut != kNone<InstanceId> ? at.shortcut : at.above;
  }

  const Trace& tables_;
  std::vector<Instance> all_;
  std::vector<InstanceId> free_;
  std::vector<InstanceId> by_object_;
  std::vector<InstanceId> empty_, unused_;
  uint32_t era_ = 1;  // of shortcuts: a new one begins when what is above something is replaced
};

}  // namespace cleave
