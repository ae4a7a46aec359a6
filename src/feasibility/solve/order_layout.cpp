#include "feasibility/solve/order_layout.h"

#include <algorithm>

namespace cleave {

OrderLayout::OrderLayout(const SymbolicTrace& trace, const SliceIndex& index, const Cone& cone,
                         const std::vector<std::vector<Section>>& derived)
    : trace_(trace), index_(index), cone_(cone) {
  add_steps();
  uint32_t lock = 0;
  for (const auto& [number, list] : cone.sections()) add_sections(lock++, list);
  for (const std::vector<Section>& list : derived) add_sections(lock++, list);
  for (OrderStep& step : steps) add_data(&step);
  for (OrderStep& step : steps) add_conditions(&step);
}

void OrderLayout::add_steps() {
  std::vector<std::vector<uint32_t>> mine(index_.trace().threads().size());
  for (uint32_t e : cone_.events()) mine[raw(index_.trace().events()[e].thread)].push_back(e);
  for (uint32_t t = 0; t < mine.size(); ++t) {
    offset.push_back(static_cast<uint32_t>(steps.size()));
    for (uint32_t e : mine[t]) {
      place_.emplace(e, static_cast<uint32_t>(steps.size()));
      OrderStep step;
      step.event = e;
      step.thread = t;
      step.number = static_cast<uint32_t>(steps.size()) - offset.back();
      step.kind = index_.trace().events()[e].kind;
      steps.push_back(std::move(step));
    }
  }
  offset.push_back(static_cast<uint32_t>(steps.size()));
  for (uint32_t e : cone_.events()) in_trace_order.push_back(place_.at(e));
  for (uint32_t at = 0; at < steps.size(); ++at) {
    OrderStep& step = steps[at];
    for (uint32_t other : index_.must_follow(step.event)) {
      if (uint32_t before = step_of(other); before != UINT32_MAX) edges.emplace_back(before, at);
    }
    if (step.kind != EventKind::Wake || index_.wakers(step.event).empty() ||
        index_.wait_of(step.event) == kNowhere)
      continue;
    step.wait = step_of(index_.wait_of(step.event));
    for (uint32_t signal : index_.wakers(step.event)) {
      if (uint32_t waker = step_of(signal); waker != UINT32_MAX) step.wakers.push_back(waker);
    }
  }
}

uint32_t OrderLayout::variable(VariableId id) {
  auto [it, fresh] = number_of_.emplace(raw(id), static_cast<uint32_t>(variables.size()));
  if (fresh) {
    OrderVariable made;
    made.initial = index_.value_before(id, cone_.slice().from());
    made.writes.resize(threads());
    made.certain.resize(threads());
    variables.push_back(std::move(made));
    last_.push_back({UINT32_MAX, 0, UINT32_MAX, UINT32_MAX});
  }
  return it->second;
}

uint32_t OrderLayout::variable_of(uint32_t event) const {
  auto it = number_of_.find(index_.trace().events()[event].object);
  return it == number_of_.end() ? UINT32_MAX : it->second;
}

void OrderLayout::add_data(OrderStep* step) {
  const EventIndex at = id_of<EventIndex>(step->event);
  const Event& event = index_.trace().event(at);
  const uint32_t place = offset[step->thread] + step->number;
  if (SymbolId symbol = trace_.bound(at); symbol != kNone<SymbolId> && cone_.needs(symbol)) {
    OrderRead read;
    read.step = place;
    read.width = trace_.symbol(symbol).width;
    if (is_access(event.kind)) {
      read.variable = variable(event.variable());
    } else {
      read.variable = UINT32_MAX;
      read.free = trace_.symbol(symbol).input;
      read.fixed = trace_.symbol(symbol).recorded;
    }
    const uint32_t same = read.variable == UINT32_MAX || event.kind == EventKind::Update
                              ? UINT32_MAX
                              : same_as(*step, read.variable, event.variable(), &read);
    step->read = static_cast<uint32_t>(reads.size());
    read_of_.emplace(raw(symbol), step->read);
    if (read.variable != UINT32_MAX) last_[read.variable] = {step->thread, place, step->read, UINT32_MAX};
    reads.push_back(std::move(read));
    if (same != UINT32_MAX && reads[same].width == reads.back().width) {
      Conjunct equal;
      equal.is_equality = true;
      equal.reads = {same, step->read};
      equalities_.emplace(place, std::move(equal));
    }
  }
  if (!is_access(event.kind) || !cleave::writes(event.kind)) return;
  OrderWrite write;
  write.step = place;
  std::vector<uint32_t> targets;
  if (const MovingStore* moving = trace_.moving(at)) {
    write.moves = true;
    for (const MovingStore::Place& p : moving->places) {
      if (cone_.watches(p.variable)) targets.push_back(variable(p.variable));
    }
  } else if (cone_.watches(event.variable())) {
    targets.push_back(variable(event.variable()));
  }
  if (targets.empty()) return;
  ExpressionId stored = trace_.stored(at);
  write.unknown = stored == kNone<ExpressionId>;
  if (!write.unknown) write.stored = formula(stored, step->thread, &write.reads);
  step->write = static_cast<uint32_t>(this->writes.size());
  if (step->read != UINT32_MAX) reads[step->read].own_write = step->write;
  for (uint32_t target : targets) {
    auto note = [&](std::vector<std::vector<uint32_t>>& lists) {
      if (lists[step->thread].empty() || lists[step->thread].back() != step->write)
        lists[step->thread].push_back(step->write);
    };
    note(variables[target].writes);
    last_[target] = {write.moves ? UINT32_MAX : step->thread, place, UINT32_MAX, step->write};
    if (!write.moves) note(variables[target].certain);
  }
  this->writes.push_back(std::move(write));
}

// Behind another access of its thread under one lock that all other writers hold: the read before that
// returned the same, or the write that it sees.
uint32_t OrderLayout::same_as(const OrderStep& step, uint32_t variable, VariableId id, OrderRead* read) {
  const Access& before = last_[variable];
  if (before.thread != step.thread) return UINT32_MAX;
  const std::vector<uint32_t>& theirs = steps[before.step].sections;
  for (uint32_t section : step.sections) {
    if (sections[section].shared || std::find(theirs.begin(), theirs.end(), section) == theirs.end())
      continue;
    if (!others_hold(id, sections[section].lock, step.thread)) continue;
    read->sees = before.write;
    return before.read;
  }
  return UINT32_MAX;
}

bool OrderLayout::others_hold(VariableId id, uint32_t lock, uint32_t thread) const {
  for (uint32_t event : index_.writers(id)) {
    const uint32_t at = step_of(event);
    if (at == UINT32_MAX || steps[at].thread == thread) continue;
    const std::vector<uint32_t>& held = steps[at].sections;
    if (std::none_of(held.begin(), held.end(), [&](uint32_t s) { return sections[s].lock == lock; }))
      return false;
  }
  return true;
}

// Values by the numbers of reads. What was read before a window began has its recorded value.
Formula OrderLayout::formula(ExpressionId id, uint32_t thread, std::vector<uint32_t>* used) {
  Formula made(trace_.pool(), id, [&](SymbolId symbol) -> uint64_t {
    const SymbolInfo& info = trace_.symbol(symbol);
    auto it = read_of_.find(raw(symbol));
    if (it == read_of_.end() && raw(info.event) < cone_.slice().from()) {
      OrderRead before;
      before.step = before.variable = UINT32_MAX;
      before.fixed = info.recorded;
      it = read_of_.emplace(raw(symbol), static_cast<uint32_t>(reads.size())).first;
      reads.push_back(std::move(before));
    }
    const bool own = raw(index_.trace().event(info.event).thread) == thread;
    if (it == read_of_.end() || !own) {
      applicable = false;
      return 0;
    }
    used->push_back(it->second);
    return it->second;
  });
  std::sort(used->begin(), used->end());
  used->erase(std::unique(used->begin(), used->end()), used->end());
  return made;
}

void OrderLayout::add_conditions(OrderStep* step) {
  if (auto it = equalities_.find(offset[step->thread] + step->number); it != equalities_.end())
    add_conjunct(step, it->second);
  ExpressionId condition = trace_.condition(id_of<EventIndex>(step->event));
  if (condition == kNone<ExpressionId>) return;
  std::vector<ExpressionId> open{condition};
  std::vector<Conjunct> made;
  while (!open.empty()) {
    ExpressionId id = open.back();
    open.pop_back();
    const Expression& e = trace_.pool()[id];
    if (e.op == Op::And && e.width == 1) {
      open.push_back(e.b);
      open.push_back(e.a);
    } else {
      made.push_back(conjunct(id, step->thread));
    }
  }
  // What speaks of one read comes first: the others then know it better, those that were asked before too.
  auto several =
      std::partition(made.begin(), made.end(), [](const Conjunct& c) { return c.reads.size() < 2; });
  std::vector<uint32_t> again;
  for (auto it = made.begin(); it != several; ++it) {
    if (!it->is_pin) continue;
    for (uint32_t before : reads[it->reads.front()].conjuncts) {
      if (conjuncts[before].reads.size() > 1 && !conjuncts[before].repeated) again.push_back(before);
    }
  }
  for (auto it = made.begin(); it != made.end(); ++it) add_conjunct(step, std::move(*it));
  std::sort(again.begin(), again.end());
  again.erase(std::unique(again.begin(), again.end()), again.end());
  if (repeated_ + again.size() > kMostRepeated) again.clear();
  repeated_ += again.size();
  for (uint32_t before : again) {
    Conjunct copy = conjuncts[before];
    copy.levels.clear();
    copy.repeated = true;
    add_conjunct(step, std::move(copy));
  }
}

Conjunct OrderLayout::conjunct(ExpressionId id, uint32_t thread) {
  const ExpressionPool& pool = trace_.pool();
  Conjunct made;
  made.formula = formula(id, thread, &made.reads);
  const Expression& e = pool[id];
  if (e.op != Op::Equal || made.reads.size() != 1) return made;
  for (auto [symbol, constant] : {std::pair{e.a, e.b}, std::pair{e.b, e.a}}) {
    if (pool[symbol].op != Op::Symbol || !pool.is_constant(constant)) continue;
    made.is_pin = true;
    made.pinned = pool[constant].value;
  }
  return made;
}

void OrderLayout::add_conjunct(OrderStep* step, Conjunct made) {
  const uint32_t number = static_cast<uint32_t>(conjuncts.size());
  for (uint32_t read : made.reads) {
    made.levels.push_back(static_cast<uint32_t>(reads[read].conjuncts.size()));
    reads[read].conjuncts.push_back(number);
    reads[read].conjunct_steps.push_back(offset[step->thread] + step->number);
  }
  step->conjuncts.push_back(number);
  conjuncts.push_back(std::move(made));
}

void OrderLayout::add_sections(uint32_t lock, std::vector<Section> list) {
  std::sort(list.begin(), list.end(), [](const Section& a, const Section& b) { return a.begin < b.begin; });
  sections_of.resize(lock + 1);
  sections_of[lock].resize(threads());
  for (const Section& s : list) {
    if (!cone_.slice().contains(s.begin)) continue;
    OrderSection made;
    made.lock = lock;
    made.thread = raw(s.thread);
    made.shared = s.shared;
    const bool began_before = !cone_.slice().inside(s.begin);
    if (!began_before) {
      if (step_of(s.begin) == UINT32_MAX) continue;
      made.begin = steps[step_of(s.begin)].number;
    }
    if (s.end != kNowhere && step_of(s.end) != UINT32_MAX) made.end = steps[step_of(s.end)].number;
    if (s.end != kNowhere && made.end == UINT32_MAX && cone_.slice().contains(s.end))
      continue;  // ended before the window
    const uint32_t number = static_cast<uint32_t>(sections.size());
    auto& mine = sections_of[lock][made.thread];
    if (!mine.empty()) {  // within one that is open: the outer one says it all
      const OrderSection& outer = sections[mine.back()];
      if (outer.end == UINT32_MAX || (made.end != UINT32_MAX && outer.end > made.end)) continue;
    }
    mine.push_back(number);
    const uint32_t last = made.end == UINT32_MAX ? length(made.thread) : made.end + 1;
    for (uint32_t p = made.begin < 0 ? 0 : static_cast<uint32_t>(made.begin); p < last; ++p) {
      steps[offset[made.thread] + p].sections.push_back(number);
    }
    sections.push_back(made);
  }
}

}  // namespace cleave
