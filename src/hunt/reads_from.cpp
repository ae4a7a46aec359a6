#include "hunt/reads_from.h"

#include <algorithm>

namespace cleave::hunt {
namespace {

constexpr size_t kVariables = 4096, kCorpus = 64;

void insert_sorted(std::vector<uint32_t>& numbers, uint32_t number) {
  auto place = std::lower_bound(numbers.begin(), numbers.end(), number);
  if (place == numbers.end() || *place != number) numbers.insert(place, number);
}

// What is known of a variable while a trace is gone through.
struct Seen {
  ThreadId first_thread = kNone<ThreadId>;
  bool several = false, written = false;
  uint32_t last_writer = UINT32_MAX;
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  std::set<uint32_t> readers, writers;
};

}  // namespace

ReadsFrom::PlaceNumber ReadsFrom::number_of(const Trace& trace, const Event& event) {
  const SiteInfo& site = trace.site(event.site);
  auto [known, fresh] = numbers_.try_emplace({event.kind, site.file, site.line, site.column, site.function},
                                             static_cast<PlaceNumber>(places_.size()));
  if (fresh) {
    Milestone place;
    place.kind = event.kind;
    place.file = site.file;
    place.line = site.line;
    place.column = site.column;
    place.function = site.function;
    places_.push_back(std::move(place));
  }
  return known->second;
}

size_t ReadsFrom::add(const Trace& trace) {
  std::map<uint32_t, Seen> variables;
  for (const Event& event : trace.events()) {
    if (!is_access(event.kind) || event.site == kNone<SiteId>) continue;
    if (trace.site(event.site).line == 0 || trace.site(event.site).file.empty()) continue;
    Seen& seen = variables[event.object];
    const PlaceNumber place = number_of(trace, event);
    if (seen.first_thread == kNone<ThreadId>) seen.first_thread = event.thread;
    seen.several = seen.several || seen.first_thread != event.thread;
    if (reads(event.kind)) {
      seen.readers.insert(place);
      seen.pairs.emplace(seen.last_writer, place);
    }
    if (writes(event.kind)) {
      seen.written = true;
      seen.writers.insert(place);
      seen.last_writer = place;
    }
  }
  size_t fresh = 0;
  for (const auto& [id, seen] : variables) {
    if (!seen.several || !seen.written) continue;
    const std::string& name = trace.variable(VariableId{id}).name;
    if (!by_name_.contains(name) && shared_.size() >= kVariables) continue;
    auto [known, added] = by_name_.try_emplace(name, static_cast<uint32_t>(shared_.size()));
    if (added) shared_.emplace_back();
    Shared& shared = shared_[known->second];
    for (PlaceNumber reader : seen.readers) insert_sorted(shared.readers, reader);
    for (PlaceNumber writer : seen.writers) insert_sorted(shared.writers, writer);
    for (const auto& [writer, reader] : seen.pairs)
      fresh += pairs_.emplace(known->second, writer, reader).second;
  }
  return fresh;
}

void ReadsFrom::reward(const std::vector<Constraint>& constraints) {
  if (constraints.empty()) return;
  if (corpus_.size() == kCorpus) corpus_.erase(corpus_.begin());
  corpus_.push_back(constraints);
}

Constraint ReadsFrom::draw(Random& random) const {
  constexpr unsigned kTries = 8;
  Constraint result;
  for (unsigned tried = 0; tried < kTries; ++tried) {
    const uint32_t variable = static_cast<uint32_t>(random.below(shared_.size()));
    const Shared& shared = shared_[variable];
    if (shared.readers.empty() || shared.writers.empty()) continue;
    const PlaceNumber read = shared.readers[random.below(shared.readers.size())];
    const uint64_t drawn = random.below(shared.writers.size() + 1);
    const PlaceNumber write = drawn == shared.writers.size() ? kStart : shared.writers[drawn];
    const bool seen = pairs_.contains({variable, write, read});
    result = Constraint();
    result.then = places_[read];
    if (write != kStart) result.after = places_[write];
    for (PlaceNumber writer : shared.writers) result.between.push_back(places_[writer]);
    // Of a loop's writes one of the later ones may be the one.
    if (random.chance(1, 2)) result.occurrence = 1 + random.below(8);
    result.negative = seen && result.after && random.chance(1, 2);
    if (!seen || random.chance(1, 4)) break;
  }
  return result;
}

std::vector<Constraint> ReadsFrom::sample(Random& random) const {
  std::vector<Constraint> result;
  if (shared_.empty()) return result;
  if (!corpus_.empty() && random.chance(1, 2)) {
    result = corpus_[random.below(corpus_.size())];
    if (result.size() > 1 && random.chance(1, 2))
      result.erase(result.begin() + static_cast<ptrdiff_t>(random.below(result.size())));
  }
  const size_t wanted = std::max<size_t>(result.size() + (random.chance(1, 2) ? 1 : 0), 1);
  for (unsigned tried = 0; result.size() < std::min<size_t>(wanted, 3) && tried < 8; ++tried) {
    Constraint drawn = draw(random);
    if (!drawn.then.file.empty()) result.push_back(std::move(drawn));
  }
  return result;
}

}  // namespace cleave::hunt
