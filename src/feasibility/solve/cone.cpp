#include "feasibility/solve/cone.h"

#include <algorithm>

namespace cleave {
namespace {

template <typename Function>
void each_event(const SliceIndex& index, const Slice& slice, Function visit) {
  for (size_t t = 0; t < index.trace().threads().size(); ++t) {
    auto mine = index.thread_events(id_of<ThreadId>(t));
    for (uint32_t p = slice.first(id_of<ThreadId>(t)); p < slice.length(id_of<ThreadId>(t)); ++p)
      visit(mine[p]);
  }
}

}  // namespace

Cone::Cone(const SymbolicTrace& trace, const SliceIndex& index, const Slice& slice,
           const std::vector<std::vector<Section>>& derived, const FeasibilityQuery& query, DataModel model)
    : trace_(trace), index_(index), slice_(slice), derived_(derived), query_(query), model_(model) {
  for (EventIndex at : {query_.first, query_.remote, query_.second})
    flags_.insert(static_cast<uint32_t>(raw(at)));
  keep_structure();
  if (model_ != DataModel::Ignored) keep_query();
  keep_data();
  keep_locks();
  events_.assign(flags_.begin(), flags_.end());
  std::sort(events_.begin(), events_.end());
}

Cone::Cone(const SymbolicTrace& trace, const SliceIndex& index, const Slice& slice,
           const std::vector<std::vector<Section>>& derived,
           const boost::unordered_flat_set<uint32_t>& marked, DataModel model)
    : trace_(trace),
      index_(index),
      slice_(slice),
      derived_(derived),
      query_{kNone<EventIndex>, kNone<EventIndex>, kNone<EventIndex>, Pattern::None},
      model_(model),
      flags_(marked) {
  keep_structure();
  keep_data();
  keep_locks();
  events_.assign(flags_.begin(), flags_.end());
  std::sort(events_.begin(), events_.end());
}

// What orders threads: forks, joins, barriers, wakes and downs with what serves them.
void Cone::keep_structure() {
  std::vector<bool> awaited(index_.trace().syncs().size(), false);
  each_event(index_, slice_, [&](uint32_t e) {
    const Event& event = index_.trace().events()[e];
    if (event.kind == EventKind::Wake || event.kind == EventKind::Down) awaited[event.object] = true;
  });
  each_event(index_, slice_, [&](uint32_t e) {
    const Event& event = index_.trace().events()[e];
    switch (event.kind) {
      case EventKind::Wait:
      case EventKind::Wake:
      case EventKind::Down:
        flags_.insert(e);
        break;
      case EventKind::Signal:
      case EventKind::Broadcast:
      case EventKind::Post:
        if (awaited[event.object]) flags_.insert(e);
        break;
      default:
        break;
    }
    for (uint32_t needed : index_.must_follow(e)) {
      flags_.insert(e);
      if (slice_.inside(needed)) flags_.insert(needed);
    }
  });
}

// What the guards of the violation compare.
void Cone::keep_query() {
  for (EventIndex at : {query_.first, query_.remote, query_.second}) {
    need(trace_.stored(at));
    if (const MovingStore* moving = trace_.moving(at)) need(moving->index);
  }
  keep_writers(index_.trace().event(query_.first).variable());
}

void Cone::keep_data() {
  if (model_ == DataModel::Ignored) return;
  each_event(index_, slice_, [&](uint32_t e) {
    SymbolId bound = trace_.bound(id_of<EventIndex>(e));
    if (model_ == DataModel::Recorded && bound != kNone<SymbolId> && symbols_.insert(raw(bound)).second)
      open_.push_back(e);
    ExpressionId condition = trace_.condition(id_of<EventIndex>(e));
    if (condition == kNone<ExpressionId> || trace_.pool().is_constant(condition)) return;
    flags_.insert(e);
    need(condition);
  });
  for (const std::vector<Section>& sections : derived_) {
    for (const Section& s : sections) {
      if (slice_.inside(s.begin)) flags_.insert(s.begin);
      if (s.end != kNowhere && slice_.inside(s.end)) flags_.insert(s.end);
    }
  }
  while (!open_.empty()) {
    uint32_t read = open_.back();
    open_.pop_back();
    if (!slice_.inside(read)) continue;
    flags_.insert(read);
    const Event& event = index_.trace().events()[read];
    if (is_access(event.kind)) keep_writers(event.variable());
  }
}

void Cone::need(ExpressionId expression) {
  if (expression == kNone<ExpressionId> || trace_.pool().is_constant(expression)) return;
  for (SymbolId symbol : needed_.fresh(expression)) {
    if (symbols_.insert(raw(symbol)).second)
      open_.push_back(static_cast<uint32_t>(raw(trace_.symbol(symbol).event)));
  }
}

void Cone::keep_writers(VariableId variable) {
  if (!variables_.insert(raw(variable)).second) return;
  for (uint32_t w : index_.writers(variable)) {
    if (!slice_.inside(w)) continue;
    flags_.insert(w);
    need(trace_.stored(id_of<EventIndex>(w)));
    if (const MovingStore* moving = trace_.moving(id_of<EventIndex>(w))) need(moving->index);
  }
}

bool Cone::something_inside(const Section& section) const {
  auto mine = index_.thread_events(section.thread);
  uint32_t end = std::min(index_.position_in_thread(section.end), slice_.length(section.thread));
  uint32_t begin = slice_.inside(section.begin) ? index_.position_in_thread(section.begin) + 1
                                                : slice_.first(section.thread);
  for (uint32_t p = begin; p < end; ++p) {
    if (flags_.contains(mine[p])) return true;
  }
  return flags_.contains(section.begin) ||
         flags_.contains(section.end);  // a wake, a wait, the first event of a thread
}

// A lock whose every section is empty excludes nothing: all of them can be passed at once. Locks that do
// matter make the sections around theirs matter.
void Cone::keep_locks() {
  std::map<uint32_t, std::vector<Section>> idle;
  each_event(index_, slice_, [&](uint32_t e) {
    if (const Section* section = index_.section_from(e)) idle[index_.lock_from(e)].push_back(*section);
  });
  if (slice_.from() > 0) {
    for (const auto& [lock, section] : index_.held_at(slice_.from())) idle[lock].push_back(section);
  }
  auto matters = [&](const Section& s) {  // one that is open where a window begins is not passed at once
    return s.end == kNowhere || !slice_.contains(s.end) || !slice_.inside(s.begin) || something_inside(s);
  };
  for (bool again = true; again;) {
    again = false;
    for (auto it = idle.begin(); it != idle.end();) {
      if (!std::any_of(it->second.begin(), it->second.end(), matters)) {
        ++it;
        continue;
      }
      again = true;
      for (const Section& s : it->second) {
        if (slice_.inside(s.begin)) flags_.insert(s.begin);
        if (s.end != kNowhere && slice_.inside(s.end)) flags_.insert(s.end);
      }
      sections_.insert(idle.extract(it++));
    }
  }
}

std::vector<uint32_t> Cone::outside() const {
  std::vector<uint32_t> found;
  auto look = [&](std::span<const uint32_t> among) {
    for (uint32_t e : among) {  // what comes after the end of the story helps nobody
      if (!slice_.contains(e) && !index_.must_before(static_cast<uint32_t>(raw(query_.second)), e))
        found.push_back(e);
    }
  };
  for (uint32_t variable : variables_) look(index_.writers(VariableId{variable}));
  for (uint32_t e : events_) {
    const Event& event = index_.trace().events()[e];
    if (event.kind == EventKind::Wake) look(index_.wakers(e));
    if (event.kind == EventKind::Down) look(index_.posts(event.sync()));
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<EventIndex> Cone::complete(const SliceIndex& index, const std::vector<uint32_t>& order) const {
  std::vector<uint32_t> done;
  for (size_t t = 0; t < index.trace().threads().size(); ++t)
    done.push_back(slice_.first(id_of<ThreadId>(t)));
  std::vector<EventIndex> all;
  for (uint32_t e = 0; e < slice_.from(); ++e)
    all.push_back(id_of<EventIndex>(e));  // what came before the window
  for (uint32_t e : order) {
    ThreadId thread = index.trace().events()[e].thread;
    auto mine = index.thread_events(thread);
    uint32_t& at = done[raw(thread)];
    while (at <= index.position_in_thread(e)) all.push_back(id_of<EventIndex>(mine[at++]));
    if (e == order.back()) break;
    auto goes_on = [&](uint32_t next) {
      return slice_.contains(next) && !contains(next) &&
             trace_.run_of(id_of<EventIndex>(next)) == trace_.run_of(id_of<EventIndex>(e));
    };
    while (at < mine.size() && goes_on(mine[at])) all.push_back(id_of<EventIndex>(mine[at++]));
  }
  return all;
}

}  // namespace cleave
