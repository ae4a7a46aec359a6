#include "units/causal.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "trace/core/unit_flags.h"
#include "units/dataflow.h"
#include "units/sections.h"
#include "units/sharing.h"
#include "units/views.h"

namespace cleave::units {
namespace {

// A read that is followed, with the circumstances in which it was made.
struct FollowedRead {
  EventIndex event;
  VariableId variable;
  GroupId group;
  Protection protection;
  uint32_t section = 0;   // of its thread, for `changed`
  bool compares = false;  // a compare-exchange made it
  uint32_t call = UINT32_MAX;
  std::string_view member;  // CausalRules::member_of
  TagSet control;           // what decided that it was made
  // The thread's own write, in an earlier section of the same call, that the read should find there.
  EventIndex carried = kNone<EventIndex>;
  EventIndex made_before{0};  // the last time that the thread read anything at this place
};

// Collects pairs into units: pairs that share an access are one unit, of the outermost of their calls.
class UnitBuilder {
 public:
  UnitBuilder(const Trace& trace, std::vector<CausalUnit>& units) : trace_(trace), units_(units) {
    auto names = trace.unit_names();
    for (size_t n = 0; n < names.size(); ++n) {
      if ((names[n].flags & (kUnitRound | kUnitMayWait)) == 0)
        names_.try_emplace(names[n].name, UnitNameId{static_cast<uint32_t>(n)});
    }
  }
  struct Pair {
    EventIndex first, second;
    RuleId rule;
    bool by_data = false;
  };
  // Whether both come from the same call in the covering function, made twice: in a loop, say.
  bool come_again(EventIndex first, EventIndex second, const OpenCall* call) const {
    const auto a = frames_of(first), b = frames_of(second);
    const size_t same = common(a, b, call);
    return a[same].first == b[same].first;
  }

  void add(const Pair& pair, const OpenCall* call) {
    const uint32_t a = number_of(pair.first), b = number_of(pair.second);
    uint32_t unit = std::min(a, b);
    if (unit == kNobody) {
      unit = static_cast<uint32_t>(units_.size());
      units_.push_back(make(pair, call));
    } else if (a != kNobody && b != kNobody && a != b) {
      merge(unit, std::max(a, b));
    }
    CausalUnit& into = units_[unit];
    // The outermost call covers all.
    if (call != nullptr && call->begin < into.unit.begin) describe(into, pair, call);
    put(into, unit, pair.first);
    put(into, unit, pair.second);
  }

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  uint32_t number_of(EventIndex event) const {
    auto it = unit_of_.find(raw(event));
    return it == unit_of_.end() ? kNobody : it->second;
  }
  void put(CausalUnit& unit, uint32_t number, EventIndex event) {
    auto [it, fresh] = unit_of_.try_emplace(raw(event), number);
    if (fresh) unit.accesses.push_back(event);
  }
  void merge(uint32_t into, uint32_t from) {
    for (EventIndex event : units_[from].accesses) {
      unit_of_[raw(event)] = into;
      units_[into].accesses.push_back(event);
    }
    if (units_[from].unit.begin < units_[into].unit.begin) {
      std::vector<EventIndex> accesses = std::move(units_[into].accesses);
      units_[into] = units_[from];
      units_[into].accesses = std::move(accesses);
    }
    units_[from].accesses.clear();
  }  // The frames of an event from the outermost on: the call sites, and the event's own.
  std::vector<std::pair<SiteId, ContextId>> frames_of(EventIndex event) const {
    std::vector<std::pair<SiteId, ContextId>> frames{{trace_.event(event).site, trace_.event(event).context}};
    while (frames.back().second != kNone<ContextId>) {
      const ContextInfo& info = trace_.context(frames.back().second);
      frames.push_back({info.call_site, info.parent});
    }
    std::reverse(frames.begin(), frames.end());
    return frames;
  }
  // How many frames, from the outermost on, are those of calls that both accesses are in: where the frames
  // part, or where another call of a marked function begins than the covering one.
  size_t common(const std::vector<std::pair<SiteId, ContextId>>& a,
                const std::vector<std::pair<SiteId, ContextId>>& b, const OpenCall* call) const {
    const size_t covered = call == nullptr ? 0 : frames_of(call->begin).size() - 1;
    size_t same = 0;
    while (same + 1 < std::min(a.size(), b.size()) && a[same].first == b[same].first) {
      const SiteId inner = a[same + 1].first;
      if (same >= covered && inner != kNone<SiteId> && names_.contains(trace_.site(inner).function)) break;
      ++same;
    }
    return same;
  }
  // The innermost function whose call covers both, which may have no mark of its own, outside of the library.
  void name_innermost(CausalUnit& unit, const Pair& pair, const OpenCall* call) const {
    const auto a = frames_of(pair.first), b = frames_of(pair.second);
    size_t same = common(a, b, call);
    while (same > 0 && is_library(a[same].first)) --same;
    if (a[same].first == kNone<SiteId> || is_library(a[same].first)) return;
    unit.unit.site = a[same].first;
    unit.unit.context = a[same].second;
    auto known = names_.find(trace_.site(a[same].first).function);
    unit.unit.name = known == names_.end() ? kNone<UnitNameId> : known->second;
  }
  bool is_library(SiteId site) const {
    return site != kNone<SiteId> && trace_.site(site).file.starts_with("/usr/");
  }
  void describe(CausalUnit& unit, const Pair& pair, const OpenCall* call) const {
    unit.rule = pair.rule;
    unit.first = pair.first;
    unit.second = pair.second;
    unit.by_data = pair.by_data;
    unit.unit.begin = call == nullptr ? pair.first : call->begin;
    unit.unit.name = call == nullptr ? kNone<UnitNameId> : call->name;
    if (call != nullptr) {
      unit.unit.object = call->object;
      unit.unit.site = call->site;
      unit.unit.context = call->context;
    }
    name_innermost(unit, pair, call);
  }
  CausalUnit make(const Pair& pair, const OpenCall* call) const {
    CausalUnit unit;
    const Event& event = trace_.event(pair.first);
    unit.unit.thread = event.thread;
    unit.unit.site = event.site;
    unit.unit.context = event.context;
    describe(unit, pair, call);
    return unit;
  }

