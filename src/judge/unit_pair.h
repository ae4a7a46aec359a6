// The condition on two units: neither order of the triple's unit and the remote access's unit can be part of
// a serial order, whatever the others do. Private to check/.
#pragma once

#include <optional>
#include <string>

#include "judge/conditions.h"

namespace cleave::judge {

// One sentence that says why, if it is so.
//
// Take the order "earlier before later". It is impossible when a value that one of the two reads from outside
// could not have been there: every write of that value is by the other unit but overwritten within it, or by
// a unit that program order, forks and joins put on the wrong side, or must be overwritten before it can be
// read; or when the last value of a location could not have been the last. Only locations that both touch and
// one writes are looked at. Cost: the writes of the values in question, at most a few thousand each.
std::optional<std::string> pair_has_no_order(const Case& judged);

}  // namespace cleave::judge
