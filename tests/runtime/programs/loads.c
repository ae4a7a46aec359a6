/* Loads the library named by its argument, calls into it, unloads it; three times. */
#define HAND_NAME "loads.c"
#include "hand.h"

#include <dlfcn.h>

static volatile uint64_t variable;

int main(int argc, char **argv) {
  CHECK(argc == 2);
  for (int i = 0; i < 3; ++i) {
    void *library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL) fprintf(stderr, "%s\n", dlerror());
    CHECK(library != NULL);
    void (*call)(uint64_t) = (void (*)(uint64_t))dlsym(library, "plugin_call");
    CHECK(call != NULL);
    call(100 + (uint64_t)i);
    CHECK(dlclose(library) == 0);
    hand_write(&variable, (uint64_t)i);
  }
  return 0;
}
