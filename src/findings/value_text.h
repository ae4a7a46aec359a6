// A value as people read it, the same in every sentence and table. What was in memory is a whole number
// without a sign; the type of the access says how to read it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cleave {

// Numbers with a sign and floating point as the type says; what can only be an address in hexadecimal; the
// rest as it is.
std::string value_text(uint64_t value, std::string_view type);
// The same for the value of an AccessReport, which may be "OLD -> NEW".
std::string value_text(std::string_view value, std::string_view type);

}  // namespace cleave
