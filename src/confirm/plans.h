// The plans that may make a candidate happen: sequences of events that a run shall come to in that order.
//
// Between milestones everything is free, and the thread of the next milestone goes first. So a plan of the
// three accesses alone starts with the unit's thread, whatever that needs of the others: a customer comes to
// an empty shop. The plans along a whole order therefore pin every change of threads, from the beginning of
// the run to the second access.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/predict/predict.h"
#include "confirm/visits.h"

namespace cleave::confirm {

class Planner {
 public:
  // Changes of threads that one plan pins; of a longer order the last ones.
  static constexpr size_t kChanges = 200;

  // Needs facts.locks. With `visits` it is known what the runtime comes by; they must outlive it.
  explicit Planner(const prediction::TraceIndex& facts, const RecordedVisits* visits = nullptr)
      : facts_(facts), visits_(visits) {}

  // The events of the candidate's plans, the most promising first; `attempt` counts from 0. Empty where there
  // is none for this attempt (there may be one for the next). O(trace).
  std::vector<prediction::EventNumber> plan(const prediction::Candidate& candidate, unsigned attempt) const;
  // Whether that plan has all that the solver's model says of the order.
  bool is_model(const prediction::Candidate& candidate, unsigned attempt) const;

 private:
  using EventNumber = prediction::EventNumber;
  using Position = prediction::Position;
  using Triple = prediction::Triple;
  enum class Others : uint8_t { GoOn, Free };

  std::vector<EventNumber> attempt_at(const prediction::Candidate& candidate, unsigned attempt) const;
  std::vector<Triple> by_promise(const prediction::Candidate& candidate) const;
  std::vector<EventNumber> along_model(const prediction::Candidate& candidate) const;
  std::vector<EventNumber> pausing(const Triple& triple, Others others) const;
  std::vector<EventNumber> with_followers(const Triple& triple) const;
  std::vector<EventNumber> remote_waits(const Triple& triple) const;
  std::vector<EventNumber> with_locks(const prediction::Candidate& candidate) const;

  std::vector<EventNumber> changes_of(const std::vector<EventNumber>& order, const Triple& triple) const;
  Position cut_of(const Triple& triple) const;
  EventNumber section_of(EventNumber access, Position after) const;
  Position section_end(EventNumber access) const;
  EventNumber follower(EventNumber event) const;
  bool fits(EventNumber event) const;
  bool marks_change(EventNumber event) const;

  const prediction::TraceIndex& facts_;
  const RecordedVisits* visits_;
};

}  // namespace cleave::confirm
