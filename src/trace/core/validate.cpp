#include "trace/core/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>

#include "trace/core/atoms.h"
#include "trace/core/describe.h"
#include "trace/core/happens_before.h"

namespace cleave {
namespace {

constexpr size_t kListed = 100;
// Events within which a later write explains a read that came too early, and how many such reads a variable
// remembers: a thread that lost the processor in the middle of a run of accesses has read a great deal too
// early.
constexpr uint64_t kRaceWindow = 100000;
constexpr size_t kEarlyReads = 64;

struct EarlyRead {
  uint64_t value, event;
  SiteId site;
  Epoch when;
};

struct Memory {
  uint64_t value = 0;
  bool known = false, atomic = false;  // atomic: the last write was
  uint32_t writer = UINT32_MAX;
  uint32_t written = 0;               // when, as an Epoch of the writer
  std::array<uint64_t, 3> earlier{};  // values overwritten by others, newest first
  uint8_t earlier_count = 0;
  bool early = false;  // reads of it that nothing explains yet are in Validator::early_
};

struct Lock {
  uint32_t owner = UINT32_MAX;
  boost::unordered_flat_map<uint32_t, uint32_t> readers;
  uint64_t waiting = 0, signals = 0;  // of a condition variable
  uint64_t posts = 0, downs = 0;      // of a semaphore
  uint64_t arrivals = 0, passes = 0;  // of a barrier
  bool once_running = false, once_done = false;
};

struct Life {
  bool forked = false, ran = false, exited = false, joined = false;
  uint64_t units = 0;
  uint64_t arrived = UINT32_MAX;  // barrier it stands at
};

class Validator {
 public:
  explicit Validator(EventSource& source) : source_(source) {}

  Result<Validation> run() {
    for (;;) {
      Result<std::span<const Event>> batch = source_.next();
      if (!batch) return batch.error();
      if (batch.value().empty()) break;
      grow();
      std::span<const VariableSplit> splits = source_.splits();
      for (size_t i = 0; i < batch.value().size(); ++i, ++result_.events) {
        for (; !splits.empty() && splits.front().before <= i; splits = splits.subspan(1))
          apply(splits.front());
        event(batch.value()[i], i);
      }
      for (const VariableSplit& split : splits) apply(split);
    }
    finish();
    return std::move(result_);
  }

 private:
  const Trace& names() const { return source_.tables(); }

  void grow() {
    size_t known = memory_.size();
    if (names().variables().size() > known) memory_.resize(names().variables().size());
    for (size_t i = known; i < memory_.size(); ++i) {
      memory_[i].value = names().variables()[i].initial;
      memory_[i].known = true;
    }
    if (names().syncs().size() > locks_.size()) locks_.resize(names().syncs().size());
    if (names().threads().size() > lives_.size()) lives_.resize(names().threads().size());
  }

  void apply(const VariableSplit& split) {
    const Memory whole = memory_[raw(split.whole)];
    uint64_t base = names().variable(split.whole).address;
    for (VariableId part : split.parts) {
      const VariableInfo& info = names().variable(part);
      auto shift = static_cast<uint32_t>(8 * (info.address - base));
      Memory& memory = memory_[raw(part)];
      memory = whole;
      memory.value = part_of(whole.value, shift, info.size);
      for (uint64_t& value : memory.earlier) value = part_of(value, shift, info.size);
      memory.early = false;
    }
  }

  void violation(const Event& event, std::string what) {
    ++result_.violations_found;
    if (result_.violations.size() >= kListed) return;
    result_.violations.push_back(
        {result_.events, fmt::format("event {}: {}: {}", result_.events, describe(names(), event), what)});
  }

  void event(const Event& event, size_t position) {
    Life& life = lives_[raw(event.thread)];
    order_.feed(event);
    if (life.joined) violation(event, "its thread has already been joined");
    if (life.exited && !life.joined) violation(event, "its thread has already ended");
    if (!life.ran) first_event(event, life);
    life.exited |= event.kind == EventKind::Exit;
    if (is_access(event.kind)) return access(event, position);
    if (event.object == UINT32_MAX && event.kind != EventKind::End) return;
    switch (event.kind) {
      case EventKind::Acquire:
        return acquire(event, raw(event.sync()));
      case EventKind::Release:
        return release(event, raw(event.sync()));
      case EventKind::AcquireShared:
        return acquire_shared(event);
      case EventKind::ReleaseShared:
        return release_shared(event);
      case EventKind::Fork:
      case EventKind::Join:
        return other_thread(event);
      case EventKind::Begin:
        ++life.units;
        return;
      case EventKind::End:
        if (life.units == 0) return violation(event, "no unit of its thread is open");
        --life.units;
        return;
      case EventKind::Wait:
      case EventKind::Wake:
      case EventKind::Signal:
      case EventKind::Broadcast:
        return condition(event);
      case EventKind::Post:
      case EventKind::Down:
        return semaphore(event);
      case EventKind::Arrive:
      case EventKind::Pass:
        return barrier(event, life);
      case EventKind::OnceBegin:
      case EventKind::OnceEnd:
      case EventKind::OnceSeen:
      case EventKind::OnceAbort:
        return once(event);
      default:
        return;
    }
  }

