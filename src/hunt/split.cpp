#include "hunt/split.h"

#include <algorithm>
#include <map>
#include <optional>

#include "findings/place.h"
#include "trace/core/library.h"

namespace cleave::hunt {
namespace {

constexpr size_t kMostOthers = 3;
constexpr size_t kNowhere = SIZE_MAX;

bool tells_place(const Event& event) {
  switch (event.kind) {
    case EventKind::Branch:
    case EventKind::Begin:
    case EventKind::End:
    case EventKind::Start:
    case EventKind::Exit:
      return false;
    default:
      return event.site != kNone<SiteId>;
  }
}

// Where each run of the schedule ends among the events: a run's events stand together, and it may have none.
// Those that belong to no place (a thread's start, for instance) may stand elsewhere.
std::vector<size_t> ends_of_runs(const Trace& trace, const Schedule& schedule) {
  std::map<std::string, ThreadId> by_path;
  for (size_t i = 0; i < trace.threads().size(); ++i)
    by_path.emplace(trace.threads()[i].path, ThreadId{static_cast<uint32_t>(i)});
  std::vector<size_t> ends;
  size_t at = 0;
  for (const Run& run : schedule.runs) {
    auto thread = by_path.find(schedule.threads[run.thread]);
    if (thread != by_path.end())
      while (at < trace.size() &&
             (trace.events()[at].thread == thread->second || !tells_place(trace.events()[at])))
        ++at;
    ends.push_back(at);
  }
  return ends;
}

class Locator {
 public:
  Locator(const Trace& trace, const Schedule& schedule)
      : trace_(trace), schedule_(schedule), ends_(ends_of_runs(trace, schedule)) {}

  std::optional<Split> locate(const Switch& at) const {
    std::optional<size_t> run = run_of(at);
    if (!run) return std::nullopt;
    Split split;
    split.at = at;
    split.thread = name_of(at.thread);
    split.next = name_of(at.next);
    size_t boundary = ends_[*run];
    ThreadId thread = thread_of(at.thread);
    size_t before = neighbor(boundary, thread, false), after = neighbor(boundary, thread, true);
    if (before != kNowhere && after != kNowhere) {
      describe(split, thread, before, after);
    } else {
      if (before != kNowhere) split.before = own_place(event(before));
      if (after != kNowhere) split.after = own_place(event(after));
    }
    return split;
  }

 private:
  const Event& event(size_t index) const { return trace_.events()[index]; }

  std::optional<size_t> run_of(const Switch& at) const {
    uint64_t points = 0;
    for (size_t i = 0; i + 1 < schedule_.runs.size(); ++i) {
      const Run& run = schedule_.runs[i];
      if (schedule_.threads[run.thread] != at.thread) continue;
      points += run.points;
      bool preempted = run.how == Handover::Preempted;
      bool same = preempted == (at.how == Handover::Preempted);
      if (points == at.points && same && schedule_.threads[schedule_.runs[i + 1].thread] == at.next) return i;
      if (points > at.points) break;
    }
    return std::nullopt;
  }

  ThreadId thread_of(const std::string& path) const {
    for (size_t i = 0; i < trace_.threads().size(); ++i)
      if (trace_.threads()[i].path == path) return ThreadId{static_cast<uint32_t>(i)};
    return kNone<ThreadId>;
  }

  std::string name_of(const std::string& path) const {
    ThreadId thread = thread_of(path);
    return thread == kNone<ThreadId> ? path : trace_.thread(thread).name;
  }

  // The nearest event of the thread that stands in the source: behind the boundary, or before it.
  size_t neighbor(size_t boundary, ThreadId thread, bool behind) const {
    if (behind) {
      for (size_t i = boundary; i < trace_.size(); ++i)
        if (event(i).thread == thread && tells_place(event(i))) return i;
    } else {
      for (size_t i = boundary; i-- > 0;)
        if (event(i).thread == thread && tells_place(event(i))) return i;
    }
    return kNowhere;
  }

  // A call by the places through which it came about, outermost first. (Two contexts may stand for one call,
  // where code of it was inlined.)
  using Call = std::vector<SiteId>;
  Call call_of(ContextId context) const {
    Call call;
    for (; context != kNone<ContextId>; context = trace_.context(context).parent)
      if (trace_.context(context).call_site != kNone<SiteId>)
        call.push_back(trace_.context(context).call_site);
    std::reverse(call.begin(), call.end());
    return call;
  }

  static Call common_call(const Call& a, const Call& b) {
    auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return {a.begin(), ends.first};
  }

  bool lies_within(ContextId context, const Call& outer) const {
    Call inner = call_of(context);
    return inner.size() >= outer.size() && std::equal(outer.begin(), outer.end(), inner.begin());
  }

  Place place_of(SiteId site) const {
    if (site == kNone<SiteId>) return {};
    const SiteInfo& info = trace_.site(site);
    return {info.function, info.file, info.line, {}};
  }

  // In the innermost frame that is the program's own.
  Place own_place(const Event& event) const {
    AccessReport where;
    put_place(where, trace_, event.site, event.context);
    return {where.function, where.file, where.line, {}};
  }

