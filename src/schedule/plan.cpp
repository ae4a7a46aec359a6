#include "schedule/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "schedule/schedule.h"
#include "trace/core/no_value.h"

namespace cleave {
namespace {

std::string nth(uint64_t number) {
  static constexpr const char* kEndings[] = {"th", "st", "nd", "rd"};
  uint64_t tens = number % 100;
  bool teen = tens >= 11 && tens <= 13;
  return fmt::format("{}{}", number, kEndings[teen || number % 10 > 3 ? 0 : number % 10]);
}

// Guesses visits where there are no records to count them by. An access is a visit of its own; but a range,
// or an access that is wider than eight bytes, has several events: they follow each other with the same site,
// kind and context, without a branch between them and on different variables.
class VisitCounter {
 public:
  // The number of the visit that this event belongs to, from 1.
  uint64_t count(const Event& event) {
    Last& last = last_[event.thread];
    bool same = last.any && last.site == event.site && last.kind == event.kind &&
                last.context == event.context && event.branches == 0 &&
                std::find(last.objects.begin(), last.objects.end(), event.object) == last.objects.end();
    uint64_t& visits = visits_[{event.thread, event.site, event.kind}];
    if (!same) {
      ++visits;
      last = Last{true, event.site, event.kind, event.context, {}};
    }
    last.objects.push_back(event.object);
    return visits;
  }

 private:
  struct Last {
    bool any = false;
    SiteId site{};
    EventKind kind{};
    ContextId context{};
    std::vector<uint32_t> objects;
  };
  std::map<ThreadId, Last> last_;
  std::map<std::tuple<ThreadId, SiteId, EventKind>, uint64_t> visits_;
};

}  // namespace

std::string Milestone::sentence() const {
  std::string where = column ? fmt::format("{}:{}:{}", file, line, column) : fmt::format("{}:{}", file, line);
  std::string text = fmt::format("thread {} comes to {} at {}", thread, word_of(kind), where);
  if (occurrence > 1) text += fmt::format(" for the {} time", nth(occurrence));
  if (value) text += fmt::format(" with value {}", *value);
  return text;
}

Result<Plan> plan_of(const Trace& trace, const std::vector<EventIndex>& events,
                     const std::function<uint64_t(EventIndex)>& known) {
  std::map<EventIndex, uint64_t> visit_of;
  for (EventIndex index : events) visit_of[index] = 0;
  VisitCounter counter;
  auto next = visit_of.begin();
  for (size_t index = 0; index < trace.size() && next != visit_of.end(); ++index) {
    const Event& event = trace.events()[index];
    uint64_t visit = counter.count(event);
    if (raw(next->first) != index) continue;
    const uint64_t told = known ? known(next->first) : 0;
    (next++)->second = told != 0 ? told : visit;
  }
  if (next != visit_of.end()) return Error{"", "a milestone lies behind the end of the trace"};
  Plan plan;
  for (EventIndex index : events) {
    const Event& event = trace.event(index);
    const ThreadInfo& thread = trace.thread(event.thread);
    if (thread.path.empty())
      return Error{"", fmt::format("thread {} has no place in a creation tree", thread.name)};
    if (event.site == kNone<SiteId>)
      return Error{"", fmt::format("event {} of the trace has no place in the source", raw(index))};
    if (event.kind == EventKind::Write && event.value == kFreed)
      return Error{"", "no run can be held before memory is given back: that is no scheduling point yet"};
    const SiteInfo& site = trace.site(event.site);
    Milestone milestone{thread.path,   event.kind,      site.file,    site.line, site.column,
                        site.function, visit_of[index], std::nullopt, ""};
    // A visit that touches several variables is one milestone.
    if (std::find(plan.milestones.begin(), plan.milestones.end(), milestone) != plan.milestones.end())
      continue;
    plan.milestones.push_back(std::move(milestone));
  }
  return plan;
}

Status validate(const Plan& plan) {
  std::map<std::tuple<std::string, EventKind, std::string, uint32_t, uint32_t, std::string>, uint64_t> last;
  for (const Milestone& milestone : plan.milestones) {
    if (!is_thread_path(milestone.thread))
      return Error{"", fmt::format("'{}' is not a thread path such as 0.2.1", milestone.thread)};
    // What the optimiser has joined from several lines stands in line 0 of its function.
    if (milestone.file.empty() || (milestone.line == 0 && milestone.function.empty()))
      return Error{"", "a milestone needs a file, and a line or a function"};
    if (milestone.occurrence == 0) return Error{"", "the first time is occurrence 1"};
    uint64_t& before = last[{milestone.thread, milestone.kind, milestone.file, milestone.line,
                             milestone.column, milestone.function}];
    if (milestone.occurrence <= before)
      return Error{"", "the plan asks for an earlier time after a later one: " + milestone.sentence()};
    before = milestone.occurrence;
  }
  return Done{};
}

}  // namespace cleave
