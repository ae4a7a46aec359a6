#include "analysis/predict/replay.h"

#include <fmt/format.h>

namespace cleave::prediction {
namespace {

constexpr uint32_t kNobody = UINT32_MAX, kMany = UINT32_MAX - 1;

struct SyncState {
  uint32_t owner = UINT32_MAX, depth = 0;
  std::map<uint32_t, uint32_t> readers;
  uint64_t tokens = 0;
  std::set<uint32_t> sleeping, woken;
  uint64_t pending = 0;  // signals that have not chosen yet whom they wake
  uint64_t arrivals = 0;
  bool once_done = false;
};

}  // namespace

Replayer::Replayer(const Trace& trace)
    : trace_(trace),
      number_(trace.size()),
      length_(trace.threads().size(), 0),
      needs_fork_(trace.threads().size(), false),
      written_(trace.variables().size(), false),
      initial_known_(trace.variables().size(), false),
      initial_(trace.variables().size(), 0),
      user_(trace.variables().size(), kNobody) {
  for (size_t v = 0; v < initial_.size(); ++v) {
    initial_[v] = trace.variables()[v].initial;
    initial_known_[v] = trace.variables()[v].initial_known;
  }
  for (size_t e = 0; e < trace.size(); ++e) look_at(static_cast<EventNumber>(e), trace.events()[e]);
}

void Replayer::look_at(EventNumber e, const Event& event) {
  number_[e] = length_[raw(event.thread)]++;
  if (is_access(event.kind)) {
    uint32_t& user = user_[event.object];
    user = user == kNobody || user == raw(event.thread) ? raw(event.thread) : kMany;
  }
  switch (event.kind) {
    case EventKind::Read:
    case EventKind::Update:
      if (!written_[event.object]) {  // the run itself shows the initial value
        initial_[event.object] =
            event.kind == EventKind::Read ? event.value : trace_.old_value(EventIndex{e});
        initial_known_[event.object] = true;
      }
      if (event.kind == EventKind::Update) written_[event.object] = true;
      break;
    case EventKind::Write:
      written_[event.object] = true;
      break;
    case EventKind::Fork:
      needs_fork_[raw(event.other())] = true;
      break;
    case EventKind::Arrive:
      barrier_users_[event.object].insert(raw(event.thread));
      break;
    case EventKind::Post:
      ++balance_[event.object];
      break;
    case EventKind::Down: {
      int64_t balance = --balance_[event.object];
      uint64_t& tokens = tokens_.try_emplace(event.object, trace_.sync(event.sync()).initial).first->second;
      if (balance < 0) tokens = std::max(tokens, static_cast<uint64_t>(-balance));
      break;
    }
    case EventKind::Wait:
      slept_[raw(event.thread)] = e;
      break;
    case EventKind::Signal:
    case EventKind::Broadcast:
      last_signal_[event.object] = e;
      break;
    case EventKind::Wake: {
      auto signal = last_signal_.find(event.object);
      bool heard = signal != last_signal_.end() && signal->second > slept_[raw(event.thread)];
      if (event.value != 0 || !heard) unexplained_.insert(e);
      break;
    }
    default:
      break;
  }
}

class Replay {
 public:
  Replay(const Replayer& recorded, std::span<const EventNumber> order, const Triple& triple)
      : recorded_(recorded),
        trace_(recorded.trace_),
        order_(order),
        triple_(triple),
        threads_(recorded.length_.size()),
        syncs_(trace_.syncs().size()),
        memory_(recorded.initial_),
        written_(memory_.size(), false),
        unknown_(memory_.size(), false) {
    for (auto [semaphore, tokens] : recorded.tokens_) syncs_[semaphore].tokens = tokens;
    for (EventNumber e : order_) ++threads_[raw(trace_.events()[e].thread)].last;
  }

  std::string run() {
    for (EventNumber e : order_) {
      std::string problem = step(e);
      if (!problem.empty()) return fmt::format("event {}: {}", e, problem);
    }
    if (!(seen_first_ && seen_remote_ && seen_second_)) return "the triple is not there";
    Pattern pattern = pattern_of(kind_of_[0], kind_of_[1], kind_of_[2]);
    return pattern == Pattern::None ? "an update may fail, and then the triple is serializable" : "";
  }

 private:
  struct Thread {
    uint32_t next = 0, last = 0;  // `last`: how many of its events the order has
    bool forked = false;
    bool tainted = false;  // has read another value than recorded
    uint64_t arrival = 0;  // at a barrier
  };

  std::string step(EventNumber e) {
    const Event& event = trace_.events()[e];
    Thread& thread = threads_[raw(event.thread)];
    if (recorded_.number_[e] != thread.next) return "out of program order";
    if (thread.next == 0 && recorded_.needs_fork_[raw(event.thread)] && !thread.forked)
      return "not forked yet";
    bool branch = event.branches != 0 || event.kind == EventKind::Branch || event.kind == EventKind::Assume;
    if (thread.tainted && branch) return "branches on a value that may be another";
    ++thread.next;
    bool final = thread.next == thread.last;
    std::string problem = is_access(event.kind) ? access(e, event, final) : synchronize(e, event);
    if (problem.empty()) mark(e, event);
    return problem;
  }

