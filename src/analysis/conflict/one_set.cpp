// Plain conflict serializability, as Velodrome and AeroDrome define it: all memory is one set, every event
// outside a unit is a unit of its own, and edges also run from a release to the next acquires of that lock,
// from a fork to the child's first unit, from the child's last unit to its join, and along each thread.
//
// Two sections of a reader-writer lock that both only read are not ordered: a shared release has an edge to
// the next exclusive acquire, not to other shared ones.
#include <algorithm>

#include "analysis/conflict/engine.h"

namespace cleave::conflict {
namespace {

class OneSet final : public Engine {
 public:
  OneSet(SetMap& sets, const Trace& tables, const CheckOptions& options)
      : Engine(sets, tables, options),
        roles_(options.units, sets, tables),
        locks_are_units_(options.units.locks),
        split_at_waits_(options.units.split_at_waits) {}

  bool feed(std::span<const Event> events, uint64_t first) override {
    // Every id of these events is in the tables, so nothing below moves a thread or a lock under our feet.
    if (threads_.size() < tables_.threads().size()) threads_.resize(tables_.threads().size());
    if (locks_.size() < tables_.syncs().size()) locks_.resize(tables_.syncs().size());
    memory_.reserve(tables_.variable_count());
    constexpr size_t kAhead = 12;  // events; enough to hide a miss on the variable's line
    for (size_t i = 0; i < events.size(); ++i) {
      if (i + kAhead < events.size() && is_access(events[i + kAhead].kind))
        memory_.prefetch(events[i + kAhead].object);
      one(events[i], first + i);
      if (stopped()) return false;
    }
    return true;
  }
  size_t deepest() const override { return deepest_; }

 private:
  void ended(const FreedIds& freed) override {
    for (SyncId sync : freed.syncs) {
      if (raw(sync) < locks_.size()) lock(sync) = {};
    }
  }
  struct Frame {
    SyncId lock = kNone<SyncId>;
    UnitNameId name = kNone<UnitNameId>;
    SiteId site = kNone<SiteId>;
    ContextId context = kNone<ContextId>;
    bool counts = false;
  };
  struct Thread {
    NodeRef current;  // the unit it is in
    bool inside = false;
    NodeRef last;  // the unit before, or the one that forked it
    EdgeKind last_kind = EdgeKind::ProgramOrder;
    uint32_t counting = 0;  // frames that are units
    std::vector<Frame> frames;
  };
  struct Lock {
    Touch release;
    std::vector<Touch> shared;  // shared releases since
  };

  Thread& thread(ThreadId id) { return threads_[raw(id)]; }
  Lock& lock(SyncId id) { return locks_[raw(id)]; }
  static Touch touch(NodeRef node, const Event& event) {
    return {node, {event.value, event.site, event.context}};
  }

  void one(const Event& event, uint64_t position) {
    switch (event.kind) {
      case EventKind::Read:
      case EventKind::Write:
      case EventKind::Update: {
        Thread& state = thread(event.thread);
        if (state.inside) return access(state.current, event, position);
        return alone(state, event, position);
      }
      case EventKind::Begin:
        return begin(event, position);
      case EventKind::End:
        return end(event, position);
      case EventKind::Acquire:
      case EventKind::AcquireShared:
        if (locks_are_units_)
          enter(thread(event.thread),
                {.lock = event.sync(), .site = event.site, .context = event.context, .counts = true}, event,
                position);
        return apply(event, position);
      case EventKind::Release:
      case EventKind::ReleaseShared:
        apply(event, position);
        if (locks_are_units_) leave_section(event, event.sync(), position);
        return;
      case EventKind::Wait:
        apply(event, position);
        if (split_at_waits_) split(event, position);
        return;
      case EventKind::Start:
      case EventKind::Fork:
      case EventKind::Join:
      case EventKind::Wake:
        return apply(event, position);
      case EventKind::Exit: {
        Thread& state = thread(event.thread);
        state.frames = {};
        state.counting = 0;
        return leave(state);
      }
      default:
        return;
    }
  }

