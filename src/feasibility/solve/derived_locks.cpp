#include "feasibility/solve/derived_locks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace cleave {
namespace {

class Recogniser {
 public:
  Recogniser(const SymbolicTrace& symbolic, const SliceIndex& index)
      : symbolic_(symbolic), index_(index), values_(symbolic.symbols().size(), 0) {
    for (size_t lock = 0; lock < index.trace().syncs().size(); ++lock) {
      for (const Section& s : index.sections(id_of<SyncId>(lock))) {
        if (!s.shared) sections_of_thread_[raw(s.thread)].push_back({s, static_cast<uint32_t>(lock)});
      }
    }
    for (auto& [thread, sections] : sections_of_thread_) {
      std::sort(sections.begin(), sections.end(),
                [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
    }
  }

  std::optional<std::vector<Section>> recognise(VariableId variable,
                                                const std::vector<uint32_t>& accesses) const {
    const uint64_t free_value = index_.trace().variable(variable).initial;
    std::optional<uint32_t> mutex;
    std::vector<uint64_t> taken_values;
    for (uint32_t w : index_.writers(variable)) {
      if (symbolic_.moving(id_of<EventIndex>(w)) != nullptr) return std::nullopt;
      std::optional<uint64_t> value = constant_written(w);
      if (!value) return std::nullopt;
      if (*value != free_value) taken_values.push_back(*value);
    }
    if (taken_values.empty()) return std::nullopt;

    std::map<uint32_t, uint32_t> holding;  // thread → its set
    std::map<uint32_t, uint32_t>
        seen_free;  // thread → section begin in which it saw the flag free, still valid
    std::vector<Section> stretches;
    for (uint32_t a : accesses) {
      const Event& e = index_.trace().events()[a];
      auto section = innermost(a);
      if (!section) {
        if (e.kind == EventKind::Read) continue;  // looking without the lock decides nothing
        return std::nullopt;
      }
      if (!mutex) mutex = section->second;
      if (*mutex != section->second) return std::nullopt;
      uint32_t thread = raw(e.thread);
      if (e.kind == EventKind::Read) {
        if (asks_for_free(a, section->first, taken_values)) seen_free[thread] = section->first.begin;
        continue;
      }
      if (e.kind != EventKind::Write) return std::nullopt;
      if (*constant_written(a) == free_value) {
        auto it = holding.find(thread);
        if (it == holding.end()) return std::nullopt;  // freed by another than its setter
        stretches.push_back({it->second, a, e.thread, false});
        holding.erase(it);
        seen_free.erase(thread);
      } else {
        auto it = seen_free.find(thread);
        if (holding.contains(thread) || it == seen_free.end() || it->second != section->first.begin)
          return std::nullopt;
        holding[thread] = a;
        seen_free.erase(it);
      }
    }
    for (const auto& [thread, set] : holding) stretches.push_back({set, kNowhere, ThreadId{thread}, false});
    return stretches;
  }

 private:
  std::optional<uint64_t> constant_written(uint32_t w) const {
    ExpressionId stored = symbolic_.stored(id_of<EventIndex>(w));
    if (stored == kNone<ExpressionId> || !symbolic_.pool().is_constant(stored)) return std::nullopt;
    return symbolic_.pool()[stored].value;
  }

  // The exclusive section of the event's thread that is open at it and was opened last.
  std::optional<std::pair<Section, uint32_t>> innermost(uint32_t event) const {
    auto it = sections_of_thread_.find(raw(index_.trace().events()[event].thread));
    if (it == sections_of_thread_.end()) return std::nullopt;
    const auto& sections = it->second;
    auto after = std::upper_bound(sections.begin(), sections.end(), event,
                                  [](uint32_t at, const auto& s) { return at < s.first.begin; });
    while (after != sections.begin()) {
      --after;
      if (after->first.end == kNowhere || after->first.end > event) return *after;
    }
    return std::nullopt;
  }

  // Whether the thread, within the section, takes a branch that no taken value of the flag allows.
  bool asks_for_free(uint32_t read, const Section& section, const std::vector<uint64_t>& taken_values) const {
    SymbolId symbol = symbolic_.bound(id_of<EventIndex>(read));
    if (symbol == kNone<SymbolId>) return false;
    auto mine = index_.thread_events(section.thread);
    for (uint32_t p = index_.position_in_thread(read); p < mine.size() && mine[p] < section.end; ++p) {
      ExpressionId condition = symbolic_.condition(id_of<EventIndex>(mine[p]));
      if (condition == kNone<ExpressionId> || symbolic_.pool().only_symbol(condition) != symbol) continue;
      bool refuses_all = std::all_of(taken_values.begin(), taken_values.end(), [&](uint64_t taken) {
        values_[raw(symbol)] = taken;
        return symbolic_.pool().evaluate(condition, values_) == 0;
      });
      if (refuses_all) return true;
    }
    return false;
  }

  const SymbolicTrace& symbolic_;
  const SliceIndex& index_;
  mutable std::vector<uint64_t> values_;  // by symbol, for evaluation: only that of the question counts
  std::map<uint32_t, std::vector<std::pair<Section, uint32_t>>> sections_of_thread_;
};

}  // namespace

std::vector<std::vector<Section>> derived_locks(const SymbolicTrace& trace, const SliceIndex& index) {
  // Only variables that some condition looks at can be flags.
  std::set<uint32_t> looked_at;
  SymbolCollector symbols(trace.pool());
  for (size_t i = 0; i < trace.trace().size(); ++i) {
    ExpressionId condition = trace.condition(id_of<EventIndex>(i));
    if (condition == kNone<ExpressionId>) continue;
    for (SymbolId s : symbols.fresh(condition)) {
      const Event& binder = trace.trace().event(trace.symbol(s).event);
      if (is_access(binder.kind)) looked_at.insert(binder.object);
    }
  }
  std::map<uint32_t, std::vector<uint32_t>> accesses;
  for (uint32_t i = 0; i < trace.trace().size(); ++i) {
    const Event& e = trace.trace().events()[i];
    if (is_access(e.kind) && looked_at.contains(e.object)) accesses[e.object].push_back(i);
  }
  Recogniser recogniser(trace, index);
  std::vector<std::vector<Section>> locks;
  for (const auto& [variable, events] : accesses) {
    auto stretches = recogniser.recognise(VariableId{variable}, events);
    if (stretches && stretches->size() > 1) locks.push_back(std::move(*stretches));
  }
  return locks;
}

}  // namespace cleave
