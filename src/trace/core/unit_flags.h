// More flags of UnitNameInfo, behind kGetter, kSetter and kExposes.
#pragma once

#include <cstdint>

namespace cleave {

// A method that makes one access to an object that its own object points to, and otherwise touches its own
// fields and locks: a step of an iterator, of a nested class or of a friend that exposes another object.
inline constexpr uint32_t kUnitSteps = 8;
// No unit: an empty Begin and End that say that another round of a loop begins in the innermost open
// function.
inline constexpr uint32_t kUnitRound = 16;
// No unit either: the thread may wait on a condition variable here, if it has to.
inline constexpr uint32_t kUnitMayWait = 32;

// A step of a class that goes on by its steps, as an iterator does: a loop over them is one use of what they
// step over.
inline constexpr uint32_t kUnitWalks = 64;

}  // namespace cleave