  // Units
  // ------------------------------------------------------------------------------------------------------------

  void begin(const Event& event, uint64_t position) {
    bool counts = roles_.is_unit(event.unit());
    enter(thread(event.thread),
          {.name = event.unit(), .site = event.site, .context = event.context, .counts = counts}, event,
          position);
  }
  void enter(Thread& state, const Frame& frame, const Event& event, uint64_t position) {
    state.frames.push_back(frame);
    deepest_ = std::max(deepest_, state.frames.size());
    if (frame.counts && state.counting++ == 0) start(state, frame, event, position);
  }
  void start(Thread& state, const Frame& frame, const Event& event, uint64_t position) {
    Unit unit{.name = frame.name,
              .lock = frame.lock,
              .thread = event.thread,
              .site = frame.site,
              .context = frame.context,
              .begin = EventIndex{position}};
    state.current = open(unit);
    state.inside = true;
    follow(state, state.current, event, position);
  }
  // The edge from the thread's previous unit, or from the fork.
  void follow(const Thread& state, NodeRef node, const Event& event, uint64_t position) {
    if (!graph_.alive(state.last)) return;
    Edge edge{.kind = state.last_kind, .first_kind = EventKind::End, .second_kind = event.kind};
    edge.second.site = event.site;
    connect(state.last, node, edge, position);
  }
  void leave(Thread& state) {
    if (!state.inside) return;
    graph_.end(state.current);
    state.last = state.current;
    state.last_kind = EdgeKind::ProgramOrder;
    state.inside = false;
  }
  void end(const Event& event, uint64_t position) {
    Thread& state = thread(event.thread);
    size_t frame = state.frames.size();
    while (frame > 0 && state.frames[frame - 1].lock != kNone<SyncId>) --frame;
    if (frame > 0) drop(state, frame - 1, event, position);
  }
  void leave_section(const Event& event, SyncId lock, uint64_t position) {
    Thread& state = thread(event.thread);
    for (size_t frame = state.frames.size(); frame > 0; --frame) {
      const Frame& section = state.frames[frame - 1];
      if (section.lock != lock) continue;
      lock_functions_.held(section.site, section.context, event.context);
      return drop(state, frame - 1, event, position);
    }
  }
  // The unit is over when its own frame goes, even if a lock section that began inside it goes on: that is
  // the next.
  void drop(Thread& state, size_t index, const Event& event, uint64_t position) {
    bool counts = state.frames[index].counts;
    bool top = counts;
    for (size_t i = 0; i < index && top; ++i) top = !state.frames[i].counts;
    state.frames.erase(state.frames.begin() + static_cast<ptrdiff_t>(index));
    if (counts) --state.counting;
    if (!top) return;
    leave(state);
    for (const Frame& frame : state.frames) {
      if (frame.counts) return start(state, frame, event, position);
    }
  }
  void split(const Event& event, uint64_t position) {
    Thread& state = thread(event.thread);
    if (!state.inside) return;
    leave(state);
    for (const Frame& frame : state.frames) {
      if (frame.counts) return start(state, frame, event, position);
    }
  }

  // Events that are in a unit or are one
  // ------------------------------------------------------------------------------

