// Random small traces for the comparison with the full conflict graph: nested units, locks of both kinds,
// condition waits, forks and joins, units that never end, objects with fields and plain variables.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "trace/core/trace.h"

namespace cleave::conflict {

struct TraceShape {
  unsigned threads = 2, steps = 24, variables = 3, locks = 1;
  bool objects = false;  // fields of two objects, and units declared on one of them
  bool waits = false;
};

inline TraceShape random_shape(Random& random) {
  TraceShape shape;
  shape.threads = 2 + static_cast<unsigned>(random.below(5));
  shape.steps = 6 + static_cast<unsigned>(random.below(40));
  shape.variables = 1 + static_cast<unsigned>(random.below(5));
  shape.locks = static_cast<unsigned>(random.below(3));
  shape.objects = random.chance(1, 2);
  shape.waits = random.chance(1, 4);
  return shape;
}

class TraceGenerator {
 public:
  TraceGenerator(Random& random, const TraceShape& shape)
      : random_(random), shape_(shape), threads_(shape.threads) {}

  Trace make() {
    const char* objects[] = {"a", "b"};
    for (const char* name : objects) objects_.push_back(builder_.add_object({.name = name}));
    for (unsigned v = 0; v < shape_.variables; ++v) {
      VariableInfo info{.name = "x" + std::to_string(v)};
      if (shape_.objects && v % 3 != 2) {
        info.object = objects_[v % 2];
        info.field = info.name;
        info.name = std::string(objects[v % 2]) + "." + info.name;
      }
      variables_.push_back(builder_.add_variable(info));
    }
    for (unsigned l = 0; l < shape_.locks; ++l)
      locks_.push_back({builder_.sync("m" + std::to_string(l), SyncKind::Mutex)});
    for (unsigned t = 0; t < shape_.threads; ++t) threads_[t].id = builder_.thread("T" + std::to_string(t));
    threads_[0].started = true;
    bool forks = random_.chance(2, 3);
    for (ThreadState& thread : threads_) thread.started = thread.started || !forks;
    for (unsigned step = 0; step < shape_.steps; ++step) one_step();
    return std::move(builder_).build();
  }

 private:
  struct ThreadState {
    ThreadId id{};
    bool started = false, over = false;
    unsigned depth = 0;
    std::vector<size_t> held;
    std::vector<size_t> held_shared;
    size_t waiting = SIZE_MAX;  // lock of the wait it is in
  };
  struct LockState {
    SyncId id{};
    bool exclusive = false;
    unsigned shared = 0;
  };

  Event event(EventKind kind, const ThreadState& thread) { return Event{.kind = kind, .thread = thread.id}; }
  void add(Event e, uint32_t object, uint32_t object2 = UINT32_MAX) {
    e.object = object;
    e.object2 = object2;
    e.kind == EventKind::Update ? builder_.add_update(e, 0) : builder_.add(e);
  }

  void one_step() {
    ThreadState& thread = threads_[random_.below(threads_.size())];
    if (!thread.started || thread.over) return fork_or_join(thread);
    if (thread.waiting != SIZE_MAX) return wake(thread);
    switch (random_.below(12)) {
      case 0:
      case 1:
        return begin(thread);
      case 2:
        return end(thread);
      case 3:
        return lock(thread);
      case 4:
        return unlock(thread);
      case 5:
        if (random_.chance(1, 8))
          thread.over = thread.held.empty() && thread.held_shared.empty() && thread.id != threads_[0].id;
        else if (shape_.waits)
          wait(thread);
        return;
      default:
        return access(thread);
    }
  }
  void access(ThreadState& thread) {
    uint64_t kind = random_.below(7);
    EventKind what = kind < 3 ? EventKind::Read : kind < 6 ? EventKind::Write : EventKind::Update;
    add(event(what, thread), raw(variables_[random_.below(variables_.size())]));
  }
  void begin(ThreadState& thread) {
    if (thread.depth >= 3) return;
    ++thread.depth;
    ObjectId self = kNone<ObjectId>;
    if (shape_.objects && random_.chance(2, 3)) self = objects_[random_.below(2)];
    UnitNameId name = builder_.unit_name("u" + std::to_string(random_.below(4)));
    add(event(EventKind::Begin, thread), raw(name), raw(self));
  }
  void end(ThreadState& thread) {
    if (thread.depth == 0) return;
    --thread.depth;
    add(event(EventKind::End, thread), UINT32_MAX);
  }
  void lock(ThreadState& thread) {
    if (locks_.empty()) return;
    size_t l = random_.below(locks_.size());
    LockState& state = locks_[l];
    if (state.exclusive) return;
    if (random_.chance(1, 4)) {
      for (size_t held : thread.held_shared) {
        if (held == l) return;
      }
      ++state.shared;
      thread.held_shared.push_back(l);
      return add(event(EventKind::AcquireShared, thread), raw(state.id));
    }
    if (state.shared != 0) return;
    state.exclusive = true;
    thread.held.push_back(l);
    add(event(EventKind::Acquire, thread), raw(state.id));
  }
  void unlock(ThreadState& thread) {
    std::vector<size_t>& held = thread.held.empty() ? thread.held_shared : thread.held;
    if (held.empty()) return;
    size_t i = random_.below(held.size());  // in any order: sections need not nest
    size_t l = held[i];
    bool shared = thread.held.empty();
    held.erase(held.begin() + static_cast<ptrdiff_t>(i));
    shared ? void(--locks_[l].shared) : void(locks_[l].exclusive = false);
    add(event(shared ? EventKind::ReleaseShared : EventKind::Release, thread), raw(locks_[l].id));
  }
  void wait(ThreadState& thread) {
    if (thread.held.empty()) return;
    thread.waiting = thread.held.back();
    thread.held.pop_back();
    locks_[thread.waiting].exclusive = false;
    add(event(EventKind::Wait, thread), raw(builder_.sync("c", SyncKind::Condition)),
        raw(locks_[thread.waiting].id));
  }
  void wake(ThreadState& thread) {
    LockState& state = locks_[thread.waiting];
    if (state.exclusive || state.shared != 0) return;
    state.exclusive = true;
    thread.held.push_back(thread.waiting);
    thread.waiting = SIZE_MAX;
    add(event(EventKind::Wake, thread), raw(builder_.sync("c", SyncKind::Condition)), raw(state.id));
  }
  void fork_or_join(ThreadState& child) {
    ThreadState& parent = threads_[random_.below(threads_.size())];
    if (!parent.started || parent.over || parent.waiting != SIZE_MAX || parent.id == child.id) return;
    if (!child.started) {
      child.started = true;
      return add(event(EventKind::Fork, parent), raw(child.id));
    }
    if (random_.chance(1, 2)) add(event(EventKind::Join, parent), raw(child.id));
  }

  Random& random_;
  TraceShape shape_;
  TraceBuilder builder_;
  std::vector<ThreadState> threads_;
  std::vector<LockState> locks_;
  std::vector<VariableId> variables_;
  std::vector<ObjectId> objects_;
};

}  // namespace cleave::conflict
