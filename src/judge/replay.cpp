// A plain model of memory and synchronization, walked once along the trace.
#include <fmt/format.h>

#include <optional>
#include <set>

#include "judge/judge.h"

namespace cleave::judge {
namespace {

struct SyncState {
  std::optional<ThreadId> owner;
  std::set<ThreadId> readers;
  std::set<ThreadId> waiting;
  uint64_t tokens = 0, parties = 0, arrivals = 0;
  bool once_begun = false, once_ended = false;
};

class Replay {
 public:
  explicit Replay(const Trace& trace)
      : trace_(trace),
        memory_(trace.variables().size()),
        known_(trace.variables().size()),
        syncs_(trace.syncs().size()),
        started_(trace.threads().size(), true),
        joined_(trace.threads().size(), false),
        ticket_(trace.threads().size(), 0),
        depth_(trace.threads().size(), 0) {
    for (size_t v = 0; v < memory_.size(); ++v) {
      memory_[v] = trace.variables()[v].initial;
      known_[v] = trace.variables()[v].initial_known;
    }
    std::vector<std::set<ThreadId>> users(syncs_.size());
    for (const Event& event : trace.events()) {
      if (event.kind == EventKind::Fork) started_[event.object] = false;
      if (event.kind == EventKind::Arrive) users[event.object].insert(event.thread);
    }
    for (size_t s = 0; s < syncs_.size(); ++s) {
      syncs_[s].tokens = syncs_[s].parties = trace.syncs()[s].initial;
      if (syncs_[s].parties == 0) syncs_[s].parties = users[s].size();
    }
  }

  Status run() {
    for (size_t i = 0; i < trace_.size(); ++i) {
      const std::string wrong = step(id_of<EventIndex>(i));
      if (wrong.empty()) continue;
      const Event& event = trace_.events()[i];
      return Error{fmt::format("event {}", i),
                   fmt::format("{} {}: {}", trace_.thread(event.thread).name, word_of(event.kind), wrong)};
    }
    return Done{};
  }

 private:
  // Lets one event happen; what is wrong with it, or nothing.
  std::string step(EventIndex index) {
    const Event& event = trace_.event(index);
    if (!started_[raw(event.thread)]) return "the thread has not been forked yet";
    if (joined_[raw(event.thread)]) return "the thread has been joined already";
    if (is_access(event.kind)) return access(index);
    switch (event.kind) {
      case EventKind::Acquire:
      case EventKind::Release:
      case EventKind::AcquireShared:
      case EventKind::ReleaseShared:
        return lock(event.kind, event.thread, event.sync());
      case EventKind::Wait:
      case EventKind::Wake:
        return wait(event);
      case EventKind::Post:
      case EventKind::Down:
      case EventKind::Arrive:
      case EventKind::Pass:
      case EventKind::OnceBegin:
      case EventKind::OnceEnd:
      case EventKind::OnceSeen:
      case EventKind::OnceAbort:
        return count(event);
      case EventKind::Fork:
      case EventKind::Join:
        return life(event);
      case EventKind::Begin:
        ++depth_[raw(event.thread)];
        return {};
      case EventKind::End:
        return --depth_[raw(event.thread)] < 0 ? "no unit is open" : "";
      default:
        return {};
    }
  }

  std::string access(EventIndex index) {
    const Event& event = trace_.event(index);
    uint64_t& cell = memory_[event.object];
    if (reads(event.kind)) {
      const uint64_t value = event.kind == EventKind::Update ? trace_.old_value(index) : event.value;
      if (!known_[event.object]) cell = value;  // the first read tells what was there before the run
      if (cell != value) {
        return fmt::format("reads {} from {}, but the last write left {}", value,
                           trace_.variable(event.variable()).name, cell);
      }
    }
    if (writes(event.kind)) cell = event.value;
    known_[event.object] = true;
    return {};
  }

  std::string lock(EventKind kind, ThreadId thread, SyncId id) {
    SyncState& lock = syncs_[raw(id)];
    const std::string& name = trace_.sync(id).name;
    const bool shared = kind == EventKind::AcquireShared || kind == EventKind::ReleaseShared;
    if (kind == EventKind::Acquire || kind == EventKind::AcquireShared) {
      if (lock.owner) return fmt::format("{} is held by {}", name, trace_.thread(*lock.owner).name);
      if (!shared && !lock.readers.empty()) return fmt::format("{} is held by readers", name);
      if (shared && !lock.readers.insert(thread).second)
        return fmt::format("{} is held by the thread itself", name);
      if (!shared) lock.owner = thread;
      return {};
    }
    if (shared)
      return lock.readers.erase(thread) == 1 ? "" : fmt::format("{} is not held by the thread", name);
    if (lock.owner != thread) return fmt::format("{} is not held by the thread", name);
    lock.owner.reset();
    return {};
  }

  // A Wake without a signal is a time-out or a spurious wake-up: allowed by every condition variable there
  // is.
  std::string wait(const Event& event) {
    SyncState& condition = syncs_[event.object];
    if (event.kind == EventKind::Wait) {
      if (!condition.waiting.insert(event.thread).second) return "the thread waits already";
      return lock(EventKind::Release, event.thread, event.mutex());
    }
    if (condition.waiting.erase(event.thread) == 0) return "the thread does not wait";
    return lock(EventKind::Acquire, event.thread, event.mutex());
  }

  std::string count(const Event& event) {
    SyncState& sync = syncs_[event.object];
    switch (event.kind) {
      case EventKind::Post:
        ++sync.tokens;
        return {};
      case EventKind::Down:
        if (sync.tokens == 0) return "the semaphore has no token";
        --sync.tokens;
        return {};
      case EventKind::Arrive:
        ticket_[raw(event.thread)] = sync.arrivals++;
        return {};
      case EventKind::Pass:
        if (sync.parties == 0) return "nobody has arrived";
        return sync.arrivals < (ticket_[raw(event.thread)] / sync.parties + 1) * sync.parties
                   ? "not all parties have arrived"
                   : "";
      case EventKind::OnceBegin:
        if (sync.once_begun) return "the once routine has begun already";
        sync.once_begun = true;
        return {};
      case EventKind::OnceEnd:
        sync.once_ended = true;
        return {};
      case EventKind::OnceAbort:
        sync.once_begun = false;
        return {};
      default:
        return sync.once_ended ? "" : "the once routine has not ended";
    }
  }

  std::string life(const Event& event) {
    if (event.kind == EventKind::Fork) {
      if (started_[event.object]) return "the thread has been forked already";
      started_[event.object] = true;
      return {};
    }
    if (!started_[event.object]) return "the thread has not been forked yet";
    joined_[event.object] = true;
    return {};
  }

  const Trace& trace_;
  std::vector<uint64_t> memory_;
  std::vector<bool> known_;
  std::vector<SyncState> syncs_;
  std::vector<bool> started_, joined_;
  std::vector<uint64_t> ticket_;
  std::vector<int> depth_;
};

}  // namespace

Status consistent(const Trace& trace) { return Replay(trace).run(); }

}  // namespace cleave::judge
