// Memory that the program maps itself.
#include <stdarg.h>
#include <sys/mman.h>

#include "runtime/interpose/real.h"
#include "runtime/record/state.h"

namespace cleave::runtime {
namespace {

void* mapped(void* address, size_t bytes) {
  if (address != MAP_FAILED && recording()) record(kRecord_map, word_of(address), bytes, stamp_now());
  return address;
}

// A mapping with a fixed address takes the place of what was there.
void before_map(void* address, size_t bytes, int flags) {
  if ((flags & MAP_FIXED) && recording()) record(kRecord_unmap, word_of(address), bytes, stamp_now());
}

}  // namespace
}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  before_map(address, bytes, flags);
  return mapped(REAL(mmap)(address, bytes, protection, flags, file, offset), bytes);
}
INTERPOSE void* mmap64(void* address, size_t bytes, int protection, int flags, int file, off64_t offset) {
  before_map(address, bytes, flags);
  return mapped(REAL(mmap64)(address, bytes, protection, flags, file, offset), bytes);
}
INTERPOSE int munmap(void* address, size_t bytes) {
  bool refused = bytes == 0 || word_of(address) % kPage != 0;
  if (!refused && recording()) record(kRecord_unmap, word_of(address), bytes, stamp_now());
  return REAL(munmap)(address, bytes);
}
INTERPOSE void* mremap(void* address, size_t old_bytes, size_t new_bytes, int flags, ...) {
  va_list more;
  va_start(more, flags);
  void* target = (flags & MREMAP_FIXED) ? va_arg(more, void*) : nullptr;
  va_end(more);
  uint64_t before = stamp_now();  // the old place may be somebody else's as soon as we have moved
  void* moved = REAL(mremap)(address, old_bytes, new_bytes, flags, target);
  // Contents move with the pages: only what lies at other addresses than before begins or ends.
  if (moved == MAP_FAILED || !recording()) return moved;
  if (moved == address) {
    char* end = static_cast<char*>(address) + (new_bytes < old_bytes ? new_bytes : old_bytes);
    if (new_bytes < old_bytes) record(kRecord_unmap, word_of(end), old_bytes - new_bytes, stamp_now());
    if (new_bytes > old_bytes) record(kRecord_map, word_of(end), new_bytes - old_bytes, stamp_now());
    return moved;
  }
  record(kRecord_unmap, word_of(address), old_bytes, before);
  return mapped(moved, new_bytes);
}
