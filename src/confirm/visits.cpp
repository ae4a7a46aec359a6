#include "confirm/visits.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>

#include "exec/tables.h"
#include "trace/recorded/reader.h"
#include "trace/recorded/records.h"

namespace cleave::confirm {
namespace {

// One of each sort of operation that a place may have; all that is done in calls is one.
constexpr std::array kSorts = {EventKind::Read,  EventKind::Write, EventKind::Update,
                               EventKind::Begin, EventKind::End,   EventKind::Acquire};

size_t sort_of(EventKind kind) {
  auto it = std::find(kSorts.begin(), kSorts.end(), kind);
  return it == kSorts.end() ? kSorts.size() - 1 : static_cast<size_t>(it - kSorts.begin());
}

// Places as milestones name them, and which of them a segment's slots stand at.
class Places {
 public:
  size_t number(const std::string& file, uint32_t line, uint32_t column, const std::string& function) {
    return numbers_.emplace(std::tuple(file, line, column, function), numbers_.size()).first->second;
  }

  // What a visit of the segment counts for: place and sort.
  const std::vector<size_t>& counted(const Module& module, size_t segment) {
    std::vector<std::vector<size_t>>& all = counted_[&module];
    if (all.empty()) {
      for (const SegmentTable& table : module.tables.segments) all.push_back(counted(module.tables, table));
    }
    return all[segment];
  }

  size_t size() const { return numbers_.size() * kSorts.size(); }

 private:
  std::vector<size_t> counted(const SiteTables& tables, const SegmentTable& segment) {
    std::vector<size_t> keys;
    for (const Slot& slot : segment.slots) {
      if (slot.site >= tables.sites.size()) continue;
      const SiteEntry& site = tables.sites[slot.site];
      const std::string file = site.file < tables.strings.size() ? tables.strings[site.file] : "";
      const std::string function =
          site.function < tables.functions.size() ? tables.functions[site.function].name : "";
      for (uint32_t column : {site.column, 0u}) {  // 0: any
        const size_t place = number(file, site.line, column, function);
        for (size_t sort = 0; sort < kSorts.size(); ++sort) {
          if (exec::gives(slot, kSorts[sort])) keys.push_back(place * kSorts.size() + sort);
        }
      }
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
  }

  std::map<std::tuple<std::string, uint32_t, uint32_t, std::string>, size_t> numbers_;
  std::map<const Module*, std::vector<std::vector<size_t>>> counted_;
};

// Goes along one thread's records and events together.
class ThreadCursor {
 public:
  ThreadCursor(const RecordedTrace& recorded, Places& places, const std::vector<size_t>& key_of_site,
               std::vector<uint32_t>* visits)
      : recorded_(recorded), places_(places), key_of_site_(key_of_site), visits_(*visits) {}

  void run(size_t lane, std::vector<uint32_t> events) {
    auto before = [this](uint32_t a, uint32_t b) {
      return std::pair(place_of(a), a) < std::pair(place_of(b), b);
    };
    std::sort(events.begin(), events.end(), before);
    events_ = std::move(events);
    RecordCursor cursor(*recorded_.file, lane);
    while (const Record* record = cursor.next()) {
      if (record->kind == RecordKind::segment) {
        segment(*record);
      } else if (const SegmentPlan* hook = hook_of(*record)) {
        visit(*hook->module, hook->index);
      }
      number_up_to({record->number, UINT32_MAX});
    }
  }

 private:
  using Half = std::tuple<uint64_t, uint64_t, uint64_t>;  // segment, address, ticket
  using Place = std::pair<uint64_t, uint32_t>;            // record, slot
  Place place_of(uint32_t event) const {
    return {recorded_.origins[event].record, recorded_.origins[event].slot};
  }

  // Its legs are visited one after the other; their tables follow that of the whole, each with the slots of
  // its leg.
  void segment(const Record& record) {
    const Module& module = *record.segment->module;
    const std::vector<SegmentTable>& tables = module.tables.segments;
    const size_t whole = record.segment->index;
    if ((tables[whole].flags & CLEAVE_SEGMENT_LEGS) == 0) return visit(module, whole);
    uint32_t slots = 0;
    for (size_t leg = whole + 1; leg < tables.size() && slots < tables[whole].slots.size(); ++leg) {
      visit(module, leg);
      slots += static_cast<uint32_t>(tables[leg].slots.size());
      if (slots != 0) number_up_to({record.number, slots - 1});
    }
  }

  // The second record of a 16-byte operation is no visit of its own. Where a range is read and written, the
  // point is before the first.
  const SegmentPlan* hook_of(const Record& record) {
    const bool atomic = record.kind == RecordKind::atomic, writes = record.kind == RecordKind::range_write;
    if (!atomic && !writes && record.kind != RecordKind::range_read) return nullptr;
    if (record.words.size() < 3) return nullptr;
    if (atomic) {
      const Half half{record.words[0], record.words[1], record.words[2]};
      const bool second =
          half == Half{std::get<0>(first_half_), std::get<1>(first_half_) + 8, std::get<2>(first_half_)};
      first_half_ = half;
      if (second) return nullptr;
    }
    const SegmentPlan* hook = recorded_.file->modules().find(
        record.words[atomic ? 0 : 1] & CLEAVE_HEADER_ADDRESS_MASK, UINT64_MAX - 1);
    if (hook == nullptr || !writes) return hook;
    return (hook->module->tables.segments[hook->index].flags & CLEAVE_SEGMENT_POINT) != 0 ? hook : nullptr;
  }

  void visit(const Module& module, size_t segment) {
    for (size_t key : places_.counted(module, segment)) {
      if (key >= counts_.size()) counts_.resize(std::max(key + 1, places_.size()));
      ++counts_[key];
    }
  }

  void number_up_to(Place last) {
    for (; next_ < events_.size() && place_of(events_[next_]) <= last; ++next_) {
      const Event& event = recorded_.trace.events()[events_[next_]];
      if (event.site == kNone<SiteId>) continue;
      const size_t key = key_of_site_[raw(event.site)] * kSorts.size() + sort_of(event.kind);
      visits_[events_[next_]] = key < counts_.size() ? counts_[key] : 0;
    }
  }

  const RecordedTrace& recorded_;
  Places& places_;
  const std::vector<size_t>& key_of_site_;
  std::vector<uint32_t>& visits_;
  std::vector<uint32_t> events_;
  std::vector<uint32_t> counts_;  // by place and sort
  Half first_half_{};             // the atomic operation before
  size_t next_ = 0;
};

}  // namespace

RecordedVisits::RecordedVisits(const RecordedTrace& recorded) {
  const Trace& trace = recorded.trace;
  if (recorded.origins.size() != trace.size() || recorded.file == nullptr) return;
  visits_.resize(trace.size());
  Places places;
  std::vector<size_t> place_of_site;
  for (const SiteInfo& site : trace.sites())
    place_of_site.push_back(places.number(site.file, site.line, site.column, site.function));
  std::vector<std::vector<uint32_t>> events(trace.threads().size());
  for (uint32_t e = 0; e < trace.size(); ++e) events[raw(trace.events()[e].thread)].push_back(e);
  for (size_t thread = 0; thread < events.size(); ++thread) {
    const size_t lane = thread < recorded.lane_of_thread.size() ? recorded.lane_of_thread[thread] : SIZE_MAX;
    if (lane != SIZE_MAX)
      ThreadCursor(recorded, places, place_of_site, &visits_).run(lane, std::move(events[thread]));
  }
}

}  // namespace cleave::confirm
