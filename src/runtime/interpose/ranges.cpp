// Ranges of memory read or written at once, and inputs.
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/record/state.h"
#include "runtime/schedule/control.h"
#include "runtime/schedule/inputs.h"

namespace cleave::runtime {
namespace {

constexpr size_t kContentWords = CLEAVE_RANGE_INLINE / 8;

// A record whose first payload word says how many follow.
void record_counted(Record kind, const uint64_t* words, size_t count) {
  uint64_t* place = room_for(2 + count);
  if (place == nullptr) return;
  __cleave_thread.cursor = place + 2 + count;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  place[1] = count;
  memcpy(place + 2, words, count * sizeof *words);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  place[0] = kind | __cleave_thread.branches << CLEAVE_HEADER_ADDRESS_BITS;
  __cleave_thread.branches = CLEAVE_BRANCHES_NONE;
}

void record_range(Record kind, const cleave_segment* segment, const void* address, uint64_t bytes) {
  if (bytes == 0 || !recording()) return;
  uint64_t words[3 + kContentWords] = {word_of(segment), word_of(address), bytes};
  size_t count = 4;
  if (bytes > CLEAVE_RANGE_INLINE) {
    words[3] = XXH3_64bits(address, bytes);
  } else {
    memcpy(words + 3, address, bytes);
    count = 3 + (bytes + 7) / 8;
  }
  record_counted(kind, words, count);
}

void record_input(InputKind kind, const char* name, const void* value, size_t bytes) {
  if (!recording()) return;
  constexpr size_t kValueWords = 128, kNameWords = 32;
  uint64_t words[1 + kValueWords + kNameWords] = {};
  if (bytes > kValueWords * 8) bytes = kValueWords * 8;
  size_t length = strnlen(name, kNameWords * 8);
  words[0] = static_cast<uint64_t>(kind) << 32 | bytes;
  memcpy(words + 1, value, bytes);
  size_t value_words = (bytes + 7) / 8;
  memcpy(words + 1 + value_words, name, length);
  record_counted(kRecord_input, words, 1 + value_words + (length + 7) / 8);
}

}  // namespace
}  // namespace cleave::runtime

using namespace cleave::runtime;

extern "C" void __cleave_range_read(const cleave_segment* segment, const void* address, uint64_t bytes) {
  if (__builtin_expect(state.controlled, 0)) control_range(segment);
  record_range(kRecord_range_read, segment, address, bytes);
}
extern "C" void __cleave_range_point(const cleave_segment* segment) {
  if (__builtin_expect(state.controlled, 0)) control_range(segment);
}
extern "C" void __cleave_range_write(const cleave_segment* segment, const void* address, uint64_t bytes) {
  record_range(kRecord_range_write, segment, address, bytes);
}

extern "C" void __cleave_local_end(const cleave_segment* segment, const void* address, uint64_t bytes) {
  if (recording()) record(kRecord_local_end, word_of(segment), word_of(address), bytes);
}

extern "C" int64_t __cleave_input_int(const char* name, int64_t value) {
  auto chosen = static_cast<uint64_t>(value);
  choose_number(name, &chosen);
  value = static_cast<int64_t>(chosen);
  record_input(InputKind::Signed, name, &value, sizeof value);
  return value;
}
extern "C" uint64_t __cleave_input_uint(const char* name, uint64_t value) {
  choose_number(name, &value);
  record_input(InputKind::Unsigned, name, &value, sizeof value);
  return value;
}
extern "C" void __cleave_input_bytes(const char* name, void* data, size_t bytes) {
  choose_bytes(name, data, bytes);
  record_input(InputKind::Bytes, name, data, bytes);
}
