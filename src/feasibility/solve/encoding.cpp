#include "feasibility/solve/encoding.h"

#include <algorithm>
#include <string>

namespace cleave {
namespace {

// Integer positions with the difference-logic core of the old arithmetic solver (1) are the fastest encoding
// of plain orders that Z3 offers through its API; setting a logic would silently switch that off. Where the
// program's data takes it beyond difference logic it answers unknown, and the newer core (6) is asked.
enum class ArithmeticCore : int { DifferenceLogic = 1, General = 6 };

z3::solver plain_solver(z3::context& context, ArithmeticCore core = ArithmeticCore::DifferenceLogic) {
  z3::set_param("smt.arith.solver", static_cast<int>(core));
  return z3::solver(context, z3::solver::simple());
}

}  // namespace

Encoding::Encoding(z3::context& context, SymbolicTrace& trace, const SliceIndex& index, const Slice& slice,
                   const Cone& cone, const std::vector<std::vector<Section>>& derived,
                   const FeasibilityQuery& query, const FeasibilityOptions& options, Closing closing)
    : context_(context),
      trace_(trace),
      index_(index),
      slice_(slice),
      cone_(cone),
      derived_(derived),
      query_(query),
      options_(options),
      closing_(closing),
      terms_(context, trace),
      solver_(plain_solver(context)),
      cut_(context.int_const("cut")) {
  program_order();
  reads_and_conditions();
  locks();
  condition_variables();
  semaphores();
  violation();
}

void Encoding::program_order() {
  std::map<uint32_t, uint32_t> previous;
  for (uint32_t e : cone_.events()) {
    std::string name = "o" + std::to_string(e);
    positions_.emplace(e, context_.int_const(name.c_str()));
    if (auto it = previous.find(raw(event(e).thread)); it != previous.end())
      solver_.add(before(it->second, e));
    for (uint32_t other : index_.must_follow(e)) {
      if (cone_.contains(other)) solver_.add(before(other, e));
    }
    previous[raw(event(e).thread)] = e;
  }
}

// What comes after the event that it could serve, or after the end of the story, helps nobody.
bool Encoding::useful(uint32_t at, uint32_t server) const {
  return !index_.must_before(at, server) &&
         !index_.must_before(static_cast<uint32_t>(raw(query_.second)), server);
}

// Of the writers outside the slice the nearest on both sides: enough to know that there are some, and to grow
// by.
std::vector<uint32_t> Encoding::outside_writers(uint32_t at, VariableId variable) const {
  constexpr size_t kNearest = 8;
  auto writers = index_.writers(variable);
  auto middle = std::lower_bound(writers.begin(), writers.end(), at);
  std::vector<uint32_t> outside;
  auto wanted = [&](uint32_t w) { return !slice_.contains(w) && useful(at, w); };
  for (auto it = middle; it != writers.end() && outside.size() < kNearest; ++it) {
    if (wanted(*it)) outside.push_back(*it);
  }
  for (auto it = middle; it != writers.begin() && outside.size() < 2 * kNearest;) {
    if (wanted(*--it)) outside.push_back(*it);
  }
  return outside;
}

std::optional<z3::expr> Encoding::goes_to(uint32_t write, VariableId variable) {
  const MovingStore* moving = trace_.moving(id_of<EventIndex>(write));
  if (moving == nullptr) return std::nullopt;
  for (const MovingStore::Place& place : moving->places) {
    if (place.variable == variable)
      return terms_.term(moving->index) ==
             terms_.term(trace_.pool().constant(place.index, trace_.pool()[moving->index].width));
  }
  return context_.bool_val(false);
}

// Φ_PI of one read: which write it sees, with everything else before that write or after the read.
std::optional<z3::expr> Encoding::last_value(uint32_t at, VariableId variable, const z3::expr& value,
                                             uint8_t width) {
  if (options_.seconds_left && options_.seconds_left() <= 0) throw OutOfTime();
  std::vector<uint32_t> candidates;
  bool initial_possible = true;
  for (uint32_t w : index_.writers(variable)) {
    if (w == at || !slice_.contains(w) || index_.must_before(at, w)) continue;
    if (index_.must_before(w, at) && !goes_to(w, variable)) initial_possible = false;
    candidates.push_back(w);
  }
  z3::expr_vector choices(context_);
  if (initial_possible) {
    z3::expr_vector all(context_);
    all.push_back(value == terms_.term(trace_.initial(variable, width)));
    for (uint32_t w : candidates) {
      auto hits = goes_to(w, variable);
      all.push_back(hits ? before(at, w) || !*hits : before(at, w));
    }
    choices.push_back(z3::mk_and(all));
  }
  for (uint32_t w : candidates) {
    ExpressionId stored = trace_.stored(id_of<EventIndex>(w));
    // A writer that is left out would make the formula say less than the program does.
    if (stored == kNone<ExpressionId>) throw NotModelled("a write without a stored value");
    if (trace_.pool()[stored].width != width) continue;
    z3::expr_vector all(context_);
    bool hidden = false;
    all.push_back(value == terms_.term(stored));
    if (!index_.must_before(w, at)) all.push_back(before(w, at));
    if (auto hits = goes_to(w, variable)) all.push_back(*hits);
    for (uint32_t other : candidates) {
      if (other == w || index_.must_before(other, w)) continue;
      auto other_hits = goes_to(other, variable);
      if (index_.must_before(w, other) && index_.must_before(other, at) && !other_hits) hidden = true;
      z3::expr after = index_.must_before(other, at) ? context_.bool_val(false) : before(at, other);
      z3::expr earlier = index_.must_before(w, other) ? context_.bool_val(false) : before(other, w);
      all.push_back(other_hits ? earlier || after || !*other_hits : earlier || after);
    }
    if (!hidden) choices.push_back(z3::mk_and(all));
  }
  if (choices.empty()) return context_.bool_val(false);
  return z3::mk_or(choices);
}

void Encoding::reads_and_conditions() {
  for (uint32_t e : cone_.events()) {
    EventIndex at = id_of<EventIndex>(e);
    ExpressionId condition = trace_.condition(at);
    if (condition != kNone<ExpressionId> && options_.model != DataModel::Ignored)
      solver_.add(!happens(e) || terms_.term(condition));
    SymbolId symbol = trace_.bound(at);
    if (symbol == kNone<SymbolId> || !cone_.needs(symbol)) continue;
    if (options_.model == DataModel::Recorded) {
      z3::expr recorded =
          terms_.term(trace_.pool().constant(trace_.symbol(symbol).recorded, trace_.symbol(symbol).width));
      solver_.add(!happens(e) || terms_.symbol(symbol) == recorded);
    }
    if (!reads(event(e).kind)) continue;
    if (closing_ == Closing::Open) {
      std::vector<uint32_t> outside = outside_writers(e, event(e).variable());
      if (!outside.empty()) {
        free_.push_back({e, std::move(outside)});
        continue;
      }
    }
    auto served = last_value(e, event(e).variable(), terms_.symbol(symbol), trace_.symbol(symbol).width);
    if (served) solver_.add(!happens(e) || *served);
  }
}

void Encoding::locks() {
  for (const auto& [lock, sections] : cone_.sections()) exclude(sections);
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
      if ((ended(a) && index_.must_before(a.end, b.begin)) ||
          (ended(b) && index_.must_before(b.end, a.begin)))
        continue;
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
  for (uint32_t e : cone_.events()) {
    if (event(e).kind != EventKind::Wake) continue;
    auto wakers = index_.wakers(e);
    if (wakers.empty()) continue;  // it woke by itself in the run, so it may
    std::vector<uint32_t> outside;
    z3::expr_vector ways(context_);
    for (uint32_t s : wakers) {
      if (event(s).thread == event(e).thread) continue;
      if (!slice_.contains(s)) {
        if (useful(e, s)) outside.push_back(s);
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
  for (uint32_t e : cone_.events()) {
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
        if (useful(e, p)) outside.push_back(p);
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

// Φ_AV: first before remote before second before the cut, and the conflicts are real: definition 2's guards
// compare values in the state before the remote access, so a write that changes nothing is no violation.
void Encoding::violation() {
  auto first = static_cast<uint32_t>(raw(query_.first)), remote = static_cast<uint32_t>(raw(query_.remote)),
       second = static_cast<uint32_t>(raw(query_.second));
  solver_.add(before(first, remote) && before(remote, second) && happens(second));
  for (uint32_t e : {first, remote, second}) {
    if (options_.model == DataModel::Ignored) break;
    if (auto here = goes_to(e, event(e).variable())) solver_.add(*here);
  }
  if (options_.same_value_is_violation || options_.model == DataModel::Ignored) return;
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
  params.set("max_memory", options_.memory);
  if (options_.seconds_left) {
    params.set("timeout", static_cast<unsigned>(std::clamp(options_.seconds_left() * 1000, 1.0, 1e9)));
  }
  solver_.set(params);
  z3::check_result result = solver_.check();
  if (result != z3::unknown || solver_.reason_unknown().find("incomplete") == std::string::npos)
    return result;
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
  for (uint32_t e : cone_.events()) {
    int64_t position = value(positions_.at(e));
    if (position < cut) placed.emplace_back(position, e);
  }
  std::sort(placed.begin(), placed.end());
  std::vector<uint32_t> order;
  for (const auto& [position, e] : placed) order.push_back(e);
  return cone_.complete(index_, order);
}

std::map<std::string, uint64_t> Encoding::inputs(const z3::model& model) {
  std::map<std::string, uint64_t> values;
  for (size_t s = 0; s < trace_.symbols().size(); ++s) {
    const SymbolInfo& symbol = trace_.symbols()[s];
    if (!symbol.input) continue;
    if (!cone_.needs(id_of<SymbolId>(s))) {
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
    for (EventIndex e : {query_.first, query_.remote}) {
      auto at = static_cast<uint32_t>(raw(e));
      std::vector<uint32_t> outside = outside_writers(at, event(at).variable());
      wanted.insert(wanted.end(), outside.begin(), outside.end());
    }
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return wanted;
}

}  // namespace cleave
