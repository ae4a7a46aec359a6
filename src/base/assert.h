// Broken invariants of Cleave itself: checked in release builds too. Wrong input is never a check, it is an
// Error.
#pragma once

#include <string_view>

namespace cleave {

[[noreturn]] void fail_check(const char* file, int line, const char* condition, std::string_view message);

}  // namespace cleave

#define CLEAVE_CHECK(condition, message) \
  ((condition) ? static_cast<void>(0) : ::cleave::fail_check(__FILE__, __LINE__, #condition, (message)))
