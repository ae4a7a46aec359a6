// SMT-LIB terms as they stand in text traces. They are kept as text; this room only tells a term from
// garbage.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cleave {

// Measures the SMT-LIB term at the start of `text` and gives its length in bytes. Every application must be
// of a function of a theory that the solver knows, and every free name one for which `bound` says true.
// Linear; terms nested deeper than 10,000 are refused.
Result<size_t> measure_expression(std::string_view text, const std::function<bool(std::string_view)>& bound);

}  // namespace cleave
