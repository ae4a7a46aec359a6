// Which read has seen which write, over all runs so far, as pairs of places in the source; and constraints
// for the next run that ask for pairs nobody has seen yet. Coverage of such pairs grows where a schedule does
// something new, whatever the order of everything else.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "schedule/constraint.h"
#include "trace/core/trace.h"

namespace cleave::hunt {

class ReadsFrom {
 public:
  // Takes what the run did; how many pairs are new. O(events).
  size_t add(const Trace& trace);
  // The run under these constraints brought new pairs: they are varied in later samples.
  void reward(const std::vector<Constraint>& constraints);

  // One to three constraints; none if no two threads share anything. The same random state, the same sample.
  std::vector<Constraint> sample(Random& random) const;

  size_t pairs() const { return pairs_.size(); }

 private:
  using PlaceNumber = uint32_t;
  static constexpr PlaceNumber kStart = UINT32_MAX;  // nobody wrote before the read
  // What several threads access at least one of which writes.
  struct Shared {
    std::vector<PlaceNumber> readers, writers;
  };

  PlaceNumber number_of(const Trace& trace, const Event& event);
  Constraint draw(Random& random) const;

  std::vector<Milestone> places_;
  std::map<std::tuple<EventKind, std::string, uint32_t, uint32_t, std::string>, PlaceNumber> numbers_;
  std::map<std::string, uint32_t> by_name_;
  std::vector<Shared> shared_;
  std::set<std::tuple<uint32_t, PlaceNumber, PlaceNumber>> pairs_;  // variable, write, read
  std::vector<std::vector<Constraint>> corpus_;
};

}  // namespace cleave::hunt
