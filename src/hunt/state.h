// How far a hunt has come, as a value: what a state directory keeps, so that a hunt goes on where it ended.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace cleave::hunt {

struct TargetState {
  unsigned attempts = 0;  // plans that were tried
  bool done = false;      // nothing is left to be tried
  std::string note;       // why it was not shown
  friend bool operator==(const TargetState&, const TargetState&) = default;
};

struct HuntState {
  std::vector<std::string> program;  // whose state it is; a state of another program is refused
  uint64_t seed = 1;
  uint64_t executions = 0, explored = 0;
  std::map<std::string, TargetState> targets;  // by key
  friend bool operator==(const HuntState&, const HuntState&) = default;
};

std::string to_json(const HuntState& state);
Result<HuntState> state_from_json(const std::string& text, const std::string& place);

}  // namespace cleave::hunt
