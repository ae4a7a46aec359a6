#include "base/temporary.h"

#include <cstdlib>

namespace cleave {

std::string temporary_pattern(std::string_view what) {
  const char* folder = std::getenv("TMPDIR");
  std::string pattern = folder != nullptr && *folder != 0 ? folder : "/tmp";
  return pattern.append("/cleave-").append(what).append("-XXXXXX");
}

}  // namespace cleave
