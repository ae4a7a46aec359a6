#include <algorithm>

#include "feasibility/solve/implied_order.h"

namespace cleave {
namespace {

constexpr size_t kCombinations = 512;

}  // namespace

uint64_t ImpliedOrder::initial_of(uint32_t number) const {
  const OrderRead& read = layout_->reads[number];
  return truncate(layout_->variables[read.variable].initial, read.width);
}

// Nothing is known.
void ImpliedOrder::start_values() {
  levels_.resize(layout_->reads.size());
  for (uint32_t r = 0; r < layout_->reads.size(); ++r)
    levels_[r].assign(layout_->reads[r].conjuncts.size() + 1, ValueSet::anything());
  stored_.assign(layout_->writes.size(), ValueSet::anything());
  clear_stamps();
}

void ImpliedOrder::clear_stamps() {
  read_stamps_.assign(layout_->reads.size(), 0);
  stamps_.assign(layout_->conjuncts.size(), 0);
  write_stamps_.assign(layout_->writes.size(), 0);
}

// The least sets that are closed under the program's data: every value comes from somewhere. Of these and
// those that are known the smaller ones stay.
void ImpliedOrder::renew_values() {
  std::vector<std::vector<ValueSet>> known(layout_->reads.size());
  std::vector<ValueSet> known_stored(layout_->writes.size());
  known.swap(levels_);
  known_stored.swap(stored_);
  for (uint32_t r = 0; r < layout_->reads.size(); ++r) levels_[r].resize(known[r].size());
  clear_stamps();
  bool finished = false;
  while (work_ < most_work_ && !finished) finished = !value_pass();
  auto smaller = [&](ValueSet& fresh, ValueSet& old) {
    if (!finished || fresh.measure() >= old.measure())
      fresh = std::move(old);
    else
      grew_ = true;
  };
  for (uint32_t r = 0; r < levels_.size(); ++r) {
    for (size_t i = 0; i < levels_[r].size(); ++i) smaller(levels_[r][i], known[r][i]);
  }
  for (uint32_t w = 0; w < stored_.size(); ++w) smaller(stored_[w], known_stored[w]);
  clear_stamps();
}

// One pass upwards: whether a set grew.
bool ImpliedOrder::value_pass() {
  bool changed = false;
  for (uint32_t s : layout_->in_trace_order) {
    if (!dead(s)) changed = evaluate(s) || changed;
  }
  return changed;
}

// The sets of the step from those that go into it: whether one is another now.
bool ImpliedOrder::evaluate(uint32_t s) {
  const OrderStep& step = layout_->steps[s];
  bool changed = false;
  if (step.read != UINT32_MAX) changed = evaluate_read(step.read);
  for (uint32_t conjunct : step.conjuncts) changed = evaluate_conjunct(conjunct) || changed;
  if (step.write != UINT32_MAX) changed = evaluate_write(step.write) || changed;
  return changed;
}

bool ImpliedOrder::evaluate_read(uint32_t number) {
  const OrderRead& read = layout_->reads[number];
  const Seen& seen = seen_[number];
  size_t stamp = 1 + (seen.initial ? 1 : 0);
  for (uint32_t write : seen.writes) stamp += 1 + stored_[write].measure();
  work_ += 1 + seen.writes.size() / 4;
  if (stamp == read_stamps_[number]) return false;
  read_stamps_[number] = stamp;
  ValueSet values;
  if (read.variable == UINT32_MAX) {
    values = read.free ? ValueSet::anything() : ValueSet::of(read.fixed);
  } else if (seen.initial) {
    values.add(initial_of(number));
  }
  for (uint32_t write : seen.writes) {
    if (!values.any()) values.add(stored_[write], read.width);
    work_ += 1 + stored_[write].values().size();
  }
  return replace(levels_[number][0], std::move(values));
}

bool ImpliedOrder::replace(ValueSet& old, ValueSet fresh) {
  const bool other = old.measure() != fresh.measure();
  if (other) old = std::move(fresh);
  return other;
}

// The values of the reads, each with each; false when they are too many, or any.
template <typename Visit>
bool ImpliedOrder::each_combination(const std::vector<uint32_t>& reads,
                                    const std::vector<const ValueSet*>& sets, Visit visit) {
  size_t product = 1;
  for (const ValueSet* set : sets) {
    if (set->any()) return false;
    product *= set->values().size();
    if (product > kCombinations) return false;
  }
  std::vector<size_t> at(reads.size(), 0);
  for (size_t done = 0; done < product; ++done) {
    for (size_t i = 0; i < reads.size(); ++i) scratch_[reads[i]] = sets[i]->values()[at[i]];
    visit();
    for (size_t i = 0; i < reads.size() && ++at[i] == sets[i]->values().size(); ++i) at[i] = 0;
  }
  work_ += product * 4;
  return true;
}

bool ImpliedOrder::evaluate_conjunct(uint32_t number) {
  const Conjunct& conjunct = layout_->conjuncts[number];
  size_t stamp = 1;
  for (size_t i = 0; i < conjunct.reads.size(); ++i)
    stamp += levels_[conjunct.reads[i]][conjunct.levels[i]].measure();
  if (stamp == stamps_[number]) return false;
  stamps_[number] = stamp;
  std::vector<const ValueSet*> sets;
  for (size_t i = 0; i < conjunct.reads.size(); ++i)
    sets.push_back(&levels_[conjunct.reads[i]][conjunct.levels[i]]);
  std::vector<ValueSet> kept(conjunct.reads.size());
  if (conjunct.is_equality) kept[0] = kept[1] = sets[0]->common(*sets[1]);
  const bool small = conjunct.is_equality || each_combination(conjunct.reads, sets, [&] {
                       if (conjunct.formula.evaluate(scratch_.data()) == 0) return;
                       for (size_t i = 0; i < kept.size(); ++i) kept[i].add(scratch_[conjunct.reads[i]]);
                     });
  bool changed = false;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!small)
      kept[i] =
          conjunct.is_pin && sets[i]->contains(conjunct.pinned) ? ValueSet::of(conjunct.pinned) : *sets[i];
    changed = replace(levels_[conjunct.reads[i]][conjunct.levels[i] + 1], std::move(kept[i])) || changed;
  }
  return changed;
}

