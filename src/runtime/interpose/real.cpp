#include "runtime/interpose/real.h"

#include <string.h>

#include "runtime/record/message.h"

namespace cleave::runtime {

RealFunctions real;

void* resolve(const char* name) {
  void* found = nullptr;
  // libc still has condition variables of a layout that nothing uses any more; the newer ones carry this
  // version.
  if (strncmp(name, "pthread_cond_", 13) == 0) found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) fail("the program calls a function that no library has", name);
  return found;
}

void resolve_all() {
  // What is missing (no libstdc++ in a C program) stays null and is never called.
#define CLEAVE_REAL(result, name, parameters)                                                         \
  if (real.name == nullptr) {                                                                         \
    void* found =                                                                                     \
        strncmp(#name, "pthread_cond_", 13) == 0 ? dlvsym(RTLD_NEXT, #name, "GLIBC_2.3.2") : nullptr; \
    if (found == nullptr) found = dlsym(RTLD_NEXT, #name);                                            \
    real.name = reinterpret_cast<decltype(real.name)>(found);                                         \
  }
#include "runtime/interpose/real.def"
#undef CLEAVE_REAL
}

}  // namespace cleave::runtime
