#include "hunt/lesson.h"

#include <fmt/format.h>

#include "analysis/predict/findings.h"
#include "confirm/observed.h"

namespace cleave::hunt {
namespace {

std::string place_key(const Trace& trace, prediction::EventNumber number) {
  const Event& event = trace.events()[number];
  if (event.site == kNone<SiteId>) return fmt::format("{} ?", word_of(event.kind));
  const SiteInfo& site = trace.site(event.site);
  return fmt::format("{} {}:{}:{}", word_of(event.kind), site.file, site.line, site.column);
}

Milestone place_of(const Trace& trace, prediction::EventNumber number) {
  const Event& event = trace.events()[number];
  Milestone place;
  place.kind = event.kind;
  if (event.site == kNone<SiteId>) return place;
  const SiteInfo& site = trace.site(event.site);
  place.file = site.file;
  place.line = site.line;
  place.column = site.column;
  place.function = site.function;
  return place;
}

}  // namespace

Result<std::shared_ptr<Lesson>> learn(
    const std::string& path, const LookOptions& options,
    const std::function<void(const RecordedTrace&, prediction::Prediction&)>& decide) {
  Result<RecordedTrace> loaded = load_recorded_trace(path);
  if (!loaded) return loaded.error();
  auto lesson = std::make_shared<Lesson>();
  lesson->recorded = std::move(loaded).value();
  const Trace& trace = lesson->recorded.trace;
  Result<units::UnitSources> sources = options.units(lesson->recorded);
  if (!sources) return sources.error();
  lesson->sources = std::move(sources).value();
  lesson->sets = std::make_unique<SetMap>(options.sets, trace);
  lesson->units =
      std::make_unique<UnitMap>(units::find_units(lesson->recorded, lesson->sources, *lesson->sets));
  lesson->facts = std::make_unique<prediction::TraceIndex>(trace, *lesson->units);
  prediction::PredictOptions stages;
  stages.now = options.now;
  lesson->prediction = predict(*lesson->facts, stages);
  if (decide) decide(lesson->recorded, lesson->prediction);
  assign_ids(*lesson->facts, lesson->prediction, *lesson->sets);
  std::vector<const prediction::Candidate*> candidates;
  for (const prediction::Candidate& candidate : lesson->prediction.candidates) {
    candidates.push_back(&candidate);
    lesson->findings.push_back(to_finding(*lesson->facts, candidate, *lesson->sets));
    const prediction::Triple& triple = candidate.triple();
    lesson->keys.push_back(fmt::format("{} | {} | {} | {}", word_of(candidate.pattern),
                                       place_key(trace, triple.first), place_key(trace, triple.remote),
                                       place_key(trace, triple.second)));
  }
  confirm::ProveOptions judging;
  judging.units = lesson->sources;
  judging.sets = options.sets;
  judging.final_writes = options.final_writes;
  judging.order_is_real = true;  // every execution of a hunt is a controlled one
  lesson->observed = confirm::judge_observed(*lesson->facts, candidates, lesson->findings, judging);
  return lesson;
}

std::vector<Constraint> relaxed(const Lesson& lesson, const prediction::Candidate& candidate) {
  const Trace& trace = lesson.recorded.trace;
  const prediction::Triple& triple = candidate.triple();
  Constraint constraint;
  constraint.after = place_of(trace, triple.first);
  constraint.then = place_of(trace, triple.remote);
  constraint.between = {place_of(trace, triple.second)};
  for (const Milestone& place : {*constraint.after, constraint.then, constraint.between[0]})
    if (place.file.empty() || place.line == 0) return {};
  return {constraint};
}

}  // namespace cleave::hunt
