// Stages patterns, order and locks in one sweep over the shared locations, in bulk.
//
// The accesses of a location fall into classes: pairs of consecutive accesses of a unit by (thread, program
// locations, lock states in which the thread can be paused between them), single accesses by (thread, program
// location, lock state). What locks exclude depends on the two classes alone; what must-order excludes cuts
// one interval out of a thread, so triples are counted class by class, by multiplication or by one merge of
// two sorted lists. The number of triples may be quadratic, the work is O(accesses + pairs of classes), and
// no triple is made unless it represents its program locations.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/predict/trace_index.h"

namespace cleave::prediction {

// How far a triple, or the best triple of some program locations, has come.
enum class Reached : uint8_t { Patterns, Order, Locks };

// All triples of three program locations.
struct SiteTriple {
  PlaceId first, remote, second;
  Pattern pattern = Pattern::None;
  Reached reached = Reached::Patterns;
  std::array<uint64_t, 3> triples{};    // event triples that have come so far, by Reached
  std::vector<Triple> representatives;  // of those that came farthest, nearest in the trace first
};

struct SurveyOptions {
  bool order = true, locks = true;
  size_t representatives = 16;        // kept for each three program locations
  uint64_t class_pairs = 50'000'000;  // of one location; more are left out and said in Survey::cut
};

struct Survey {
  std::vector<SiteTriple> sites;      // in the order in which they were first met
  std::array<uint64_t, 3> triples{};  // by Reached
  std::array<uint64_t, 3> site_count{};
  uint64_t library_locations = 0;  // left out: where the standard library synchronizes, by atomics of its own
  std::vector<VariableId> cut;     // locations for which the limit of class pairs was met
};

// Needs facts.must and facts.locks where the options ask for them.
Survey survey(TraceIndex& facts, const SurveyOptions& options);

}  // namespace cleave::prediction