  const Trace& trace_;
  std::vector<CausalUnit>& units_;
  std::unordered_map<std::string, UnitNameId> names_;
  boost::unordered_flat_map<uint64_t, uint32_t> unit_of_;  // by event
};

class CausalRules final : public FlowListener {
 public:
  CausalRules(const Trace& trace, const Sharing& sharing, const Views& views, const RuleSwitches& switches,
              std::vector<CausalUnit>& units)
      : trace_(trace), sharing_(sharing), views_(views), switches_(switches), builder_(trace, units) {}

  void begin_thread(ThreadId thread) override {
    thread_ = thread;
    sections_ = std::make_unique<ThreadSections>(trace_);
    reads_.clear();
    latest_.clear();
    last_at_.clear();
    changed_.assign(1, {});
    written_.clear();
    section_ = 0;
    last_wait_ = EventIndex{0};
    validated_ = UINT32_MAX;
    own_writes_.clear();
    writes_.clear();
  }

  void event(EventIndex index) override {
    const bool held = !sections_->protection().empty();
    const EventKind kind = trace_.event(index).kind;
    if (held && (kind == EventKind::Release || kind == EventKind::ReleaseShared || kind == EventKind::Wait))
      end_section();
    if (may_wait(trace_.event(index))) last_wait_ = index;
    sections_->feed(index);
    if (held != !sections_->protection().empty()) next_section();
    while (!written_.empty() && written_.size() > sections_->calls().size()) written_.pop_back();
  }

  void access(const AccessFlow& flow) override {
    const Event& event = trace_.event(flow.event);
    control_ = flow.control;
    if (writes(event.kind)) flow.value.each([&](Tag tag, bool) { write_read(reads_[tag]); });
    if (sections_->protection().empty()) next_section();  // protected for this one access
    if (sharing_.alone(flow.event) || !sharing_.touched_by_other(event.variable(), thread_)) return;
    const GroupId group = sharing_.group(event.variable());
    if (writes(event.kind)) changed_[section_].push_back(group);
    if (!writes(event.kind) && !sharing_.written_by_other(event.variable(), thread_)) return;
    if (flow.compares && switches_.on(RuleId::CompareExchange)) return;
    find_unvalidated(flow);
    auto look = [&](Tag tag, bool) { decide_then_act(reads_[tag], flow, group, true); };
    flow.value.each(look);
    flow.address.each(look);
    if (writes(event.kind)) {
      flow.control.each([&](Tag tag, bool) { decide_then_act(reads_[tag], flow, group, false); });
      note_write(flow);
    }
  }

