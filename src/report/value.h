// A value as people read it. Findings have what was in memory, as a whole number without a sign, and the type
// of the access.
#pragma once

#include <string>
#include <string_view>

#include "model/finding.h"

namespace cleave::report {

// Numbers with a sign and floating point as the type says; what can only be an address in hexadecimal; the
// rest as it is. `value` may be "OLD -> NEW".
std::string value_for_people(std::string_view value, std::string_view type = {});
inline std::string value_for_people(const AccessReport& access) {
  return value_for_people(access.value, access.type);
}

}  // namespace cleave::report
