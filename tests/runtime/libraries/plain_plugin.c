/* A library that knows nothing of Cleave. */
#include <stdint.h>
#include <stdlib.h>

static volatile uint64_t state;

void plugin_call(uint64_t value) {
  void *volatile block = malloc(value);
  state = value;
  free(block);
}