  void alone(Thread& state, const Event& event, uint64_t position) {
    if (!graph_.alive(state.last) && !any_live(event)) {
      ++units_;
      state.last = NodeRef{};
      return forget(event);
    }
    Unit unit{.thread = event.thread,
              .site = event.site,
              .context = event.context,
              .begin = EventIndex{position},
              .end = EventIndex{position}};
    NodeRef node = open(unit);
    follow(state, node, event, position);
    act(node, event, position);
    graph_.end(node);
    state.last = node;
    state.last_kind = EdgeKind::ProgramOrder;
  }
  void apply(const Event& event, uint64_t position) {
    Thread& state = thread(event.thread);
    if (state.inside) return act(state.current, event, position);
    alone(state, event, position);
  }
  void act(NodeRef node, const Event& event, uint64_t position) {
    switch (event.kind) {
      case EventKind::Acquire:
        return acquire(node, lock(event.sync()), event, event.object, position, true);
      case EventKind::AcquireShared:
        return acquire(node, lock(event.sync()), event, event.object, position, false);
      case EventKind::Wake:
        return acquire(node, lock(event.mutex()), event, event.object2, position, true);
      case EventKind::Release:
        return release(lock(event.sync()), touch(node, event));
      case EventKind::Wait:
        return release(lock(event.mutex()), touch(node, event));
      case EventKind::ReleaseShared:
        return release_shared(lock(event.sync()), touch(node, event));
      case EventKind::Start:
        return;
      case EventKind::Fork:
        return fork(node, event);
      case EventKind::Join:
        return join(node, event, position);
      default:
        return access(node, event, position);
    }
  }
  void acquire(NodeRef node, const Lock& state, const Event& event, uint32_t object, uint64_t position,
               bool exclusive) {
    auto edge = [&](const Touch& release) {
      if (release.node == node || !graph_.alive(release.node)) return;
      connect(release.node, node,
              {.kind = EdgeKind::Lock,
               .first_kind = EventKind::Release,
               .second_kind = event.kind,
               .object = object,
               .era = names_.era(),
               .first = release.access,
               .second = {event.value, event.site, event.context}},
              position);
    };
    edge(state.release);
    if (!exclusive) return;
    for (const Touch& release : state.shared) edge(release);
  }
  static void release(Lock& state, const Touch& by) {
    state.release = by;
    state.shared.clear();
  }
  void release_shared(Lock& state, const Touch& by) {
    if (state.shared.size() == state.shared.capacity())
      std::erase_if(state.shared, [&](const Touch& before) { return !graph_.alive(before.node); });
    state.shared.push_back(by);
  }
  void fork(NodeRef node, const Event& event) {
    Thread& child = thread(event.other());
    child.last = node;
    child.last_kind = EdgeKind::Fork;
  }
  // A thread that did nothing has no unit, and orders nothing.
  static NodeRef last_unit(const Thread& child) {
    if (child.inside) return child.current;
    return child.last_kind == EdgeKind::Fork ? NodeRef{} : child.last;
  }
  void join(NodeRef node, const Event& event, uint64_t position) {
    NodeRef from = last_unit(thread(event.other()));
    if (from == node || !graph_.alive(from)) return;
    Edge edge{.kind = EdgeKind::Join, .first_kind = EventKind::Exit, .second_kind = event.kind};
    edge.second.site = event.site;
    connect(from, node, edge, position);
  }

  bool any_live(const Event& event) {
    auto live = [&](const Touch& by) { return graph_.alive(by.node); };
    switch (event.kind) {
      case EventKind::Acquire: {
        const Lock& state = lock(event.sync());
        return live(state.release) || std::any_of(state.shared.begin(), state.shared.end(), live);
      }
      case EventKind::AcquireShared:
        return live(lock(event.sync()).release);
      case EventKind::Wake:
        return live(lock(event.mutex()).release);
      case EventKind::Join:
        return graph_.alive(last_unit(thread(event.other())));
      case EventKind::Read:
      case EventKind::Write:
      case EventKind::Update:
        return memory_.any_live(graph_, event);
      default:
        return false;
    }
  }
  // An event that nothing reaches: it only hides what came before.
  void forget(const Event& event) {
    switch (event.kind) {
      case EventKind::Release:
        return release(lock(event.sync()), Touch{});
      case EventKind::Wait:
        return release(lock(event.mutex()), Touch{});
      case EventKind::Fork:
        thread(event.other()).last = NodeRef{};
        return;
      case EventKind::Read:
      case EventKind::Write:
      case EventKind::Update:
        return memory_.forget(event);
      default:
        return;
    }
  }

  UnitRoles roles_;
  bool locks_are_units_, split_at_waits_;
  std::vector<Thread> threads_;
  std::vector<Lock> locks_;
  size_t deepest_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_one_set(SetMap& sets, const Trace& tables, const CheckOptions& options) {
  return std::make_unique<OneSet>(sets, tables, options);
}

}  // namespace cleave::conflict