  bool tag(EventIndex index, bool compares, Tag* tag) override {
    const Event& event = trace_.event(index);
    if (sharing_.alone(index)) return false;
    if (switches_.on(RuleId::Unchanging) ? !sharing_.written_by_other(event.variable(), thread_)
                                         : !sharing_.touched_by_other(event.variable(), thread_))
      return false;
    *tag = static_cast<Tag>(reads_.size());
    reads_.push_back({index, event.variable(), sharing_.group(event.variable()), sections_->protection(),
                      section_, compares, sections_->innermost(), member_of(event), control_,
                      carried_from(event), std::exchange(last_at_[place_of(event).first], index)});
    latest_[place_of(event)] = index;
    return true;
  }

  bool carries(VariableId variable) override { return !sharing_.touched_by_other(variable, thread_); }
  void meeting(const TagSet& values, bool in_branch) override {
    if (!switches_.on(RuleId::ReadRead)) return;
    std::vector<const FollowedRead*> reads;
    values.each([&](Tag tag, bool control) {
      if (!control) reads.push_back(&reads_[tag]);
    });
    for (size_t i = 0; i < reads.size(); ++i) {
      for (size_t j = i + 1; j < reads.size(); ++j) read_read(*reads[j], *reads[i], in_branch);
    }
  }

 private:
  // Of a read: where it stands and what it read, so that the same one is known when it comes again.
  using Place = std::pair<uint64_t, uint32_t>;
  static Place place_of(const Event& event) {
    return {uint64_t{raw(event.site)} << 32 | raw(event.context), event.object};
  }
  bool may_wait(const Event& event) const {
    if (event.kind == EventKind::Begin) return (trace_.unit_name(event.unit()).flags & kUnitMayWait) != 0;
    return event.kind == EventKind::Wait || event.kind == EventKind::Down || event.kind == EventKind::Pass ||
           event.kind == EventKind::Join;
  }
  void next_section() {
    ++section_;
    changed_.emplace_back();
  }

  bool excluded(const FollowedRead& first, EventIndex second) {
    if (switches_.on(RuleId::WaitBetween) && first.event < last_wait_) return true;
    if (switches_.on(RuleId::SamePlace) &&
        place_of(trace_.event(first.event)) == place_of(trace_.event(second)))
      return true;
    if (switches_.on(RuleId::SameProtection) && share(first.protection, sections_->protection())) return true;
    return outdated(first, second) || taken_out(first) || replaced(first);
  }
  // Whether the thread has written the location itself since, in a section before this one.
  bool replaced(const FollowedRead& first) const {
    if (!switches_.on(RuleId::OwnWrite)) return false;
    auto it = own_writes_.find(raw(first.variable));
    if (it == own_writes_.end()) return false;
    const OwnWrite& write = it->second;
    return write.section != section_ ? first.event < write.event : first.event < write.before;
  }
  bool outdated(const FollowedRead& first, EventIndex second) const {
    if (!switches_.on(RuleId::LatestInstance)) return false;
    auto it = latest_.find(place_of(trace_.event(first.event)));
    return it != latest_.end() && it->second != first.event && it->second < second;
  }
  bool taken_out(const FollowedRead& first) const {
    if (!switches_.on(RuleId::TakenOut)) return false;
    const std::vector<GroupId>& changed = changed_[first.section];
    return std::find(changed.begin(), changed.end(), first.group) != changed.end();
  }

  // Which earlier sections the access does not look at again: what it decides by in its own section, in code
  // of the program (a library that searches its tree again does not ask whether to act), leaves out a
  // location that it depends on from there.
  void find_unvalidated(const AccessFlow& flow) {
    looked_at_.clear();
    unvalidated_.clear();
    flow.decided.each([&](Tag tag, bool) {
      if (reads_[tag].section == section_ && !reads_[tag].protection.empty())
        looked_at_.push_back(reads_[tag].member);
    });
    auto look = [&](Tag tag, bool) {
      const FollowedRead& read = reads_[tag];
      if (std::find(looked_at_.begin(), looked_at_.end(), read.member) == looked_at_.end())
        unvalidated_.push_back(read.section);
    };
    flow.control.each(look);
    flow.value.each(look);
    flow.address.each(look);
  }
  bool revalidated(const FollowedRead& first) const {
    if (!switches_.on(RuleId::Revalidated)) return false;
    return validated_ == section_ ||
           std::find(unvalidated_.begin(), unvalidated_.end(), first.section) == unvalidated_.end();
  }

  // Whether two locations are bound together: some section of another thread writes both.
  bool bound(VariableId a, VariableId b) const {
    return a == b || !switches_.on(RuleId::WrittenTogether) || views_.written_together(a, b, thread_);
  }