  void first_event(const Event& event, Life& life) {
    life.ran = true;
    ThreadId parent = names().thread(event.thread).parent;
    bool handler = names().thread(event.thread).name.find('!') != std::string::npos;
    if (parent != kNone<ThreadId> && !life.forked && !handler) {
      violation(event, fmt::format("its thread runs before {} has forked it", names().thread(parent).name));
    }
  }

  void other_thread(const Event& event) {
    Life& other = lives_[event.object];
    if (event.kind == EventKind::Fork) {
      if (other.ran || other.forked) violation(event, "that thread has already run");
      other.forked = true;
      return;
    }
    if (other.joined) violation(event, "that thread has already been joined");
    other.joined = true;
  }

  // ---- memory
  // ---------------------------------------------------------------------------------------------------

  void access(const Event& event, size_t position) {
    if (event.object == UINT32_MAX) return;
    Memory& memory = memory_[event.object];
    if (reads(event.kind)) {
      ++result_.reads;
      uint64_t seen = event.kind == EventKind::Update ? source_.old_value(position) : event.value;
      if (memory.known && memory.value != seen) mismatch(event, memory, seen);
    }
    if (writes(event.kind)) written(event, memory);
    memory.value = event.value;
    memory.known = true;
  }

  void written(const Event& event, Memory& memory) {
    if (memory.early) [[unlikely]]
      explain_early(event, memory);
    if (memory.writer != raw(event.thread) && memory.value != event.value) {
      std::rotate(memory.earlier.begin(), memory.earlier.end() - 1, memory.earlier.end());
      memory.earlier[0] = memory.value;
      memory.earlier_count =
          static_cast<uint8_t>(std::min<size_t>(memory.earlier_count + 1u, memory.earlier.size()));
    }
    memory.writer = raw(event.thread);
    memory.written = order_.now(event.thread).time;
    memory.atomic = event.atomic();
  }

  // Reads whose value this write leaves stand too early, if they may have come after it.
  void explain_early(const Event& event, Memory& memory) {
    std::vector<EarlyRead>& reads = early_[event.object];
    std::erase_if(reads, [&](const EarlyRead& read) {
      if (result_.events - read.event >= kRaceWindow) return true;
      if (read.value != event.value) return false;
      if (order_.before(read.when, event.thread)) return false;
      UnexplainedSite& site = sites_[raw(read.site)];
      --site.unwritten;
      ++site.misplaced;
      return true;
    });
    memory.early = !reads.empty();
  }

  void mismatch(const Event& event, Memory& memory, uint64_t seen) {
    const VariableInfo& info = names().variable(event.variable());
    std::string what =
        fmt::format("it returned {}, but the last write before it left {}", seen, memory.value);
    auto end = memory.earlier.begin() + memory.earlier_count;
    bool stale = std::find(memory.earlier.begin(), end, seen) != end;
    bool exact = event.atomic() && memory.atomic && memory.writer != UINT32_MAX && stale;
    if (info.address == 0 || exact) return violation(event, what);
    UnexplainedSite& site = sites_[raw(event.site)];
    site.site = event.site;
    if (site.example.empty())
      site.example = fmt::format("event {}: {}: {}", result_.events, describe(names(), event), what);
    // What overwrote the value races with the read only if it need not have come first.
    if (stale && !order_.before({memory.writer, memory.written}, event.thread)) {
      ++site.misplaced;
      return;
    }
    ++site.unwritten;
    std::vector<EarlyRead>& reads = early_[event.object];
    if (reads.size() < kEarlyReads)
      reads.push_back({seen, result_.events, event.site, order_.now(event.thread)});
    memory.early = true;
  }

  // ---- locks and the like
  // -----------------------------------------------------------------------------------------

  std::string thread_name(uint32_t id) const { return names().threads()[id].name; }

  void acquire(const Event& event, uint32_t sync) {
    if (sync == UINT32_MAX) return;
    Lock& lock = locks_[sync];
    if (lock.owner != UINT32_MAX)
      violation(event, fmt::format("{} is held by {}", names().syncs()[sync].name, thread_name(lock.owner)));
    if (!lock.readers.empty())
      violation(event, fmt::format("{} is held shared by {}", names().syncs()[sync].name,
                                   thread_name(lock.readers.begin()->first)));
    lock.owner = raw(event.thread);
  }

