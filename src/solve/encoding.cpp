#include "solve/encoding.h"

#include <algorithm>
#include <string>

namespace cleave {
namespace {

// Integer positions with the difference-logic core of the old arithmetic solver (1) are the fastest encoding of plain
// orders that Z3 offers through its API; setting a logic would silently switch that off. Where the program's data takes
// it beyond difference logic it answers unknown, and the newer core (6) is asked.
enum class ArithmeticCore : int { DifferenceLogic = 1, General = 6 };

z3::solver plain_solver(z3::context& context, ArithmeticCore core = ArithmeticCore::DifferenceLogic) {
  z3::set_param("smt.arith.solver", static_cast<int>(core));
  return z3::solver(context, z3::solver::simple());
}

bool synchronizes(EventKind kind) {
  switch (kind) {
    case EventKind::Acquire:
    case EventKind::Release:
    case EventKind::AcquireShared:
    case EventKind::ReleaseShared:
    case EventKind::Wait:
    case EventKind::Wake:
    case EventKind::Signal:
    case EventKind::Broadcast:
    case EventKind::Post:
    case EventKind::Down: return true;
    default: return false;
  }
}

}  // namespace

Encoding::Encoding(z3::context& context, SymbolicTrace& trace, const TraceIndex& index, const Slice& slice,
                   const std::vector<std::vector<Section>>& derived, const FeasibilityQuery& query,
                   const FeasibilityOptions& options, Closing closing)
    : context_(context), trace_(trace), index_(index), slice_(slice), derived_(derived), query_(query),
      options_(options), closing_(closing), terms_(context, trace), solver_(plain_solver(context)), cut_(context.int_const("cut")) {
  choose_events();
  make_clocks();
  program_order();
  reads_and_conditions();
  locks();
  condition_variables();
  semaphores();
  violation();
}

// Reads matter only if a condition, or the guard of the violation, depends on what they return; writes only if such a
// read may see them. The closure of that is the cone of influence.
void Encoding::choose_events() {
  std::vector<uint32_t> open;
  auto query_events = {raw(query_.first), raw(query_.remote), raw(query_.second)};
  for (uint64_t e : query_events) keep(static_cast<uint32_t>(e));
  for (size_t t = 0; t < index_.trace().threads().size(); ++t) {
    auto mine = index_.thread_events(id_of<ThreadId>(t));
    for (uint32_t p = 0; p < slice_.length(id_of<ThreadId>(t)); ++p) {
      uint32_t e = mine[p];
      if (synchronizes(event(e).kind)) keep(e);
      for (uint32_t needed : index_.must_follow(e)) {
        keep(e);
        keep(needed);
      }
      ExpressionId condition = trace_.condition(id_of<EventIndex>(e));
      if (condition == kNone<ExpressionId> || trace_.pool().is_constant(condition)) continue;
      keep(e);
      need_symbols(condition, &open);
    }
  }
  auto keep_writers = [&](VariableId variable) {
    for (uint32_t w : index_.writers(variable)) {
      if (!slice_.contains(w)) continue;
      keep(w);
      ExpressionId stored = trace_.stored(id_of<EventIndex>(w));
      if (stored != kNone<ExpressionId>) need_symbols(stored, &open);
    }
  };
  for (const std::vector<Section>& sections : derived_) {
    for (const Section& s : sections) {
      if (slice_.contains(s.begin)) keep(s.begin);
      if (s.end != kNowhere && slice_.contains(s.end)) keep(s.end);
    }
  }
  keep_writers(event(static_cast<uint32_t>(raw(query_.first))).variable());
  for (uint64_t e : query_events) {
    ExpressionId stored = trace_.stored(id_of<EventIndex>(e));
    if (stored != kNone<ExpressionId>) need_symbols(stored, &open);
  }
  std::map<uint32_t, bool> done;
  while (!open.empty()) {
    uint32_t read = open.back();
    open.pop_back();
    if (!slice_.contains(read)) continue;
    keep(read);
    if (is_access(event(read).kind) && done.emplace(event(read).object, true).second) {
      keep_writers(event(read).variable());
    }
  }
  for (const auto& [e, yes] : kept_flag_) kept_.push_back(e);
}

void Encoding::need_symbols(ExpressionId expression, std::vector<uint32_t>* open) {
  for (SymbolId symbol : trace_.pool().symbols(expression)) {
    if (!needed_symbols_.emplace(raw(symbol), true).second) continue;
    open->push_back(static_cast<uint32_t>(raw(trace_.symbol(symbol).event)));
  }
}

// Vector clocks of what holds in every interleaving. Trace order is one of them, so one sweep does.
void Encoding::make_clocks() {
  size_t threads = index_.trace().threads().size();
  std::map<uint32_t, uint32_t> previous;
  for (uint32_t e : kept_) {
    std::vector<uint32_t> clock(threads, 0);
    if (auto it = previous.find(raw(event(e).thread)); it != previous.end()) clock = clocks_.at(it->second);
    for (uint32_t other : index_.must_follow(e)) {
      auto it = clocks_.find(other);
      if (it == clocks_.end()) continue;
      for (size_t t = 0; t < threads; ++t) clock[t] = std::max(clock[t], it->second[t]);
    }
    clock[raw(event(e).thread)] = index_.position_in_thread(e) + 1;
    clocks_.emplace(e, std::move(clock));
    previous[raw(event(e).thread)] = e;
  }
}

bool Encoding::must_before(uint32_t a, uint32_t b) const {
  return a != b && clocks_.at(b)[raw(event(a).thread)] > index_.position_in_thread(a);
}

void Encoding::program_order() {
  std::map<uint32_t, uint32_t> previous;
  for (uint32_t e : kept_) {
    std::string name = "o" + std::to_string(e);
    positions_.emplace(e, context_.int_const(name.c_str()));
    if (auto it = previous.find(raw(event(e).thread)); it != previous.end()) solver_.add(before(it->second, e));
    for (uint32_t other : index_.must_follow(e)) {
      if (kept_flag_.contains(other)) solver_.add(before(other, e));
    }
    previous[raw(event(e).thread)] = e;
  }
}

std::vector<uint32_t> Encoding::outside_writers(uint32_t at, VariableId variable) const {
  std::vector<uint32_t> outside;
  for (uint32_t w : index_.writers(variable)) {
    if (!slice_.contains(w) && event(w).thread != event(at).thread) outside.push_back(w);
  }
  return outside;
}

// Φ_PI of one read: which write it sees, with everything else before that write or after the read.
std::optional<z3::expr> Encoding::last_value(uint32_t at, VariableId variable, const z3::expr& value, uint8_t width) {
  std::vector<uint32_t> candidates;
  bool initial_possible = true;
  for (uint32_t w : index_.writers(variable)) {
    if (w == at || !slice_.contains(w) || must_before(at, w)) continue;
    if (must_before(w, at)) initial_possible = false;
    candidates.push_back(w);
  }
  z3::expr_vector choices(context_);
  if (initial_possible) {
    z3::expr_vector all(context_);
    all.push_back(value == terms_.term(trace_.initial(variable, width)));
    for (uint32_t w : candidates) all.push_back(before(at, w));
    choices.push_back(z3::mk_and(all));
  }
  for (uint32_t w : candidates) {
    ExpressionId stored = trace_.stored(id_of<EventIndex>(w));
    if (stored == kNone<ExpressionId> || trace_.pool()[stored].width != width) continue;
    z3::expr_vector all(context_);
    bool hidden = false;
    all.push_back(value == terms_.term(stored));
    if (!must_before(w, at)) all.push_back(before(w, at));
    for (uint32_t other : candidates) {
      if (other == w || must_before(other, w)) continue;
      if (must_before(w, other) && must_before(other, at)) hidden = true;
      z3::expr after = must_before(other, at) ? context_.bool_val(false) : before(at, other);
      z3::expr earlier = must_before(w, other) ? context_.bool_val(false) : before(other, w);
      all.push_back(earlier || after);
    }
    if (!hidden) choices.push_back(z3::mk_and(all));
  }
  if (choices.empty()) return context_.bool_val(false);
  return z3::mk_or(choices);
}

void Encoding::reads_and_conditions() {
  for (uint32_t e : kept_) {
    EventIndex at = id_of<EventIndex>(e);
    ExpressionId condition = trace_.condition(at);
    if (condition != kNone<ExpressionId>) solver_.add(!happens(e) || terms_.term(condition));
    if (!reads(event(e).kind)) continue;
    SymbolId symbol = trace_.bound(at);
    if (symbol == kNone<SymbolId> || !needed_symbols_.contains(raw(symbol))) continue;
    std::vector<uint32_t> outside = outside_writers(e, event(e).variable());
    if (closing_ == Closing::Open && !outside.empty()) {
      free_.push_back({e, std::move(outside)});
      continue;
    }
    auto served = last_value(e, event(e).variable(), terms_.symbol(symbol), trace_.symbol(symbol).width);
    if (served) solver_.add(!happens(e) || *served);
    if (options_.keep_reads) {
      z3::expr recorded = terms_.term(trace_.pool().constant(trace_.symbol(symbol).recorded, trace_.symbol(symbol).width));
      solver_.add(!happens(e) || terms_.symbol(symbol) == recorded);
    }
  }
}

void Encoding::locks() {
  for (size_t lock = 0; lock < index_.trace().syncs().size(); ++lock) exclude(index_.sections(id_of<SyncId>(lock)));
  for (const std::vector<Section>& sections : derived_) exclude(sections);
}

// Two sections of one lock: one begins after the cut, or one ends before the other begins.
void Encoding::exclude(std::span<const Section> sections) {
  std::vector<Section> here;
  for (const Section& s : sections) {
    bool ends_outside = s.end != kNowhere && !slice_.contains(s.end);
    if (closing_ == Closing::Open && ends_outside) continue;  // its end may still come before the cut
    if (slice_.contains(s.begin)) here.push_back(s);
  }
  auto ended = [&](const Section& s) { return s.end != kNowhere && slice_.contains(s.end); };
  for (size_t i = 0; i < here.size(); ++i) {
    for (size_t j = i + 1; j < here.size(); ++j) {
      const Section &a = here[i], &b = here[j];
      if (a.thread == b.thread || (a.shared && b.shared)) continue;
      if ((ended(a) && must_before(a.end, b.begin)) || (ended(b) && must_before(b.end, a.begin))) continue;
      z3::expr_vector ways(context_);
      ways.push_back(!happens(a.begin));
      ways.push_back(!happens(b.begin));
      if (ended(a)) ways.push_back(before(a.end, b.begin));
      if (ended(b)) ways.push_back(before(b.end, a.begin));
      solver_.add(z3::mk_or(ways));
    }
  }
}

// A wake needs a signal after its wait began; one signal wakes one waiter, a broadcast any number.
void Encoding::condition_variables() {
  std::map<uint32_t, std::vector<z3::expr>> used;  // signal → matches
  for (uint32_t e : kept_) {
    if (event(e).kind != EventKind::Wake) continue;
    auto wakers = index_.wakers(e);
    if (wakers.empty()) continue;  // it woke by itself in the run, so it may
    std::vector<uint32_t> outside;
    z3::expr_vector ways(context_);
    for (uint32_t s : wakers) {
      if (event(s).thread == event(e).thread) continue;
      if (!slice_.contains(s)) {
        outside.push_back(s);
        continue;
      }
      z3::expr match = terms_.fresh("wake", 1);
      z3::expr placed = before(s, e);
      if (index_.wait_of(e) != kNowhere) placed = placed && before(index_.wait_of(e), s);
      solver_.add(!match || placed);
      if (event(s).kind == EventKind::Signal) used[s].push_back(match);
      ways.push_back(match);
    }
    if (closing_ == Closing::Open && !outside.empty()) {
      free_.push_back({e, std::move(outside)});
      continue;
    }
    ways.push_back(!happens(e));
    solver_.add(z3::mk_or(ways));
  }
  for (const auto& [signal, matches] : used) {
    for (size_t i = 0; i < matches.size(); ++i) {
      for (size_t j = i + 1; j < matches.size(); ++j) solver_.add(!matches[i] || !matches[j]);
    }
  }
}

// A down takes an initial token or the token of a post before it; no token twice.
void Encoding::semaphores() {
  std::map<uint64_t, std::vector<z3::expr>> used;  // post, or semaphore and number of an initial token
  for (uint32_t e : kept_) {
    if (event(e).kind != EventKind::Down) continue;
    std::vector<uint32_t> outside;
    z3::expr_vector ways(context_);
    auto take = [&](uint64_t token, const z3::expr* placed) {
      z3::expr match = terms_.fresh("down", 1);
      if (placed != nullptr) solver_.add(!match || *placed);
      used[token].push_back(match);
      ways.push_back(match);
    };
    for (uint64_t token = 0; token < index_.trace().sync(event(e).sync()).initial; ++token) {
      take(uint64_t{1} << 63 | uint64_t{event(e).object} << 32 | token, nullptr);
    }
    for (uint32_t p : index_.posts(event(e).sync())) {
      if (!slice_.contains(p)) {
        if (event(p).thread != event(e).thread) outside.push_back(p);
        continue;
      }
      z3::expr placed = before(p, e);
      take(p, &placed);
    }
    if (closing_ == Closing::Open && !outside.empty()) {
      free_.push_back({e, std::move(outside)});
      continue;
    }
    ways.push_back(!happens(e));
    solver_.add(z3::mk_or(ways));
  }
  for (const auto& [token, matches] : used) {
    for (size_t i = 0; i < matches.size(); ++i) {
      for (size_t j = i + 1; j < matches.size(); ++j) solver_.add(!matches[i] || !matches[j]);
    }
  }
}

z3::expr Encoding::value_before(uint32_t at, VariableId variable, uint8_t width) {
  z3::expr ghost = terms_.fresh("ghost", width);
  if (closing_ == Closing::Open && !outside_writers(at, variable).empty()) return ghost;
  auto served = last_value(at, variable, ghost, width);
  if (served) solver_.add(!happens(at) || *served);
  return ghost;
}

// Φ_AV: first before remote before second before the cut, and the conflicts are real: definition 2's guards compare
// values in the state before the remote access, so a write that changes nothing is no violation.
void Encoding::violation() {
  auto first = static_cast<uint32_t>(raw(query_.first)), remote = static_cast<uint32_t>(raw(query_.remote)),
       second = static_cast<uint32_t>(raw(query_.second));
  solver_.add(before(first, remote) && before(remote, second) && happens(second));
  if (options_.same_value_is_violation) return;
  std::string_view letters = word_of(query_.pattern);
  if (letters.size() != 3) return;
  VariableId variable = event(remote).variable();
  auto stored = [&](uint32_t e) { return trace_.stored(id_of<EventIndex>(e)); };
  uint8_t width = kInteger;
  for (uint32_t e : {first, remote, second}) {
    if (stored(e) != kNone<ExpressionId>) width = trace_.pool()[stored(e)].width;
  }
  auto written = [&](uint32_t e) { return terms_.term(stored(e)); };
  if (letters[1] == 'W') {
    if (letters[0] == 'R' || letters[2] == 'R') {
      solver_.add(value_before(remote, variable, width) != written(remote));
    }
    if (letters[0] == 'W') solver_.add(written(first) != written(remote));
    if (letters[2] == 'W') solver_.add(written(remote) != written(second));
  } else {
    solver_.add(value_before(first, variable, width) != written(first));
    solver_.add(value_before(remote, variable, width) != written(second));
  }
}

z3::check_result Encoding::check(uint64_t effort) {
  z3::params params(context_);
  params.set("rlimit", static_cast<unsigned>(std::min<uint64_t>(effort, UINT32_MAX)));
  params.set("random_seed", 0u);
  solver_.set(params);
  z3::check_result result = solver_.check();
  if (result != z3::unknown || solver_.reason_unknown().find("incomplete") == std::string::npos) return result;
  z3::solver general = plain_solver(context_, ArithmeticCore::General);
  general.set(params);
  for (const z3::expr& assertion : solver_.assertions()) general.add(assertion);
  solver_ = general;
  return solver_.check();
}

std::vector<EventIndex> Encoding::order(const z3::model& model) const {
  auto value = [&](const z3::expr& e) { return model.eval(e, true).get_numeral_int64(); };
  int64_t cut = value(cut_);
  std::vector<std::pair<int64_t, uint32_t>> placed;
  for (uint32_t e : kept_) {
    int64_t position = value(positions_.at(e));
    if (position < cut) placed.emplace_back(position, e);
  }
  std::sort(placed.begin(), placed.end());
  // Events that were not encoded go with the next one of their thread.
  std::vector<uint32_t> done(index_.trace().threads().size(), 0);
  std::vector<EventIndex> order;
  for (const auto& [position, e] : placed) {
    auto mine = index_.thread_events(event(e).thread);
    for (uint32_t& at = done[raw(event(e).thread)]; at <= index_.position_in_thread(e); ++at) {
      order.push_back(id_of<EventIndex>(mine[at]));
    }
  }
  return order;
}

std::map<std::string, uint64_t> Encoding::inputs(const z3::model& model) {
  std::map<std::string, uint64_t> values;
  for (size_t s = 0; s < trace_.symbols().size(); ++s) {
    const SymbolInfo& symbol = trace_.symbols()[s];
    if (!symbol.input) continue;
    if (!needed_symbols_.contains(static_cast<uint32_t>(s))) {
      values[symbol.name] = symbol.recorded;
      continue;
    }
    z3::expr value = model.eval(terms_.symbol(id_of<SymbolId>(s)), true);
    if (value.is_bool()) {
      values[symbol.name] = value.is_true();
    } else if (value.is_int()) {
      values[symbol.name] = static_cast<uint64_t>(value.get_numeral_int64());
    } else {
      values[symbol.name] = value.get_numeral_uint64();
    }
  }
  return values;
}

std::vector<uint32_t> Encoding::missing(const z3::model& model) {
  auto value = [&](const z3::expr& e) { return model.eval(e, true).get_numeral_int64(); };
  int64_t cut = value(cut_);
  std::vector<uint32_t> wanted;
  for (const Free& free : free_) {
    if (value(position(free.event)) >= cut) continue;
    wanted.insert(wanted.end(), free.outside.begin(), free.outside.end());
  }
  if (wanted.empty()) {  // the guard's ghost reads may be what is unserved
    for (uint32_t w : index_.writers(event(static_cast<uint32_t>(raw(query_.remote))).variable())) {
      if (!slice_.contains(w)) wanted.push_back(w);
    }
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return wanted;
}

}  // namespace cleave
