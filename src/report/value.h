// The value of an access as people read it (findings/value_text.h).
#pragma once

#include <string>
#include <string_view>

#include "findings/finding.h"
#include "findings/value_text.h"

namespace cleave::report {

inline std::string value_for_people(std::string_view value, std::string_view type = {}) {
  return value_text(value, type);
}
inline std::string value_for_people(const AccessReport& access) {
  return value_text(access.value, access.type);
}

}  // namespace cleave::report