  void decide_then_act(const FollowedRead& first, const AccessFlow& flow, GroupId group, bool by_data) {
    if (!switches_.on(RuleId::DecideThenAct) || first.group != group || first.section == section_) return;
    if (excluded(first, flow.event)) return;
    if (revalidated(first)) return;
    const OpenCall* call = sections_->covering(first.event, sections_->innermost());
    if (switches_.on(RuleId::SameRound) && builder_.come_again(first.event, flow.event, call)) return;
    builder_.add({first.event, flow.event, RuleId::DecideThenAct, by_data}, call);
  }

  // Under a lock, or atomic. What is neither is kept in order by means that are not seen, or races.
  bool guarded(const FollowedRead& read) const {
    return !read.protection.empty() || trace_.event(read.event).atomic();
  }
  // Whether the first value decided that there was a second look.
  bool made_because_of(const FollowedRead& second, const FollowedRead& first) const {
    bool found = false;
    second.control.each([&](Tag tag, bool) { found |= reads_[tag].event == first.event; });
    return found;
  }

  void read_read(const FollowedRead& first, const FollowedRead& second, bool in_branch) {
    if (first.compares || second.compares || !guarded(first) || !guarded(second)) return;
    if (made_because_of(second, first)) return;
    if (in_branch && first.variable == second.variable) {  // a value is compared with what it was
      if (second.section == section_ && first.section != section_ && !second.protection.empty())
        validated_ = section_;
      return;
    }
    // The same location twice: only where the same code is asked twice. Else it is looked at again.
    if (first.variable == second.variable &&
        trace_.event(first.event).site != trace_.event(second.event).site)
      return;
    if (first.group != second.group || first.section == second.section) return;
    if (share(first.protection, second.protection)) return;
    if (!bound(first.variable, second.variable)) return;
    if (excluded(first, second.event) || outdated(second, kNone<EventIndex>) || taken_out(second)) return;
    const OpenCall* call = sections_->covering(first.event, second.call);
    if (switches_.on(RuleId::SameRound) && builder_.come_again(first.event, second.event, call)) return;
    builder_.add({first.event, second.event, RuleId::ReadRead, true}, call);
  }

  struct OwnWrite {
    EventIndex event{0};
    uint32_t section = 0;
    EventIndex before{0};  // the last one of an earlier section
    bool blind = false;    // what it wrote was not made of what was there
  };

  // The thread's own write that a read should find: made blindly, in an earlier section, to a variable of the
  // program's own and not inside a container. kNone: there is none.
  EventIndex carried_from(const Event& read) const {
    auto it = own_writes_.find(read.object);
    const bool carried = switches_.on(RuleId::WriteRead) && it != own_writes_.end() && it->second.blind &&
                         it->second.section != section_ && !sections_->protection().empty() &&
                         !writes(read.kind) && !read.atomic();
    return carried ? it->second.event : kNone<EventIndex>;
  }
  // A value that was put into a shared location and taken from there again is being written somewhere.
  void write_read(FollowedRead& read) {
    if (read.carried == kNone<EventIndex> || read.event <= read.carried) return;
    const EventIndex write = std::exchange(read.carried, kNone<EventIndex>);
    if (switches_.on(RuleId::WaitBetween) && write < last_wait_) return;
    const OpenCall* call = sections_->covering(write, read.call);
    // A thread does one thing after the other: its outermost call does not bind them together.
    if (call == nullptr || call->caller == UINT32_MAX) return;
    if (call->begin < read.made_before && read.made_before < write)
      return;  // the next round of a loop reads what this one wrote
    if (switches_.on(RuleId::SameRound) && builder_.come_again(write, read.event, call)) return;
    builder_.add({write, read.event, RuleId::WriteRead, true}, call);
  }

  bool made_of_itself(const AccessFlow& flow) const {
    const VariableId variable = trace_.event(flow.event).variable();
    bool found = reads(trace_.event(flow.event).kind);
    flow.value.each([&](Tag tag, bool) { found |= reads_[tag].variable == variable; });
    return found;
  }
  void note_write(const AccessFlow& flow) {
    const EventIndex index = flow.event;
    const Event& event = trace_.event(index);
    auto [it, fresh] = own_writes_.try_emplace(event.object);
    if (!fresh && it->second.section != section_) it->second.before = it->second.event;
    it->second.event = index;
    it->second.section = section_;
    it->second.blind = !made_of_itself(flow) && !sections_->protection().empty() && !is_library(event);
    if (writes_.size() < kMostWrites)
      writes_.push_back({index, event.variable(), sharing_.group(event.variable()), member_of(event),
                         is_library(event) && !event.atomic()});
    if (sections_->protection().empty()) end_section();
  }
  bool is_library(const Event& event) const {
    return event.site != kNone<SiteId> && trace_.site(event.site).file.starts_with("/usr/");
  }

