/* A runtime for tests: keeps what one thread records and writes it out as text, one record a line, when the program
 * ends. It stands in for libcleave_rt.so by way of LD_LIBRARY_PATH. */
#include <stdio.h>
#include <stdlib.h>

#include "abi/hooks.h"

enum { kWords = 1 << 20, kModules = 64 };
static uint64_t words[kWords];
static const struct cleave_module *modules[kModules];
static unsigned module_count;
static FILE *out;
static uint64_t *flushed = words;

__thread struct cleave_thread_block __cleave_thread
    __attribute__((tls_model("initial-exec"))) = {words, words + kWords, CLEAVE_BRANCHES_NONE};

static void open_file(void) {
  const char *path = getenv("RECORDER_OUT");
  if (out == NULL && path != NULL) out = fopen(path, "w");
}

void __cleave_register(const struct cleave_module *module) {
  open_file();
  modules[module_count++] = module;
  if (out == NULL) return;
  fprintf(out, "module %016lx %lx %u", module->identity, (unsigned long)module->segments, module->segment_count);
  for (uint64_t i = 0; i < module->global_count; ++i) fprintf(out, " %lx", (unsigned long)module->globals[i]);
  fprintf(out, "\n");
}

static void flush(void) {
  uint64_t *p = flushed;
  while (p < __cleave_thread.cursor) {
    const struct cleave_segment *segment = (const struct cleave_segment *)(*p & CLEAVE_HEADER_ADDRESS_MASK);
    if (out != NULL) {
      fprintf(out, "segment %lx %lx", (unsigned long)segment, *p >> 48);
      for (unsigned i = 0; i < segment->words; ++i) fprintf(out, " %lx", p[1 + i]);
      fprintf(out, "\n");
    }
    p += 1 + segment->words;
  }
  flushed = p;
}

static uint64_t outcomes(void) {
  uint64_t now = __cleave_thread.branches;
  __cleave_thread.branches = CLEAVE_BRANCHES_NONE;
  return now;
}

void __cleave_unregister(const struct cleave_module *module) {
  (void)module;
  flush();
  if (out != NULL) fflush(out);
}

CLEAVE_PRESERVE uint64_t *__cleave_reserve(uint64_t wanted, const struct cleave_segment *segment) {
  (void)wanted, (void)segment;
  fprintf(stderr, "recorder: full\n");
  abort();
}

CLEAVE_PRESERVE uint64_t *__cleave_leg(uint64_t *record, const struct cleave_segment *leg) {
  (void)leg;
  return record;
}

#define WRITE(...) (flush(), out != NULL ? (void)fprintf(out, __VA_ARGS__) : (void)0)

CLEAVE_PRESERVE void __cleave_branches_full(void) { WRITE("branches %lx\n", outcomes()); }
uint64_t __cleave_atomic_begin(const struct cleave_segment *segment, const void *address) {
  (void)segment, (void)address;
  flush();
  return 7;
}
void __cleave_atomic_end(const struct cleave_segment *segment, const void *address, uint64_t ticket, uint32_t op,
                         uint32_t order, uint32_t bytes, uint64_t old_low, uint64_t old_high, uint64_t new_low,
                         uint64_t new_high) {
  WRITE("atomic %lx %lx %lx %lu %u %u %u %lx %lx %lx %lx\n", (unsigned long)segment, outcomes(), (unsigned long)address,
        ticket, op, order, bytes, old_low, old_high, new_low, new_high);
}
void __cleave_owns(const void *container, const void *block) {}

void __cleave_fence(const struct cleave_segment *segment, uint32_t order) {
  WRITE("fence %lx %lx %u\n", (unsigned long)segment, outcomes(), order);
}
void __cleave_range_point(const struct cleave_segment *segment) { (void)segment; }
void __cleave_range_read(const struct cleave_segment *segment, const void *address, uint64_t bytes) {
  WRITE("range_read %lx %lx %lx %lu\n", (unsigned long)segment, outcomes(), (unsigned long)address, bytes);
}
void __cleave_local_end(const struct cleave_segment *segment, const void *address, uint64_t bytes) {
  WRITE("local_end %lx %lx %lx %lu\n", (unsigned long)segment, outcomes(), (unsigned long)address, bytes);
}
void __cleave_range_write(const struct cleave_segment *segment, const void *address, uint64_t bytes) {
  WRITE("range_write %lx %lx %lx %lu\n", (unsigned long)segment, outcomes(), (unsigned long)address, bytes);
}
int64_t __cleave_input_int(const char *name, int64_t value) { return (void)name, value; }
uint64_t __cleave_input_uint(const char *name, uint64_t value) { return (void)name, value; }
void __cleave_input_bytes(const char *name, void *data, size_t bytes) { (void)name, (void)data, (void)bytes; }
