#include "feasibility/solve/run_state.h"

#include <algorithm>

namespace cleave {
namespace {

// Sums of these make fingerprints: two independent mixes of word and value.
Fingerprint mixed(uint64_t word, uint64_t value) {
  auto scramble = [](uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  };
  uint64_t a = scramble(value + 0x9e3779b97f4a7c15ull * (word + 1));
  return {a, scramble(a ^ scramble(value ^ 0xd6e8feb86659fd93ull * (word + 1)))};
}

constexpr uint64_t kSleeping = 1, kWoken = 2;
constexpr uint64_t kOneReader = uint64_t{1} << 48;  // lock words: readers, depth, owner + 1
constexpr uint64_t kOneDeeper = uint64_t{1} << 32;
constexpr uint64_t kOwner = kOneDeeper - 1;
constexpr uint64_t kDepth = (kOneReader - 1) ^ kOwner;

}  // namespace

RunState::RunState(const SymbolicTrace& trace, const SliceIndex& index, const Cone& cone,
                   const FeasibilityQuery& query, const FeasibilityOptions& options,
                   const ImpliedOrder* order)
    : trace_(trace),
      index_(index),
      query_(query),
      options_(options),
      letters_(cleave::word_of(query.pattern)),
      steps_(index.trace().threads().size()),
      words_(steps_.size(), 0) {
  prepare(cone);
  if (order != nullptr) obey(*order);
}

RunState::RunState(const SymbolicTrace& trace, const SliceIndex& index, const Cone& cone,
                   const boost::unordered_flat_set<uint32_t>& marked, const FeasibilityOptions& options)
    : trace_(trace),
      index_(index),
      query_{kNone<EventIndex>, kNone<EventIndex>, kNone<EventIndex>, Pattern::None},
      marked_(&marked),
      options_(options),
      steps_(index.trace().threads().size()),
      words_(steps_.size(), 0) {
  prepare(cone);
}

void RunState::prepare(const Cone& cone) {
  sleep_ = static_cast<uint32_t>(words_.size());
  words_.resize(words_.size() + steps_.size(), 0);
  stage_ = static_cast<uint32_t>(words_.size());
  words_.push_back(0);
  ghost_ = static_cast<uint32_t>(words_.size());
  words_.push_back(0);
  from_ = cone.slice().from();
  lay_out(cone);
  if (from_ > 0) enter_window(cone.slice());
  find_uses();
  find_deaths();
  for (uint32_t w = 0; w < words_.size(); ++w) {
    Fingerprint part = mixed(w, words_[w]);
    fingerprint_ = {fingerprint_.a + part.a, fingerprint_.b + part.b};
  }
}

// Steps wait for what must come before them, where the step before in their thread has not waited already.
void RunState::obey(const ImpliedOrder& order) {
  for (uint32_t t = 0; t < threads(); ++t) {
    for (uint32_t number = 0; number < length(t); ++number) {
      for (uint32_t other = 0; other < threads(); ++other) {
        const uint32_t taken = order.steps_before(t, number, other);
        if (other == t || taken == 0 || (number > 0 && order.steps_before(t, number - 1, other) == taken))
          continue;
        steps_[t][number].needs.emplace_back(other, taken);
      }
    }
  }
}

uint32_t RunState::word_of(std::map<uint64_t, uint32_t>& table, uint64_t key, uint64_t initial) {
  auto [it, fresh] = table.emplace(key, static_cast<uint32_t>(words_.size()));
  if (fresh) words_.push_back(initial);
  return it->second;
}

void RunState::lay_out(const Cone& cone) {
  for (uint32_t e : cone.events()) {  // symbols first: formulas refer to them
    SymbolId symbol = trace_.bound(id_of<EventIndex>(e));
    if (symbol == kNone<SymbolId> || !cone.needs(symbol)) continue;
    word_of(symbol_words_, raw(symbol), 0);
    inputs_fixed_ = inputs_fixed_ || trace_.symbol(symbol).input;
  }
  boost::unordered_flat_map<uint32_t, uint32_t> place;  // event → number of the step in its thread
  for (uint32_t e : cone.events()) {
    uint32_t thread = raw(index_.trace().events()[e].thread);
    Step step = make_step(cone, e, thread);
    for (uint32_t other : index_.must_follow(e)) {
      auto it = place.find(other);
      if (it != place.end())
        step.needs.emplace_back(raw(index_.trace().events()[other].thread), it->second + 1);
    }
    place.emplace(e, static_cast<uint32_t>(steps_[thread].size()));
    steps_[thread].push_back(std::move(step));
  }
}

Formula RunState::formula(ExpressionId id, uint32_t thread) {
  return Formula(trace_.pool(), id, [&](SymbolId symbol) -> uint64_t {
    auto it = symbol_words_.find(raw(symbol));
    bool own = raw(index_.trace().event(trace_.symbol(symbol).event).thread) == thread;
    if (it != symbol_words_.end() && own) return it->second;
    if (raw(trace_.symbol(symbol).event) < from_)
      return word_of(symbol_words_, raw(symbol), trace_.symbol(symbol).recorded);
    applicable_ = false;  // what another thread read is not in this one's hands
    return 0;
  });
}

RunState::Step RunState::make_step(const Cone& cone, uint32_t e, uint32_t thread) {
  const Event& event = index_.trace().events()[e];
  EventIndex at = id_of<EventIndex>(e);
  Step step;
  step.event = e;
  step.kind = event.kind;
  if (marked_ != nullptr && marked_->contains(e)) step.role = Role::Marked;
  if (at == query_.first) step.role = Role::First;
  if (at == query_.remote) step.role = Role::Remote;
  if (at == query_.second) step.role = Role::Second;
  if (options_.model != DataModel::Ignored) add_data(cone, thread, &step);
  switch (event.kind) {
    case EventKind::Wake:
      step.woken_by_signal = !index_.wakers(e).empty();
      if (index_.wait_of(e) == kNowhere) applicable_ = false;
      [[fallthrough]];
    case EventKind::Wait:
      if (event.object2 != UINT32_MAX) step.mutex = word_of(object_words_, event.object2, 0);
      [[fallthrough]];
    case EventKind::Signal:
    case EventKind::Broadcast:
    case EventKind::Acquire:
    case EventKind::Release:
    case EventKind::AcquireShared:
    case EventKind::ReleaseShared:
      step.object = word_of(object_words_, event.object, 0);
      break;
    case EventKind::Post:
    case EventKind::Down:
      step.object = word_of(object_words_, event.object, index_.trace().sync(event.sync()).initial);
      break;
    default:
      break;
  }
  return step;
}

// Locks, tokens and sleepers as they were in the recorded run where the window begins.
void RunState::enter_window(const Slice& slice) {
  for (const auto& [lock, section] : index_.held_at(from_)) {
    auto it = object_words_.find(lock);
    if (it == object_words_.end()) continue;
    uint64_t& state = words_[it->second];
    state =
        section.shared ? state + kOneReader : ((state & ~kOwner) | (raw(section.thread) + 1)) + kOneDeeper;
  }
  for (const auto& [object, word] : object_words_) {
    auto before = [&](std::span<const uint32_t> events) {
      return static_cast<uint64_t>(std::lower_bound(events.begin(), events.end(), from_) - events.begin());
    };
    SyncId sync{static_cast<uint32_t>(object)};
    words_[word] += before(index_.posts(sync)) - before(index_.downs(sync));
  }
  for (uint32_t t = 0; t < steps_.size(); ++t) {
    uint32_t first = slice.first(ThreadId{t});
    if (first == 0) continue;
    uint32_t last = index_.thread_events(ThreadId{t})[first - 1];
    if (index_.trace().events()[last].kind == EventKind::Wait)
      applicable_ = false;  // windows begin where all are awake
  }
}

// An access of what nobody asks about is there only for its place in the thread.
void RunState::add_data(const Cone& cone, uint32_t thread, Step* step) {
  EventIndex at = id_of<EventIndex>(step->event);
  const Event& event = index_.trace().event(at);
  if (SymbolId symbol = trace_.bound(at); symbol != kNone<SymbolId> && symbol_words_.contains(raw(symbol))) {
    step->symbol = symbol_words_.at(raw(symbol));
    step->recorded = trace_.symbol(symbol).recorded;
  }
  if (ExpressionId condition = trace_.condition(at); condition != kNone<ExpressionId>) {
    step->condition = formula(condition, thread);
    auto symbols = trace_.pool().symbols(condition);
    step->condition_is_own = std::find(symbols.begin(), symbols.end(), trace_.bound(at)) != symbols.end();
  }
  auto memory = [&](VariableId variable) {
    return word_of(memory_words_, raw(variable), index_.value_before(variable, from_));
  };
  if (!is_access(event.kind)) return;
  const MovingStore* moving = trace_.moving(at);
  if (moving != nullptr) {
    for (const MovingStore::Place& p : moving->places) {
      if (cone.watches(p.variable)) step->places.emplace_back(p.index, memory(p.variable));
    }
    if (!step->places.empty()) step->index = formula(moving->index, thread);
  }
  if (cone.watches(event.variable())) step->memory = memory(event.variable());
  if (step->places.empty() && (moving != nullptr || step->memory == UINT32_MAX)) return;
  if (!writes(event.kind)) return;
  ExpressionId stored = trace_.stored(at);
  if (stored == kNone<ExpressionId>) {
    applicable_ = false;
  } else {
    step->stored = formula(stored, thread);
  }
}

void RunState::find_uses() {
  auto note = [&](uint32_t word, uint32_t thread, size_t step, bool write) {
    auto& uses = uses_[word];
    if (uses.empty() || uses.back().thread != thread) uses.push_back({thread, 0, 0});
    uses.back().last_access = static_cast<uint32_t>(step) + 1;
    if (write) uses.back().last_write = static_cast<uint32_t>(step) + 1;
  };
  for (uint32_t t = 0; t < steps_.size(); ++t) {
    for (size_t i = 0; i < steps_[t].size(); ++i) {
      const Step& step = steps_[t][i];
      if (step.memory != UINT32_MAX && step.places.empty()) note(step.memory, t, i, writes(step.kind));
      for (const auto& [number, word] : step.places) note(word, t, i, true);
      if (step.kind == EventKind::Acquire || step.kind == EventKind::AcquireShared)
        note(step.object, t, i, true);
      if (step.mutex != UINT32_MAX) note(step.mutex, t, i, true);
    }
  }
}

void RunState::find_deaths() {
  for (std::vector<Step>& steps : steps_) {
    boost::unordered_flat_map<uint32_t, size_t> last;  // word → last step that has to do with it
    for (size_t i = 0; i < steps.size(); ++i) {
      EventIndex at = id_of<EventIndex>(steps[i].event);
      std::vector<ExpressionId> used{trace_.condition(at), trace_.stored(at)};
      if (const MovingStore* moving = trace_.moving(at)) used.push_back(moving->index);
      for (ExpressionId id : used) {
        if (id == kNone<ExpressionId>) continue;
        for (SymbolId symbol : trace_.pool().symbols(id)) {
          if (auto it = symbol_words_.find(raw(symbol)); it != symbol_words_.end()) last[it->second] = i;
        }
      }
      if (steps[i].symbol != UINT32_MAX) last[steps[i].symbol] = i;
    }
    for (const auto& [word, step] : last) steps[step].dies.push_back(word);
  }
}

void RunState::set(uint32_t word, uint64_t value) {
  if (words_[word] == value) return;
  changes_.emplace_back(word, words_[word]);
  Fingerprint old_part = mixed(word, words_[word]), new_part = mixed(word, value);
  fingerprint_ = {fingerprint_.a - old_part.a + new_part.a, fingerprint_.b - old_part.b + new_part.b};
  words_[word] = value;
}

void RunState::undo() {
  for (size_t mark = marks_.back(); changes_.size() > mark; changes_.pop_back()) {
    auto [word, value] = changes_.back();
    Fingerprint old_part = mixed(word, words_[word]), new_part = mixed(word, value);
    fingerprint_ = {fingerprint_.a - old_part.a + new_part.a, fingerprint_.b - old_part.b + new_part.b};
    words_[word] = value;
  }
  marks_.pop_back();
  order_.pop_back();
}

bool RunState::can_lock(uint64_t word, uint32_t thread, bool shared) const {
  uint64_t state = words_[word];
  bool mine = (state & kOwner) == thread + 1;
  if ((state & kOwner) != 0 && !mine) return false;
  return shared || mine || state < kOneReader;
}

void RunState::lock(uint32_t word, uint32_t thread, bool shared) {
  uint64_t state = words_[word];
  set(word, shared ? state + kOneReader : ((state & ~kOwner) | (thread + 1)) + kOneDeeper);
}

void RunState::unlock(uint32_t word, bool shared) {
  uint64_t state = words_[word];
  if (shared) return set(word, state >= kOneReader ? state - kOneReader : state);
  if ((state & kDepth) == 0) return;
  state -= kOneDeeper;
  set(word, (state & kDepth) == 0 ? state & ~kOwner : state);
}

// The word that a write changes; none when it moves to where nobody looks.
uint32_t RunState::target(const Step& step) const {
  if (step.places.empty()) return step.memory;
  uint64_t index = step.index.evaluate(words_.data());
  for (const auto& [number, word] : step.places) {
    if (number == index) return word;
  }
  return UINT32_MAX;
}

bool RunState::conditions_hold(const Step& step) {
  if (options_.model == DataModel::Recorded && step.symbol != UINT32_MAX && step.memory != UINT32_MAX &&
      words_[step.memory] != step.recorded)
    return false;
  if (step.condition.empty()) return true;
  return step.condition.evaluate(words_.data()) != 0;
}

// Definition 2's guards, in the states where the accesses take place (see Encoding::violation).
bool RunState::guards_hold(const Step& step) {
  if (step.role == Role::None || step.role == Role::Marked) return true;
  uint64_t stage = words_[stage_];
  if (stage != static_cast<uint64_t>(step.role) - 1) return false;
  if (!step.places.empty() && target(step) != step.memory) return false;
  if (options_.same_value_is_violation || options_.model == DataModel::Ignored || letters_.size() != 3)
    return true;
  const uint64_t before = words_[step.memory], ghost = words_[ghost_];
  if (step.role == Role::First) return letters_ != "WRW" || before != written(step);
  if (step.role == Role::Remote) {
    if (letters_[1] != 'W') return true;
    if ((letters_[0] == 'R' || letters_[2] == 'R') && before == written(step)) return false;
    return letters_[0] != 'W' || ghost != written(step);
  }
  return letters_[2] != 'W' || ghost != written(step);
}

uint32_t RunState::ways(uint32_t thread) {
  const Step* step = next(thread);
  if (step == nullptr) return 0;
  for (const auto& [other, taken] : step->needs) {
    if (words_[other] < taken) return 0;
  }
  switch (step->kind) {
    case EventKind::Acquire:
      if (!can_lock(step->object, thread, false)) return 0;
      break;
    case EventKind::AcquireShared:
      if (!can_lock(step->object, thread, true)) return 0;
      break;
    case EventKind::Down:
      if (words_[step->object] == 0) return 0;
      break;
    case EventKind::Wake:
      if (step->woken_by_signal && words_[sleep_ + thread] != kWoken) return 0;
      if (step->mutex != UINT32_MAX && !can_lock(step->mutex, thread, false)) return 0;
      break;
    default:
      break;
  }
  // Conditions may speak of what the step itself reads.
  uint64_t kept = 0;
  const bool fills = step->symbol != UINT32_MAX;
  if (fills) {
    kept = words_[step->symbol];
    words_[step->symbol] = step->memory != UINT32_MAX ? words_[step->memory] : step->recorded;
  }
  bool possible = conditions_hold(*step) && guards_hold(*step);
  if (fills) words_[step->symbol] = kept;
  if (!possible) return 0;
  if (step->kind != EventKind::Signal) return 1;
  uint32_t sleepers = 0;
  for (uint32_t t = 0; t < steps_.size(); ++t) {
    sleepers += words_[sleep_ + t] == kSleeping && steps_[t][words_[t] - 1].object == step->object;
  }
  return std::max(sleepers, 1u);
}

void RunState::step(uint32_t thread, uint32_t way) {
  const Step& step = *next(thread);
  marks_.push_back(changes_.size());
  order_.push_back(step.event);
  const uint64_t before = step.memory != UINT32_MAX ? words_[step.memory] : 0;
  if (step.symbol != UINT32_MAX) set(step.symbol, step.memory != UINT32_MAX ? before : step.recorded);
  uint64_t after = before;
  if (!step.stored.empty()) {
    after = written(step);
    if (uint32_t word = target(step); word != UINT32_MAX) set(word, after);
  }
  switch (step.kind) {
    case EventKind::Acquire:
      lock(step.object, thread, false);
      break;
    case EventKind::AcquireShared:
      lock(step.object, thread, true);
      break;
    case EventKind::Release:
      unlock(step.object, false);
      break;
    case EventKind::ReleaseShared:
      unlock(step.object, true);
      break;
    case EventKind::Post:
      set(step.object, words_[step.object] + 1);
      break;
    case EventKind::Down:
      set(step.object, words_[step.object] - 1);
      break;
    case EventKind::Wait:
      if (step.mutex != UINT32_MAX) unlock(step.mutex, false);
      set(sleep_ + thread, kSleeping);
      break;
    case EventKind::Wake:
      if (step.mutex != UINT32_MAX) lock(step.mutex, thread, false);
      set(sleep_ + thread, 0);
      break;
    case EventKind::Signal:
    case EventKind::Broadcast:
      for (uint32_t t = 0, number = 0; t < steps_.size(); ++t) {
        if (words_[sleep_ + t] != kSleeping || steps_[t][words_[t] - 1].object != step.object) continue;
        if (step.kind == EventKind::Broadcast || number++ == way) set(sleep_ + t, kWoken);
      }
      break;
    default:
      break;
  }
  if (step.role != Role::None && step.role != Role::Marked) take_role(step, before, after);
  for (uint32_t symbol : step.dies) set(symbol, 0);
  set(thread, words_[thread] + 1);
}

// What the guards of the accesses to come compare with.
void RunState::take_role(const Step& step, uint64_t before, uint64_t after) {
  set(stage_, static_cast<uint64_t>(step.role));
  if (letters_.size() != 3) return;
  uint64_t ghost = 0;
  if (step.role == Role::First && letters_[0] == 'W' && letters_[1] == 'W') ghost = after;
  if (step.role == Role::Remote && letters_[2] == 'W') ghost = letters_[1] == 'W' ? after : before;
  set(ghost_, ghost);
}

bool RunState::noticed(uint32_t thread, const Step& step) {
  if (step.role != Role::None || !step.places.empty()) return true;
  auto touched = [&](uint32_t word, bool only_writes) {
    auto it = uses_.find(word);
    if (it == uses_.end()) return false;
    return std::any_of(it->second.begin(), it->second.end(), [&](const Use& use) {
      return use.thread != thread && words_[use.thread] < (only_writes ? use.last_write : use.last_access);
    });
  };
  switch (step.kind) {
    case EventKind::Read:
      return step.symbol != UINT32_MAX && touched(step.memory, true);
    case EventKind::Write:
    case EventKind::Update:
      return touched(step.memory, false);
    case EventKind::Acquire:
    case EventKind::AcquireShared:
      return touched(step.object, false);
    case EventKind::Wait:
    case EventKind::Wake:
    case EventKind::Signal:
    case EventKind::Broadcast:
    case EventKind::Down:
      return true;
    default:
      return false;
  }
}

std::optional<uint32_t> RunState::unnoticed() {
  for (uint32_t t = 0; t < steps_.size(); ++t) {
    const Step* step = next(t);
    if (step != nullptr && !noticed(t, *step) && ways(t) > 0) return t;
  }
  return std::nullopt;
}

std::optional<uint32_t> RunState::within_run() const {
  if (order_.empty()) return std::nullopt;
  const uint32_t thread = raw(index_.trace().events()[order_.back()].thread);
  const Step* step = next(thread);
  if (step == nullptr) return std::nullopt;
  const bool same =
      trace_.run_of(id_of<EventIndex>(step->event)) == trace_.run_of(id_of<EventIndex>(order_.back()));
  return same ? std::optional(thread) : std::nullopt;
}

const std::vector<uint32_t>& RunState::ranking(Guide guide) {
  ranking_.clear();
  for (uint32_t t = 0; t < steps_.size(); ++t) {
    if (next(t) != nullptr) ranking_.push_back(t);
  }
  const uint64_t stage = words_[stage_];
  const uint32_t unit = raw(index_.trace().event(query_.first).thread),
                 remote = raw(index_.trace().event(query_.remote).thread);
  auto place = [&](uint32_t t) {  // 0 first, 1 as recorded, 2 last
    if (guide == Guide::Wanted) return t == (stage == 1 ? remote : unit) ? 0 : 1;
    if (stage == 1 && t == unit) return 2;
    if (stage == 1 && t == remote && guide == Guide::RemoteFirst) return 0;
    return stage == 2 && t == unit ? 0 : 1;
  };
  std::sort(ranking_.begin(), ranking_.end(), [&](uint32_t a, uint32_t b) {
    return place(a) != place(b) ? place(a) < place(b) : next(a)->event < next(b)->event;
  });
  return ranking_;
}

bool RunState::hopeless() {
  for (EventIndex wanted : {query_.first, query_.remote}) {
    uint32_t thread = raw(index_.trace().event(wanted).thread);
    if (wanted == query_.remote && words_[stage_] >= 2) continue;
    const Step* step = next(thread);
    if (step == nullptr) return true;
    if (!step->condition.empty() && !step->condition_is_own && step->condition.evaluate(words_.data()) == 0)
      return true;
  }
  return false;
}

}  // namespace cleave
