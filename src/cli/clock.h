// Time, as the verbs measure and take it.
#pragma once

#include <string>

#include "base/result.h"

namespace cleave::cli {

// Of a clock that only goes forward.
double seconds_now();

// "90", "90s", "10m", "2h" of the option --budget, in seconds.
Result<double> duration(const std::string& text);

}  // namespace cleave::cli
