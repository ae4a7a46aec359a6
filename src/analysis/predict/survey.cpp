#include "analysis/predict/survey.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <tuple>

#include "analysis/predict/places.h"
#include "base/interrupt.h"
#include "findings/place.h"

namespace cleave::prediction {
namespace {

// Two consecutive accesses of a unit; `key` says which class.
struct Pair {
  uint32_t thread;
  PlaceId first_place, second_place;
  order::PauseSetId pauses;
  EventNumber first, second;
  auto key() const { return std::tuple(thread, first_place, second_place, pauses); }
  EventNumber trace_place() const { return first; }
};

struct Single {
  uint32_t thread;
  PlaceId place;
  order::LockStateId state;
  EventNumber event;
  auto key() const { return std::tuple(thread, place, state); }
  EventNumber trace_place() const { return event; }
};

// The elements of one class, in trace order.
template <typename Element>
using Class = std::span<const Element>;

template <typename Element>
std::vector<Class<Element>> classes_of(std::vector<Element>& elements) {
  std::sort(elements.begin(), elements.end(), [](const Element& a, const Element& b) {
    return std::tuple_cat(a.key(), std::tuple(a.trace_place())) <
           std::tuple_cat(b.key(), std::tuple(b.trace_place()));
  });
  std::vector<Class<Element>> result;
  for (size_t begin = 0; begin < elements.size();) {
    size_t end = begin + 1;
    while (end < elements.size() && elements[end].key() == elements[begin].key()) ++end;
    result.emplace_back(elements.data() + begin, end - begin);
    begin = end;
  }
  return result;
}

// Positions of the remote thread that must-order leaves for a pair: after `low`, before `high`.
struct Interval {
  Position low = 0, high = kNever;
};

struct SiteKey {
  uint32_t first, remote, second;
  friend bool operator==(const SiteKey&, const SiteKey&) = default;
  friend size_t hash_value(const SiteKey& key) {
    uint64_t mixed = (static_cast<uint64_t>(key.first) << 32 | key.remote) * 0x9e3779b97f4a7c15ull;
    mixed ^= (mixed >> 29) + key.second * 0xbf58476d1ce4e5b9ull;
    return static_cast<size_t>(mixed ^ (mixed >> 32));
  }
};

class Sweep {
 public:
  Sweep(TraceIndex& facts, const SurveyOptions& options)
      : facts_(facts),
        options_(options),
        places_(facts.trace),
        last_(facts.trace.threads().size(), kNoEvent) {}

  Survey run() {
    for (size_t v = 0; v < facts_.accesses.variables() && !interrupted(); ++v) {
      if (facts_.accesses.shared(static_cast<uint32_t>(v))) location(static_cast<uint32_t>(v));
    }
    for (SiteTriple& site : survey_.sites) finish(site);
    return std::move(survey_);
  }

 private:
  void location(uint32_t variable) {
    gather(variable);
    if (pairs_.empty()) return;
    if (library_keeps(variable)) {
      ++survey_.library_locations;
      return;
    }
    std::vector<Class<Pair>> pair_classes = classes_of(pairs_);
    std::vector<Class<Single>> single_classes = classes_of(singles_);
    uint64_t budget = options_.class_pairs;
    for (const Class<Pair>& pairs : pair_classes) {
      intervals_of_ = kNoEvent;
      for (const Class<Single>& singles : single_classes) {
        if (singles[0].thread == pairs[0].thread) continue;
        if (budget-- == 0) {
          survey_.cut.push_back(VariableId{variable});
          return;
        }
        Pattern pattern = pattern_of(places_.kind(pairs[0].first_place), places_.kind(singles[0].place),
                                     places_.kind(pairs[0].second_place));
        if (pattern != Pattern::None) combine(pairs, singles, pattern);
      }
    }
  }

  // How the standard library synchronizes is its own affair.
  bool library_keeps(uint32_t variable) const {
    std::span<const EventNumber> accesses = facts_.accesses.of(variable);
    auto atomic = [&](EventNumber e) { return facts_.event(e).atomic(); };
    auto own = [&](EventNumber e) { return librarys_own(facts_.trace, facts_.event(e)); };
    return std::any_of(accesses.begin(), accesses.end(), atomic) &&
           std::all_of(accesses.begin(), accesses.end(), own);
  }