bool ImpliedOrder::evaluate_write(uint32_t number) {
  const OrderWrite& write = layout_->writes[number];
  size_t stamp = 1;
  for (uint32_t read : write.reads) stamp += value_at(read, write.step).measure();
  if (stamp == write_stamps_[number]) return false;
  write_stamps_[number] = stamp;
  std::vector<const ValueSet*> sets;
  for (uint32_t read : write.reads) sets.push_back(&value_at(read, write.step));
  ValueSet stored;
  if (write.unknown ||
      !each_combination(write.reads, sets, [&] { stored.add(write.stored.evaluate(scratch_.data())); })) {
    stored = ValueSet::anything();
  }
  return replace(stored_[number], std::move(stored));
}

// What the read may have returned when its thread has come so far that this step is taken.
const ValueSet& ImpliedOrder::value_at(uint32_t number, uint32_t step) const {
  const std::vector<uint32_t>& asked = layout_->reads[number].conjunct_steps;
  return levels_[number]
                [static_cast<size_t>(std::upper_bound(asked.begin(), asked.end(), step) - asked.begin())];
}

// The sets of the step, and what follows from them for the order.
void ImpliedOrder::narrow(uint32_t s) {
  const OrderStep& step = layout_->steps[s];
  if (evaluate(s)) grew_ = true;
  for (uint32_t conjunct : step.conjuncts) {
    for (uint32_t read : layout_->conjuncts[conjunct].reads) {
      if (!dead(s)) order_read(read, s);
    }
  }
  if (step.read == UINT32_MAX || !required(s) || dead(s)) return;
  order_read(step.read, layout_->offset[step.thread] + required_[step.thread] - 1);
}

// With its thread come so far, the read saw one of these writes: what all of them have behind them comes
// before.
void ImpliedOrder::order_read(uint32_t number, uint32_t at) {
  const OrderRead& read = layout_->reads[number];
  const ValueSet& wanted = value_at(number, at);
  const bool taken = required(at);
  if (wanted.empty()) return kill(at), spread();
  if (read.variable == UINT32_MAX) return;
  const Seen& seen = seen_[number];
  const bool initial = seen.initial && wanted.contains(initial_of(number));
  std::vector<uint32_t> writes, least;
  for (uint32_t write : seen.writes) {
    if (dead(layout_->writes[write].step) || !stored_[write].meets(wanted, read.width)) continue;
    writes.push_back(write);
    const std::vector<uint32_t> up = up_to(layout_->writes[write].step);
    if (least.empty()) least = up;
    for (uint32_t t = 0; t < least.size(); ++t) least[t] = std::min(least[t], up[t]);
  }
  work_ += seen.writes.size();
  if (!initial && writes.empty()) return kill(at), spread();
  if (!initial) {
    const uint32_t target = taken ? read.step : at;
    least[layout_->steps[target].thread] = 0;
    raise(target, least);
  }
  if (taken && !dead(read.step)) order_around(number, writes, initial);
}

// A read that does happen: a write behind all that it may see comes after it, and one that comes before it
// comes before the only one that it may see.
void ImpliedOrder::order_around(uint32_t number, const std::vector<uint32_t>& seen, bool initial) {
  const OrderRead& read = layout_->reads[number];
  const OrderVariable& variable = layout_->variables[read.variable];
  auto step_of = [&](uint32_t write) { return layout_->writes[write].step; };
  for (uint32_t t = 0; t < layout_->threads(); ++t) {
    for (uint32_t write : variable.certain[t]) {
      const uint32_t at = step_of(write);
      if (at == read.step || dead(at)) continue;
      ++work_;
      if (std::find(seen.begin(), seen.end(), write) != seen.end()) {
        continue;
      }
      if (!comes_before(read.step, at) &&
          std::all_of(seen.begin(), seen.end(), [&](uint32_t s) { return comes_before(step_of(s), at); })) {
        put_behind(at, read.step);
        break;  // the next of the thread come after that
      }
      if (initial || seen.size() != 1 || !comes_before(at, read.step)) continue;
      if (!comes_before(at, step_of(seen.front()))) put_behind(step_of(seen.front()), at);
    }
    if (!possible_) return;
  }
}

