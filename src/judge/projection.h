// The part of a trace that one unit depends on, reduced to what a serial order can see of it. Private to
// check/.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "judge/conditions.h"

namespace cleave::judge {

inline constexpr uint32_t kNoValue = UINT32_MAX;

// What a step does to a location: the value it reads before writing it itself, and the one it leaves. Values
// are numbered over all locations; a number stands for one value of one location.
struct Touch {
  uint32_t location;
  uint32_t needs = kNoValue;
  uint32_t leaves = kNoValue;
};

// A unit of the serial order.
struct Step {
  BlockId block;
  uint32_t thread;  // dense
  uint32_t touches_begin = 0, touches_end = 0;
  uint32_t waits_for = UINT32_MAX;  // step that must be done before: the fork of its thread
  std::vector<uint32_t> joins;      // threads that must be finished before
};

struct Projection {
  std::vector<Step> steps;                     // in trace order of their first events
  std::vector<std::vector<uint32_t>> threads;  // steps of each thread, in program order
  std::vector<Touch> touches;
  std::vector<uint32_t> initial, final;  // by location, values
  std::vector<std::pair<uint32_t, uint32_t>>
      conflicts;  // steps, in the order in which they touched a location
  uint32_t values = 0;
  bool broken = false;  // a unit reads something else than it left itself: no order helps
  BlockId broken_block{};

  std::span<const Touch> of(const Step& step) const {
    return std::span(touches).subspan(step.touches_begin, step.touches_end - step.touches_begin);
  }
};

// The units that share a location with `around`'s unit, directly or through others, and the forks and joins
// between them. Locations count when several threads use them, someone writes them, and all their reads are
// explained. Nothing if there are more than `most` units. O(accesses of these locations and of these units).
std::optional<Projection> project(const Case& judged, size_t most);

}  // namespace cleave::judge