  void gather(uint32_t variable) {
    pairs_.clear();
    singles_.clear();
    touched_.clear();
    for (EventNumber e : facts_.accesses.of(variable)) {
      const Event& event = facts_.event(e);
      uint32_t t = raw(event.thread);
      PlaceId place = places_.of(event);
      order::LockStateId state = options_.locks ? facts_.locks->at(e) : order::kNothingHeld;
      singles_.push_back({t, place, state, e});
      EventNumber before = last_[t];
      if (before == kNoEvent) {
        touched_.push_back(t);
      } else if (UnitId unit = facts_.units.by_event[e]; unit != kNone<UnitId> &&
                                                         unit == facts_.units.by_event[before] &&
                                                         !facts_.units.unit(unit).context_only) {
        order::PauseSetId pauses{0};
        if (options_.locks)
          pauses = facts_.locks->pauses(t, facts_.positions.of(before), facts_.positions.of(e));
        pairs_.push_back({t, places_.of(facts_.event(before)), place, pauses, before, e});
      }
      last_[t] = e;
    }
    for (uint32_t t : touched_) last_[t] = kNoEvent;
  }

  Interval interval(const Pair& pair, uint32_t remote) const {
    return {facts_.must->known(pair.thread, facts_.positions.of(pair.first), remote),
            facts_.must->first_after(pair.thread, facts_.positions.of(pair.second), remote)};
  }

  void combine(const Class<Pair>& pairs, const Class<Single>& singles, Pattern pattern) {
    SiteTriple& site = site_of(pairs[0], singles[0], pattern);
    site.triples[0] += pairs.size() * singles.size();
    uint64_t ordered = options_.order ? count_ordered(pairs, singles) : pairs.size() * singles.size();
    if (ordered == 0) return represent(site, Reached::Patterns, pairs, singles);
    site.triples[1] += ordered;
    if (options_.locks && !facts_.locks->compatible(pairs[0].pauses, singles[0].state)) {
      return represent(site, Reached::Order, pairs, singles);
    }
    site.triples[2] += ordered;
    represent(site, Reached::Locks, pairs, singles);
  }

  SiteTriple& site_of(const Pair& pair, const Single& single, Pattern pattern) {
    SiteKey key{raw(pair.first_place), raw(single.place), raw(pair.second_place)};
    auto [found, fresh] = index_.try_emplace(key, static_cast<uint32_t>(survey_.sites.size()));
    if (fresh)
      survey_.sites.push_back({pair.first_place, single.place, pair.second_place, pattern, {}, {}, {}});
    return survey_.sites[found->second];
  }

  // Intervals grow along a thread, so the first and the last pair bound all, and one merge counts the rest.
  uint64_t count_ordered(const Class<Pair>& pairs, const Class<Single>& singles) {
    uint32_t remote = singles[0].thread;
    if (intervals_of_ != remote) {
      intervals_of_ = remote;
      first_ = interval(pairs.front(), remote);
      last_interval_ = pairs.size() == 1 ? first_ : interval(pairs.back(), remote);
      intervals_.clear();
    }
    Position from = facts_.positions.of(singles.front().event),
             to = facts_.positions.of(singles.back().event);
    if (last_interval_.high <= from || first_.low >= to) return 0;
    if (last_interval_.low < from && first_.high > to) return pairs.size() * singles.size();
    if (intervals_.empty()) {
      for (const Pair& pair : pairs) intervals_.push_back(interval(pair, remote));
    }
    uint64_t count = 0;
    size_t low = 0, high = 0;
    for (const Interval& open : intervals_) {
      while (low < singles.size() && facts_.positions.of(singles[low].event) <= open.low) ++low;
      while (high < singles.size() && facts_.positions.of(singles[high].event) < open.high) ++high;
      if (high > low) count += high - low;
    }
    return count;
  }

  // Near triples have little between them that could break, so they survive the later stages best.
  static uint64_t distance(const Triple& t) {
    if (t.first < t.remote && t.remote < t.second) return 0;
    return t.remote > t.second ? t.remote - t.first : t.second - t.remote;
  }

