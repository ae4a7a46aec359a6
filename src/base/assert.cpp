#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace cleave {

void fail_check(const char* file, int line, const char* condition, std::string_view message) {
  std::fprintf(stderr, "cleave: internal error at %s:%d: %s does not hold: %.*s\n", file, line, condition,
               static_cast<int>(message.size()), message.data());
  std::abort();
}

}  // namespace cleave