  // Where the event is in the frame of `outer`: itself, or the call through which it happened.
  Place place_within(const Call& outer, const Event& event) const {
    Call call = call_of(event.context);
    call.push_back(event.site);
    Place place = place_of(call[std::min(outer.size(), call.size() - 1)]);
    if (outer.size() + 1 < call.size()) place.callee = trace_.site(call[outer.size() + 1]).function;
    return place;
  }

  // An access of the call, and whether another thread has touched the same memory meanwhile, one of the two
  // writing.
  struct Sides {
    size_t before = kNowhere, after = kNowhere;  // the nearest such accesses
    bool both() const { return before != kNowhere && after != kNowhere; }
    bool any() const { return before != kNowhere || after != kNowhere; }
  };

  // What the standard library does for itself, with the counts of a shared_ptr for instance, is not what was
  // split.
  bool counts(const Event& each) const {
    return is_access(each.kind) && !(each.atomic() && librarys_own(trace_, each));
  }

  // What the others did while the thread stood still: by variable, true where it was written.
  std::map<uint32_t, bool> done_by_others(ThreadId thread, size_t before, size_t after) const {
    std::map<uint32_t, bool> variables;
    for (size_t i = before + 1; i < after; ++i)
      if (event(i).thread != thread && counts(event(i))) variables[event(i).object] |= writes(event(i).kind);
    return variables;
  }

  Sides sides_of(ThreadId thread, const Call& call, size_t before, size_t after,
                 const std::map<uint32_t, bool>& others) const {
    auto conflicts = [&](const Event& each) {
      if (!counts(each)) return false;
      auto other = others.find(each.object);
      return other != others.end() && (other->second || writes(each.kind));
    };
    auto leaves = [&](const Event& each) { return tells_place(each) && !lies_within(each.context, call); };
    Sides sides;
    for (size_t i = before + 1; i-- > 0 && sides.before == kNowhere;) {
      if (event(i).thread != thread) continue;
      if (leaves(event(i))) break;
      if (conflicts(event(i))) sides.before = i;
    }
    for (size_t i = after; i < trace_.size() && sides.after == kNowhere; ++i) {
      if (event(i).thread != thread) continue;
      if (leaves(event(i))) break;
      if (conflicts(event(i))) sides.after = i;
    }
    return sides;
  }

  // The innermost call of the program's own that has conflicting accesses on both sides; else on one; else
  // the innermost that covers both.
  void describe(Split& split, ThreadId thread, size_t before, size_t after) const {
    std::map<uint32_t, bool> others = done_by_others(thread, before, after);
    Call call = common_call(call_of(event(before).context), call_of(event(after).context));
    Call chosen = call;
    Sides sides;
    for (bool first = true;; call.pop_back()) {
      if (call.empty() || !is_system_file(place_within(call, event(before)).file)) {
        Sides here = sides_of(thread, call, before, after, others);
        bool better = here.both() ? !sides.both() : here.any() && !sides.any();
        if (first || better) {
          chosen = call;
          sides = here;
        }
        first = false;
      }
      if (sides.both() || call.empty()) break;
    }
    split.depth = chosen.size();
    split.conflicting = sides.both();
    split.before = place_within(chosen, event(sides.before != kNowhere ? sides.before : before));
    split.after = place_within(chosen, event(sides.after != kNowhere ? sides.after : after));
    split.function = split.before.function;
    find_others(split, thread, sides, before, after);
  }

  // Accesses of others that conflict with what the call does on its two sides.
  void find_others(Split& split, ThreadId thread, const Sides& sides, size_t before, size_t after) const {
    std::vector<Interference> reading;
    for (size_t i = before + 1; i < after; ++i) {
      const Event& each = event(i);
      if (each.thread == thread || !counts(each)) continue;
      auto conflicts = [&](size_t own) {
        return own != kNowhere && event(own).object == each.object &&
               (writes(each.kind) || writes(event(own).kind));
      };
      if (!conflicts(sides.before) && !conflicts(sides.after)) continue;
      Interference other{trace_.thread(each.thread).name, trace_.variable(each.variable()).name,
                         writes(each.kind), own_place(each)};
      std::vector<Interference>& list = other.write ? split.others : reading;
      if (std::find(list.begin(), list.end(), other) == list.end()) list.push_back(std::move(other));
    }
    // What was changed says more than what was looked at.
    split.others.insert(split.others.end(), reading.begin(), reading.end());
    if (split.others.size() > kMostOthers) split.others.resize(kMostOthers);
  }

  const Trace& trace_;
  const Schedule& schedule_;
  std::vector<size_t> ends_;
};

}  // namespace

const Split* main_split(const std::vector<Split>& splits) {
  // Rounds of a loop are apart more often than they must not be; and what comes last is nearest to the
  // failure.
  auto rank = [](const Split& split) { return std::pair(split.before != split.after, split.depth); };
  const Split* best = nullptr;
  for (const Split& split : splits)
    if (split.conflicting && (best == nullptr || rank(split) >= rank(*best))) best = &split;
  return best;
}

std::vector<Split> locate_splits(const Trace& trace, const Schedule& schedule,
                                 const std::vector<Switch>& switches) {
  Locator locator(trace, schedule);
  std::vector<Split> splits;
  for (const Switch& at : switches)
    if (std::optional<Split> split = locator.locate(at)) splits.push_back(std::move(*split));
  return splits;
}

}  // namespace cleave::hunt
