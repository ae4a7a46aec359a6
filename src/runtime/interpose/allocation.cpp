// Heap memory: addresses that are used again are other variables, so every block's life is in the trace.
// operator new and what libc allocates for the program (strdup, getline) come through here too.
//
// An alloc is recorded after the block was given, a free before it is given back: the stamps of one address
// are in order. Zero overhead on what is allocated: no headers, no other allocator.
#include <errno.h>
#include <string.h>

#include "abi/hooks.h"
#include "runtime/interpose/real.h"
#include "runtime/record/state.h"

namespace cleave::runtime {
namespace {

// dlsym may allocate while we look for the real allocator. Never freed.
alignas(16) char early_memory[16 * 1024];
std::atomic<size_t> early_used{0};
__thread bool resolving __attribute__((tls_model("initial-exec")));

bool is_early(const void* block) {
  return block >= early_memory && block < early_memory + sizeof early_memory;
}

void* early_block(size_t bytes) {
  size_t at = early_used.fetch_add((bytes + 15) & ~size_t{15});
  if (at + bytes > sizeof early_memory) return nullptr;
  return early_memory + at;
}

void resolve_allocator() {
  resolving = true;
  REAL(malloc);
  REAL(calloc);
  REAL(realloc);
  REAL(free);
  REAL(malloc_usable_size);
  resolving = false;
}

// False while the real allocator is being looked for by this very thread.
bool allocator_known() {
  if (__builtin_expect(real.malloc_usable_size != nullptr, 1)) return true;
  if (resolving) return false;
  resolve_allocator();
  return true;
}

void* allocated(void* block, size_t bytes) {
  if (block != nullptr && recording()) record(kRecord_alloc, word_of(block), bytes, stamp_now());
  return block;
}

// The contents move with the block, so they are read from the old one and written to the new one.
void* recorded_realloc(void* block, size_t bytes) {
  size_t old_bytes = REAL(malloc_usable_size)(block);
  size_t kept = bytes < old_bytes ? bytes : old_bytes;
  __cleave_range_read(nullptr, block, kept);
  record(kRecord_free, word_of(block), stamp_now());
  void* moved = REAL(realloc)(block, bytes);
  void* now = moved != nullptr ? moved : block;  // refused: the old block is as it was
  if (moved == nullptr && bytes == 0) return nullptr;
  record(kRecord_alloc, word_of(now), moved != nullptr ? bytes : old_bytes, stamp_now());
  __cleave_range_write(nullptr, now, kept);
  return moved;
}

}  // namespace
}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE void* malloc(size_t bytes) {
  if (!allocator_known()) return early_block(bytes);
  return allocated(real.malloc(bytes), bytes);
}

INTERPOSE void* calloc(size_t count, size_t bytes) {
  if (!allocator_known()) return early_block(count * bytes);
  return allocated(real.calloc(count, bytes), count * bytes);
}

INTERPOSE void free(void* block) {
  if (block == nullptr || is_early(block) || !allocator_known()) return;
  if (recording()) record(kRecord_free, word_of(block), stamp_now());
  real.free(block);
}

INTERPOSE void* realloc(void* block, size_t bytes) {
  if (!allocator_known()) return early_block(bytes);
  if (is_early(block)) {
    void* moved = malloc(bytes);
    size_t left = static_cast<size_t>(early_memory + sizeof early_memory - static_cast<char*>(block));
    if (moved != nullptr) memcpy(moved, block, bytes < left ? bytes : left);
    return moved;
  }
  if (block == nullptr) return allocated(real.realloc(block, bytes), bytes);
  return recording() ? recorded_realloc(block, bytes) : real.realloc(block, bytes);
}

INTERPOSE void* reallocarray(void* block, size_t count, size_t bytes) {
  size_t total;
  if (__builtin_mul_overflow(count, bytes, &total)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(block, total);
}

INTERPOSE void* aligned_alloc(size_t alignment, size_t bytes) {
  return allocated(REAL(aligned_alloc)(alignment, bytes), bytes);
}
INTERPOSE void* memalign(size_t alignment, size_t bytes) {
  return allocated(REAL(memalign)(alignment, bytes), bytes);
}
INTERPOSE void* valloc(size_t bytes) { return allocated(REAL(valloc)(bytes), bytes); }
INTERPOSE void* pvalloc(size_t bytes) {
  return allocated(REAL(pvalloc)(bytes), (bytes + kPage - 1) & ~(kPage - 1));
}
INTERPOSE int posix_memalign(void** block, size_t alignment, size_t bytes) {
  int result = REAL(posix_memalign)(block, alignment, bytes);
  if (result == 0) allocated(*block, bytes);
  return result;
}

extern "C" void __cleave_owns(const void* container, const void* block) {
  if (recording() && block != nullptr) record(kRecord_owned, word_of(container), word_of(block));
}
