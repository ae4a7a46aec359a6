#include "cli/clock.h"

#include <fmt/format.h>

#include <chrono>

namespace cleave::cli {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Result<double> duration(const std::string& text) {
  const Error wrong{"--budget", fmt::format("`{}` is not a duration such as 90s, 10m or 2h", text)};
  size_t used = 0;
  double number = 0;
  try {
    number = std::stod(text, &used);
  } catch (const std::exception&) {
    return wrong;
  }
  const std::string unit = text.substr(used);
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (factor == 0 || !(number > 0) || number > 1e9) return wrong;
  return number * factor;
}

}  // namespace cleave::cli
