/* An instrumented library for dlopen. */
#define HAND_NAME "plugin.c"
#include "hand.h"

static volatile uint64_t state;

void plugin_call(uint64_t value) { hand_write(&state, value); }