  void represent(SiteTriple& site, Reached reached, const Class<Pair>& pairs, const Class<Single>& singles) {
    if (site.reached > reached) return;
    if (site.reached < reached) {
      site.reached = reached;
      site.representatives.clear();
    }
    size_t wanted = reached == Reached::Locks ? options_.representatives : 1;
    if (reached != Reached::Locks && !site.representatives.empty()) return;
    // A full list is only improved, by a few looks at each further pair of classes.
    size_t looks = site.representatives.size() < wanted ? std::max<size_t>(wanted, 8) : 4;
    if (pairs.size() * singles.size() <= looks) {
      for (const Pair& pair : pairs) {
        for (const Single& single : singles) consider(site, wanted, reached, pair, single);
      }
    } else {
      size_t step = std::max<size_t>(1, pairs.size() / looks);
      for (size_t p = 0; p < pairs.size(); p += step) look_around(site, wanted, reached, pairs[p], singles);
      look_around(site, wanted, reached, pairs.back(), singles);
      if (site.representatives.empty()) search(site, reached, pairs, singles);
    }
  }

  // Where few triples are open, none may be near a pair that was looked at; one is there, since all were
  // counted.
  void search(SiteTriple& site, Reached reached, const Class<Pair>& pairs, const Class<Single>& singles) {
    for (const Pair& pair : pairs) {
      const Interval open = interval(pair, singles[0].thread);
      auto inside = std::upper_bound(
          singles.begin(), singles.end(), open.low,
          [this](Position low, const Single& s) { return low < facts_.positions.of(s.event); });
      if (inside != singles.end()) consider(site, 1, reached, pair, *inside);
      if (!site.representatives.empty()) return;
    }
  }

  void look_around(SiteTriple& site, size_t wanted, Reached reached, const Pair& pair,
                   const Class<Single>& singles) {
    auto after = std::upper_bound(singles.begin(), singles.end(), pair.first,
                                  [](EventNumber e, const Single& s) { return e < s.event; });
    if (after != singles.begin()) consider(site, wanted, reached, pair, *std::prev(after));
    for (int more = 0; more < 2 && after != singles.end(); ++more, ++after) {
      consider(site, wanted, reached, pair, *after);
    }
  }

  void consider(SiteTriple& site, size_t wanted, Reached reached, const Pair& pair, const Single& single) {
    if (reached != Reached::Patterns && options_.order) {
      Interval open = interval(pair, single.thread);
      Position at = facts_.positions.of(single.event);
      if (at <= open.low || at >= open.high) return;
    }
    Triple triple{pair.first, single.event, pair.second};
    auto& kept = site.representatives;
    auto nearer = [](const Triple& a, const Triple& b) {
      return std::pair(distance(a), a) < std::pair(distance(b), b);
    };
    auto place = std::lower_bound(kept.begin(), kept.end(), triple, nearer);
    if (place != kept.end() && *place == triple) return;
    if (kept.size() == wanted) {
      if (place == kept.end()) return;
      kept.pop_back();
    }
    kept.insert(place, triple);
  }

  void finish(const SiteTriple& site) {
    for (size_t level = 0; level < 3; ++level) {
      survey_.triples[level] += site.triples[level];
      if (site.triples[level] != 0) ++survey_.site_count[level];
    }
  }

  TraceIndex& facts_;
  const SurveyOptions& options_;
  Places places_;
  std::vector<EventNumber> last_;  // by thread: its last access of the location
  std::vector<uint32_t> touched_;
  std::vector<Pair> pairs_;
  std::vector<Single> singles_;
  uint32_t intervals_of_ = kNoEvent;  // remote thread for which the three below are
  Interval first_, last_interval_;
  std::vector<Interval> intervals_;
  boost::unordered_flat_map<SiteKey, uint32_t, boost::hash<SiteKey>> index_;
  Survey survey_;
};

}  // namespace

Survey survey(TraceIndex& facts, const SurveyOptions& options) { return Sweep(facts, options).run(); }

}  // namespace cleave::prediction