  void release(const Event& event, uint32_t sync) {
    if (sync == UINT32_MAX) return;
    Lock& lock = locks_[sync];
    if (lock.owner != raw(event.thread)) {
      violation(event, lock.owner == UINT32_MAX ? fmt::format("{} is not held", names().syncs()[sync].name)
                                                : fmt::format("{} is held by {}", names().syncs()[sync].name,
                                                              thread_name(lock.owner)));
    }
    lock.owner = UINT32_MAX;
  }

  void acquire_shared(const Event& event) {
    Lock& lock = locks_[event.object];
    if (lock.owner != UINT32_MAX) violation(event, fmt::format("it is held by {}", thread_name(lock.owner)));
    ++lock.readers[raw(event.thread)];
  }

  void release_shared(const Event& event) {
    Lock& lock = locks_[event.object];
    auto it = lock.readers.find(raw(event.thread));
    if (it == lock.readers.end()) return violation(event, "its thread does not hold it");
    if (--it->second == 0) lock.readers.erase(it);
  }

  void condition(const Event& event) {
    Lock& condition = locks_[event.object];
    switch (event.kind) {
      case EventKind::Wait:
        release(event, event.object2);
        ++condition.waiting;
        return;
      case EventKind::Wake:
        acquire(event, event.object2);
        if (condition.waiting == 0) violation(event, "nobody waits there");
        if (condition.waiting > 0) --condition.waiting;
        if (event.value != 0) return;  // timed out
        if (condition.signals == 0) {
          if (names().sync(event.sync()).address == 0) violation(event, "no signal has woken it");
          ++result_.spurious_wakes;
        } else {
          --condition.signals;
        }
        return;
      case EventKind::Signal:
        condition.signals = std::min(condition.signals + 1, condition.waiting);
        return;
      default:
        condition.signals = condition.waiting;
        return;
    }
  }

  void semaphore(const Event& event) {
    Lock& semaphore = locks_[event.object];
    if (event.kind == EventKind::Post) {
      ++semaphore.posts;
      return;
    }
    ++semaphore.downs;
    const SyncInfo& info = names().sync(event.sync());
    if (semaphore.downs <= info.initial + semaphore.posts) return;
    violation(event, fmt::format("more tokens are taken than the {} that were there and the {} posted",
                                 info.initial, semaphore.posts));
    semaphore.downs = info.initial + semaphore.posts;
  }

  void barrier(const Event& event, Life& life) {
    Lock& barrier = locks_[event.object];
    if (event.kind == EventKind::Arrive) {
      ++barrier.arrivals;
      life.arrived = event.object;
      return;
    }
    if (life.arrived != event.object) violation(event, "its thread has not arrived there");
    life.arrived = UINT32_MAX;
    uint64_t parties = names().sync(event.sync()).initial;
    if (parties > 0 && barrier.arrivals < (barrier.passes / parties + 1) * parties) {
      violation(event,
                fmt::format("only {} of {} threads have arrived", barrier.arrivals % parties, parties));
    }
    ++barrier.passes;
  }

  void once(const Event& event) {
    Lock& flag = locks_[event.object];
    if (event.kind == EventKind::OnceBegin) {
      if (flag.once_done) violation(event, "it has run before");
      if (flag.once_running) violation(event, "it is still running");
      flag.once_running = true;
    } else if (event.kind == EventKind::OnceEnd) {
      if (!flag.once_running) violation(event, "it was not running");
      flag.once_running = false;
      flag.once_done = true;
    } else if (event.kind == EventKind::OnceAbort) {
      if (!flag.once_running) violation(event, "it was not running");
      flag.once_running = false;
    } else if (flag.once_running) {
      violation(event, "it is still running");
    }
  }

  void finish() {
    for (const Lock& lock : locks_)
      result_.open_locks += (lock.owner != UINT32_MAX ? 1 : 0) + lock.readers.size();
    for (const Life& life : lives_) result_.open_units += life.units;
    for (auto& [id, site] : sites_) {
      if (site.unwritten + site.misplaced == 0) continue;
      result_.unwritten += site.unwritten;
      result_.misplaced += site.misplaced;
      result_.unexplained.push_back(std::move(site));
    }
    std::sort(result_.unexplained.begin(), result_.unexplained.end(),
              [](const UnexplainedSite& a, const UnexplainedSite& b) {
                uint64_t many = a.unwritten + a.misplaced, few = b.unwritten + b.misplaced;
                return many != few ? many > few : a.site < b.site;
              });
    result_.complete = source_.complete();
  }

  EventSource& source_;
  Validation result_;
  std::vector<Memory> memory_;
  std::vector<Lock> locks_;
  std::vector<Life> lives_;
  HappensBefore order_;
  boost::unordered_flat_map<uint32_t, UnexplainedSite> sites_;
  boost::unordered_flat_map<uint32_t, std::vector<EarlyRead>> early_;
};

}  // namespace

Result<Validation> validate_trace(EventSource& source) { return Validator(source).run(); }

}  // namespace cleave
