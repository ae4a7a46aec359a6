#include <algorithm>
#include <map>
#include <optional>

#include "judge/judge.h"

namespace cleave::judge {
namespace {

bool same_place(const SiteInfo& a, const SiteInfo& b) {
  return a.file == b.file && a.line == b.line && a.function == b.function &&
         (a.column == b.column || a.column == 0 || b.column == 0);
}

// The outermost unit around every event, as a running state over the trace.
class OutermostUnit {
 public:
  OutermostUnit(const Trace& trace, std::span<const UnitSpan> units)
      : units_(units), open_(trace.threads().size(), SIZE_MAX) {}

  // Index of the unit, or SIZE_MAX. Positions must be asked in trace order.
  size_t at(EventIndex index, ThreadId thread) {
    for (; next_ < units_.size() && units_[next_].first <= index; ++next_) {
      size_t& open = open_[raw(units_[next_].thread)];
      if (open == SIZE_MAX || units_[open].last < units_[next_].first) open = next_;
    }
    const size_t open = open_[raw(thread)];
    return open != SIZE_MAX && index <= units_[open].last ? open : SIZE_MAX;
  }

 private:
  std::span<const UnitSpan> units_;
  std::vector<size_t> open_;
  size_t next_ = 0;
};

// The latest access of a unit to a location, if it is at the first site, and what came between since.
struct Pending {
  size_t unit = SIZE_MAX;
  EventIndex first{};
  std::optional<EventIndex> remote;
};

}  // namespace

std::vector<UnitSpan> units_of(const Trace& trace) {
  std::vector<UnitSpan> units;
  std::vector<std::vector<size_t>> open(trace.threads().size());
  std::vector<EventIndex> last(trace.threads().size());
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace.events()[i];
    const EventIndex index = id_of<EventIndex>(i);
    auto& stack = open[raw(event.thread)];
    last[raw(event.thread)] = index;
    if (event.kind == EventKind::Begin) {
      stack.push_back(units.size());
      units.push_back({event.thread, index, index, event.unit()});
    } else if (event.kind == EventKind::End && !stack.empty()) {
      units[stack.back()].last = index;
      stack.pop_back();
    } else if (event.kind == EventKind::Wait) {
      for (size_t unit : stack) units[unit].last = index;
    } else if (event.kind == EventKind::Wake) {
      for (size_t& unit : stack) {
        units.push_back({event.thread, index, index, units[unit].name});
        unit = units.size() - 1;
      }
    }
  }
  for (size_t t = 0; t < open.size(); ++t) {
    for (size_t unit : open[t]) units[unit].last = std::max(units[unit].last, last[t]);
  }
  std::erase_if(units, [&](const UnitSpan& unit) {
    return unit.name != kNone<UnitNameId> && trace.unit_name(unit.name).source == UnitSource::NotAtomic;
  });
  return units;
}

Pattern pattern_of(EventKind first, EventKind remote, EventKind second) {
  if (writes(remote) && reads(second)) return writes(first) ? Pattern::WWR : Pattern::RWR;
  if (writes(remote) && writes(second)) return reads(first) ? Pattern::RWW : Pattern::WWW;
  if (reads(remote) && writes(first) && writes(second)) return Pattern::WRW;
  return Pattern::None;
}

std::optional<EventTriple> find_triple(const Trace& trace, std::span<const UnitSpan> units,
                                       const SiteTriple& sites) {
  const std::vector<EventTriple> found = find_triples(trace, units, sites, 1);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

std::vector<EventTriple> find_triples(const Trace& trace, std::span<const UnitSpan> units,
                                      const SiteTriple& sites, size_t most) {
  std::vector<EventTriple> found;
  enum : uint8_t { kFirst = 1, kRemote = 2, kSecond = 4 };
  std::vector<uint8_t> roles;
  for (const SiteInfo& site : trace.sites()) {
    roles.push_back(static_cast<uint8_t>((same_place(site, sites.first) ? kFirst : 0) |
                                         (same_place(site, sites.remote) ? kRemote : 0) |
                                         (same_place(site, sites.second) ? kSecond : 0)));
  }
  auto named = [&](ThreadId thread, const std::string& name) {
    return name.empty() || trace.thread(thread).name == name;
  };
  std::map<uint32_t, std::map<ThreadId, Pending>>
      pending;  // by variable; holds only accesses at the first site
  OutermostUnit outermost(trace, units);
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace.events()[i];
    const EventIndex index = id_of<EventIndex>(i);
    const size_t unit = outermost.at(index, event.thread);
    if (!is_access(event.kind)) continue;
    const uint8_t role = event.site == kNone<SiteId> ? 0 : roles[raw(event.site)];
    auto on_variable = pending.find(event.object);
    if (on_variable != pending.end()) {
      if (auto own = on_variable->second.find(event.thread); own != on_variable->second.end()) {
        const Pending& open = own->second;
        if ((role & kSecond) && open.remote && open.unit == unit &&
            pattern_of(trace.event(open.first).kind, trace.event(*open.remote).kind, event.kind) !=
                Pattern::None) {
          found.push_back({open.first, *open.remote, index});
          if (found.size() >= most) return found;
        }
        on_variable->second.erase(own);
      }
      if ((role & kRemote) && named(event.thread, sites.remote_thread)) {
        for (auto& [thread, open] : on_variable->second) open.remote = index;
      }
    }
    if ((role & kFirst) && unit != SIZE_MAX && named(event.thread, sites.unit_thread)) {
      pending[event.object][event.thread] = {unit, index, std::nullopt};
    }
  }
  return found;
}

}  // namespace cleave::judge