// What the variable may hold just before the step.
ValueSet ImpliedOrder::before(uint32_t at, uint32_t variable) {
  ValueSet values;
  Seen seen = visible(at, variable, layout_->steps[at].write);
  if (seen.initial) values.add(layout_->variables[variable].initial);
  for (uint32_t write : seen.writes) values.add(stored_[write]);
  return values;
}

// Whether nobody else writes the variable between the two steps of one thread: they are in one section of a
// lock that everybody holds who does.
bool ImpliedOrder::guarded(const OrderVariable& variable, const OrderStep& read,
                           const OrderStep& write) const {
  return std::any_of(read.sections.begin(), read.sections.end(), [&](uint32_t section) {
    if (layout_->sections[section].shared ||
        std::find(write.sections.begin(), write.sections.end(), section) == write.sections.end())
      return false;
    const uint32_t lock = layout_->sections[section].lock;
    for (uint32_t t = 0; t < layout_->threads(); ++t) {
      for (uint32_t other : variable.writes[t]) {
        const OrderStep& step = layout_->steps[layout_->writes[other].step];
        if (t == write.thread) {
          if (step.number >= read.number && step.number < write.number)
            return false;  // an update writes what it did not read
          continue;
        }
        const bool holds = std::any_of(step.sections.begin(), step.sections.end(),
                                       [&](uint32_t s) { return layout_->sections[s].lock == lock; });
        if (!holds) return false;
      }
    }
    return true;
  });
}

bool ImpliedOrder::changes_nothing(uint32_t event) {
  const uint32_t at = layout_->step_of(event), variable = layout_->variable_of(event);
  if (at == UINT32_MAX || variable == UINT32_MAX || layout_->steps[at].write == UINT32_MAX) return false;
  const OrderWrite& write = layout_->writes[layout_->steps[at].write];
  if (write.unknown || write.moves || work_ >= most_work_) return false;
  std::vector<const ValueSet*> sets;
  for (uint32_t read : write.reads) sets.push_back(&value_at(read, write.step));
  for (uint32_t read : write.reads) {
    const OrderRead& own = layout_->reads[read];
    if (own.variable != variable || own.step == at ||
        !guarded(layout_->variables[variable], layout_->steps[own.step], layout_->steps[at]))
      continue;
    bool same = true;
    const bool small = each_combination(
        write.reads, sets, [&] { same = same && write.stored.evaluate(scratch_.data()) == scratch_[read]; });
    if (small && same) return true;
  }
  return false;
}

// Definition 2: a write of what is there already, or of what another access wrote, is no conflict (see
// RunState).
void ImpliedOrder::judge_guards(const FeasibilityQuery& query) {
  const std::string_view letters = word_of(query.pattern);
  const uint32_t variable = layout_->variable_of(static_cast<uint32_t>(raw(query.first)));
  if (letters.size() != 3 || variable == UINT32_MAX || work_ >= most_work_) return;
  auto step = [&](EventIndex event) { return layout_->step_of(static_cast<uint32_t>(raw(event))); };
  const uint32_t first = step(query.first), remote = step(query.remote), second = step(query.second);
  bool none = writes_the_same(query) || (letters == "WRW" && same(before(first, variable), written(first)));
  if (letters[1] == 'W') {
    none =
        none || ((letters[0] == 'R' || letters[2] == 'R') && same(before(remote, variable), written(remote)));
  } else {
    none = none || (letters[2] == 'W' && same(before(remote, variable), written(second)));
  }
  if (none) possible_ = false;
}

bool ImpliedOrder::writes_the_same(const FeasibilityQuery& query) const {
  const std::string_view letters = word_of(query.pattern);
  if (letters.size() != 3 || letters[1] != 'W') return false;
  auto step = [&](EventIndex event) { return layout_->step_of(static_cast<uint32_t>(raw(event))); };
  const uint32_t first = step(query.first), remote = step(query.remote), second = step(query.second);
  if (first == UINT32_MAX || remote == UINT32_MAX || second == UINT32_MAX) return false;
  return (letters[0] == 'W' && same(written(first), written(remote))) ||
         (letters[2] == 'W' && same(written(remote), written(second)));
}

// What the step stores, as far as that is known.
ValueSet ImpliedOrder::written(uint32_t step) const {
  const uint32_t write = layout_->steps[step].write;
  return write == UINT32_MAX || write >= stored_.size() ? ValueSet::anything() : stored_[write];
}

bool ImpliedOrder::same(const ValueSet& a, const ValueSet& b) {
  return a.single() && b.single() && a.values() == b.values();
}

}  // namespace cleave