  std::string access(EventNumber e, const Event& event, bool final) {
    uint64_t& cell = memory_[event.object];
    Thread& thread = threads_[raw(event.thread)];
    changed_ = false;
    if (reads(event.kind)) {
      uint64_t recorded = event.kind == EventKind::Update ? trace_.old_value(EventIndex{e}) : event.value;
      bool known = written_[event.object] || recorded_.initial_known_[event.object];
      bool alone = recorded_.user_[event.object] != kMany;
      changed_ = !alone && (cell != recorded || !known || unknown_[event.object]);
      bool own = event.object == trace_.events()[triple_.first].object;
      if (changed_ && !final && !own)
        return fmt::format("reads {} instead of {} and goes on", cell, recorded);
      if (changed_) thread.tainted = true;
    }
    if (writes(event.kind)) {
      cell = event.value;
      written_[event.object] = true;
      unknown_[event.object] = thread.tainted;
    }
    return "";
  }

  void mark(EventNumber e, const Event& event) {
    EventKind kind = event.kind == EventKind::Update && changed_ ? EventKind::Read : event.kind;
    if (e == triple_.first) seen_first_ = true, kind_of_[0] = kind;
    if (e == triple_.remote && seen_first_) seen_remote_ = true, kind_of_[1] = kind;
    if (e == triple_.second && seen_remote_) seen_second_ = true, kind_of_[2] = kind;
  }

  std::string acquire(uint32_t thread, SyncState& lock, bool shared) {
    bool others_read = false;
    for (auto& [reader, count] : lock.readers) others_read = others_read || (reader != thread && count != 0);
    if (lock.owner != UINT32_MAX && lock.owner != thread) return "the lock is held";
    if (!shared && others_read) return "the lock is held by readers";
    if (shared) {
      ++lock.readers[thread];
    } else {
      lock.owner = thread;
      ++lock.depth;
    }
    return "";
  }

  static void release(SyncState& lock) {
    if (lock.depth > 0 && --lock.depth == 0) lock.owner = UINT32_MAX;
  }

  std::string synchronize(EventNumber e, const Event& event) {
    changed_ = false;
    if (event.kind == EventKind::Fork) threads_[event.object].forked = true;
    if (event.kind == EventKind::Join && threads_[event.object].next != recorded_.length_[event.object])
      return "joins a running thread";
    return event.object < syncs_.size() ? operate(e, event, syncs_[event.object]) : "";
  }

  std::string operate(EventNumber e, const Event& event, SyncState& sync) {
    uint32_t t = raw(event.thread);
    switch (event.kind) {
      case EventKind::Acquire:
        return acquire(t, sync, false);
      case EventKind::AcquireShared:
        return acquire(t, sync, true);
      case EventKind::Release:
        release(sync);
        return "";
      case EventKind::ReleaseShared:
        if (sync.readers[t] > 0) --sync.readers[t];
        return "";
      case EventKind::Post:
        ++sync.tokens;
        return "";
      case EventKind::Down:
        return sync.tokens == 0 ? "no token" : (--sync.tokens, "");
      case EventKind::OnceEnd:
        sync.once_done = true;
        return "";
      case EventKind::OnceSeen:
        return sync.once_done ? "" : "once has not run";
      case EventKind::Wait:
        sync.sleeping.insert(t);
        if (event.object2 < syncs_.size()) release(syncs_[event.object2]);
        return "";
      case EventKind::Signal:
        if (sync.sleeping.size() > sync.pending) ++sync.pending;
        return "";
      case EventKind::Broadcast:
        sync.woken.insert(sync.sleeping.begin(), sync.sleeping.end());
        sync.sleeping.clear();
        sync.pending = 0;
        return "";
      case EventKind::Wake:
        return wake(e, event, sync);
      case EventKind::Arrive:
        threads_[t].arrival = sync.arrivals++;
        return "";
      case EventKind::Pass:
        return pass(event, sync);
      default:
        return "";
    }
  }

  // Whom a signal wakes is chosen when somebody wakes; one that began to wait later than it cannot be chosen,
  // which only makes a difference with several waiters: then the count below bounds it.
  std::string wake(EventNumber e, const Event& event, SyncState& condition) {
    uint32_t t = raw(event.thread);
    if (condition.woken.erase(t) == 0) {
      condition.sleeping.erase(t);
      if (!recorded_.unexplained_.contains(e)) {
        if (condition.pending == 0) return "nobody woke it";
        --condition.pending;
      }
    }
    return event.object2 < syncs_.size() ? acquire(t, syncs_[event.object2], false) : "";
  }

  std::string pass(const Event& event, SyncState& barrier) {
    uint64_t parties = trace_.sync(event.sync()).initial;
    if (parties == 0) parties = recorded_.barrier_users_.at(event.object).size();
    uint64_t number = threads_[raw(event.thread)].arrival;
    return barrier.arrivals >= (number / parties + 1) * parties ? "" : "the barrier is not complete";
  }

  const Replayer& recorded_;
  const Trace& trace_;
  std::span<const EventNumber> order_;
  const Triple& triple_;
  std::vector<Thread> threads_;
  std::vector<SyncState> syncs_;
  std::vector<uint64_t> memory_;
  std::vector<bool> written_, unknown_;
  bool changed_ = false, seen_first_ = false, seen_remote_ = false, seen_second_ = false;
  EventKind kind_of_[3] = {EventKind::Read, EventKind::Read, EventKind::Read};
};

std::string Replayer::problem(std::span<const EventNumber> order, const Triple& triple) const {
  return Replay(*this, order, triple).run();
}

}  // namespace cleave::prediction