  // What of the program's an access touches: what a library writes within one container is one thing.
  std::string_view member_of(const Event& event) const {
    std::string_view name = trace_.variable(event.variable()).name;
    return is_library(event) && !event.atomic() ? name.substr(0, name.find_first_of(".[")) : name;
  }

  struct Write {
    EventIndex event;
    VariableId variable;
    GroupId group;
    std::string_view member;
    bool library = false;
  };
  using SectionWrites = std::vector<Write>;
  static bool has(const SectionWrites& writes, VariableId variable) {
    return std::any_of(writes.begin(), writes.end(), [&](const Write& w) { return w.variable == variable; });
  }

  // A section that wrote is over. Sections of one call that write different parts of what others read
  // together (MoTH, definition 8: their views are no chain). Not of the outermost call: a thread does one
  // thing after the other.
  void end_section() {
    if (writes_.empty()) return;
    const std::vector<uint32_t>& calls = sections_->calls();
    written_.resize(calls.size());
    for (size_t c = calls.size(); c > 1 && switches_.on(RuleId::WriteWrite); --c) {
      for (const SectionWrites& before : written_[c - 1]) write_write(before, sections_->call(calls[c - 1]));
    }
    for (size_t c = 1; c < calls.size(); ++c) {
      if (written_[c].size() < kMostWrites) written_[c].push_back(writes_);
    }
    writes_.clear();
  }
  static bool of_one_container(const Write& a, const Write& b) {
    auto innards = [](const Write& w) { return w.library && w.member.starts_with("std::"); };
    return ((a.library || b.library) && a.member == b.member) || innards(a) || innards(b);
  }
  void write_write(const SectionWrites& before, const OpenCall& call) {
    for (const Write& a : before) {
      if (has(writes_, a.variable)) continue;
      for (const Write& b : writes_) {
        if (a.group != b.group || has(before, b.variable) || of_one_container(a, b)) continue;
        if (!views_.read_together(a.variable, b.variable, thread_)) continue;
        builder_.add({a.event, b.event, RuleId::WriteWrite, false}, &call);
      }
    }
  }

  static constexpr size_t kMostWrites = 32;  // of a call that are kept
  const Trace& trace_;
  const Sharing& sharing_;
  const Views& views_;
  const RuleSwitches& switches_;
  UnitBuilder builder_;
  ThreadId thread_ = kNone<ThreadId>;
  std::unique_ptr<ThreadSections> sections_;
  std::vector<FollowedRead> reads_;                          // by tag
  boost::unordered_flat_map<Place, EventIndex> latest_;      // of each place, its last read
  boost::unordered_flat_map<uint64_t, EventIndex> last_at_;  // the same, whatever it read
  std::vector<std::vector<GroupId>> changed_;                // by section
  uint32_t section_ = 0;
  EventIndex last_wait_{0};
  uint32_t validated_ = UINT32_MAX;  // section that compares a location with what it was
  boost::unordered_flat_map<uint32_t, OwnWrite> own_writes_;
  SectionWrites writes_;                             // of this section
  std::vector<std::string_view> looked_at_;          // members
  TagSet control_;                                   // of the access at hand
  std::vector<uint32_t> unvalidated_;                // sections
  std::vector<std::vector<SectionWrites>> written_;  // by open call
};

}  // namespace

std::vector<CausalUnit> causal_units(const RecordedTrace& recorded, const dependence::ProgramFlow& program,
                                     SetMap& sets, const RuleSwitches& switches) {
  std::vector<CausalUnit> units;
  const Sharing sharing(recorded.trace, sets);
  const Views views(recorded.trace, sharing);
  CausalRules rules(recorded.trace, sharing, views, switches, units);
  follow_values(recorded, program, rules);
  std::erase_if(units, [](const CausalUnit& unit) { return unit.accesses.empty(); });
  for (CausalUnit& unit : units) {
    std::sort(unit.accesses.begin(), unit.accesses.end());
    unit.unit.begin = unit.accesses.front();
    unit.unit.end = unit.accesses.back();
  }
  std::sort(units.begin(), units.end(), [](const CausalUnit& a, const CausalUnit& b) {
    return std::pair(a.unit.begin, a.unit.end) < std::pair(b.unit.begin, b.unit.end);
  });
  return units;
}

}  // namespace cleave::units
