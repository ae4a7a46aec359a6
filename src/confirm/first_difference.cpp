#include "confirm/first_difference.h"

#include <fmt/format.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <map>
#include <vector>

namespace cleave::confirm {
namespace {

constexpr size_t kNothing = SIZE_MAX;

// What a thread is seen to do, in a place of the program.
bool compared(const Event& event) { return event.site != kNone<SiteId> && event.kind != EventKind::Branch; }

std::string what(const Trace& trace, const Event& event) {
  const SiteInfo& site = trace.site(event.site);
  return fmt::format("{} at {}:{}", word_of(event.kind), site.file, site.line);
}
std::string who(const Trace& trace, const Event& event) {
  const ThreadInfo& thread = trace.thread(event.thread);
  return thread.path.empty() ? thread.name : thread.path;
}

bool same(const Trace& a, const Event& x, const Trace& b, const Event& y) {
  const SiteInfo &p = a.site(x.site), &q = b.site(y.site);
  return x.kind == y.kind && p.line == q.line && p.column == q.column && p.file == q.file;
}

// One order of events with, for each access, the write that it finds (an index into the order).
struct Story {
  const Trace* trace;
  std::vector<EventIndex> events;
  std::vector<size_t> found;
  boost::unordered_flat_map<uint32_t, size_t> last_write;

  void add(EventIndex at) {
    const Event& event = trace->event(at);
    found.push_back(kNothing);
    if (is_access(event.kind)) {
      auto [it, fresh] = last_write.emplace(event.object, kNothing);
      found.back() = it->second;
      if (writes(event.kind)) it->second = events.size();
    }
    events.push_back(at);
  }
  const Event& event(size_t i) const { return trace->event(events[i]); }
};

std::string source(const Story& story, size_t write) {
  if (write == kNothing) return "what was there at the beginning";
  return fmt::format("the {} by thread {}", what(*story.trace, story.event(write)),
                     who(*story.trace, story.event(write)));
}

}  // namespace

std::string first_difference(const Trace& recorded, std::span<const prediction::EventNumber> order,
                             const Trace& run) {
  Story model{&recorded, {}, {}, {}}, real{&run, {}, {}, {}};
  std::map<std::string, std::vector<size_t>> real_events;  // by thread
  for (size_t e = 0; e < run.size(); ++e) {
    if (!compared(run.events()[e])) continue;
    real_events[who(run, run.events()[e])].push_back(real.events.size());
    real.add(EventIndex{e});
  }
  std::map<std::string, size_t> done;
  std::vector<size_t> counterpart;  // in the run, of each event of the model
  for (prediction::EventNumber e : order) {
    const Event& event = recorded.events()[e];
    if (!compared(event)) continue;
    const std::string thread = who(recorded, event);
    const std::vector<size_t>& theirs = real_events[thread];
    const size_t at = done[thread]++;
    const std::string expected = fmt::format("thread {} should {}", thread, what(recorded, event));
    if (at >= theirs.size()) return expected + ", but has ended before";
    if (!same(recorded, event, run, real.event(theirs[at]))) {
      return fmt::format("{}, but comes to {}", expected, what(run, real.event(theirs[at])));
    }
    model.add(EventIndex{e});
    counterpart.push_back(theirs[at]);
    if (!reads(event.kind)) continue;
    const size_t wanted = model.found.back(), got = real.found[theirs[at]];
    if ((wanted == kNothing ? kNothing : counterpart[wanted]) != got) {
      return fmt::format("{} and find {}, but finds {}", expected, source(model, wanted), source(real, got));
    }
  }
  return "";
}

}  // namespace cleave::confirm
