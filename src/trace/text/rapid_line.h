// The lines that nearly all of a long RAPID trace consists of, taken apart at a glance: T3|r(V17)|42,
// T3|begin|42 and T3|end|42, with names of one letter and a number. Where the digits of a line end is one bit
// mask of its first 32 bytes; the numbers then follow from words of 8 bytes. No branch depends on how long a
// number is.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace cleave {

struct RapidLine {
  enum class Kind : uint8_t { Other, Read, Write, Begin, End };
  Kind kind = Kind::Other;  // Other: a line of another shape; nothing else is filled in then
  char thread_letter = 0, variable_letter = 0;
  uint32_t thread = 0, variable = 0, location = 0;
  uint32_t variable_at = 0, variable_size = 0;  // its name, from the beginning of the line
  uint32_t size = 0;                            // with its newline

  static constexpr std::ptrdiff_t kBefore = 8,
                                  kAfter = 40;  // bytes that must be readable around the beginning of a line
};

namespace rapid_line {

// Bit i: byte i of 32 is no digit.
[[gnu::always_inline]] inline uint32_t not_digits(const char* text) {
#if defined(__SSE2__)
  auto digits = [](const char* from) {
    __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    bytes = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
    __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(9)), bytes);
    return static_cast<uint32_t>(_mm_movemask_epi8(is_digit));
  };
  return ~(digits(text) | digits(text + 16) << 16);
#else
  uint32_t mask = 0;
  for (unsigned i = 0; i < 32; ++i) mask |= static_cast<uint32_t>(text[i] < '0' || text[i] > '9') << i;
  return mask;
#endif
}

inline uint64_t word_at(const char* text) {
  uint64_t word;
  std::memcpy(&word, text, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

// The number whose last digit stands before `end`; 1 to 7 digits.
[[gnu::always_inline]] inline uint32_t number_before(const char* end, unsigned digits) {
  uint64_t word = word_at(end - 8);
  word = (word & 0x0f0f0f0f0f0f0f0full) >> (64 - 8 * digits) << (64 - 8 * digits);
  word = (word * 10 + (word >> 8)) & 0x00ff00ff00ff00ffull;
  word = (word * 100 + (word >> 16)) & 0x0000ffff0000ffffull;
  return static_cast<uint32_t>(word * 10000 + (word >> 32));
}

// 1 to 7 digits without a leading zero: a number that is written in one way only.
inline bool is_number(const char* begin, unsigned digits) {
  return digits - 1u < 7 && (*begin != '0' || digits == 1);
}

inline bool is_letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

constexpr uint64_t word_of(const char* text, unsigned bytes) {
  uint64_t word = 0;
  for (unsigned i = 0; i < bytes; ++i)
    word |= static_cast<uint64_t>(static_cast<uint8_t>(text[i])) << (8 * i);
  return word;
}

}  // namespace rapid_line

[[gnu::always_inline]] inline RapidLine read_rapid_line(const char* text) {
  using namespace rapid_line;
  RapidLine line;
  constexpr uint64_t kBehind = uint64_t{1} << 32;  // what is longer than the mask ends there
  const auto first = static_cast<char>(word_at(text));
  const uint64_t others = not_digits(text);
  const auto bar =
      static_cast<unsigned>(std::countr_zero((others & ~uint64_t{1}) | kBehind));  // behind the thread
  if (!is_letter(first) || !is_number(text + 1, bar - 1)) return line;
  const uint64_t operation = word_at(text + bar);
  constexpr uint64_t kAccess = 0xff00ff, kBegin = (uint64_t{1} << 56) - 1, kEnd = (uint64_t{1} << 40) - 1;
  RapidLine::Kind kind;
  unsigned place = 0;  // where the location begins
  if ((operation & kAccess) == word_of("|\0(", 3)) {
    const auto what = static_cast<char>(operation >> 8);
    const bool write = what == 'w';
    if (static_cast<int>(write) + static_cast<int>(what == 'r') == 0) return line;
    kind = static_cast<RapidLine::Kind>(static_cast<int>(RapidLine::Kind::Read) + static_cast<int>(write));
    const unsigned name = bar + 3;
    const auto digits = static_cast<unsigned>(std::countr_zero((others | kBehind) >> (name + 1)));
    if (!is_letter(text[name]) || !is_number(text + name + 1, digits)) return line;
    place = name + 1 + digits;
    if (text[place] != ')' || text[place + 1] != '|') return line;
    line.variable_letter = text[name];
    line.variable = number_before(text + place, digits);
    line.variable_at = name;
    line.variable_size = 1 + digits;
    place += 2;
  } else if ((operation & kBegin) == word_of("|begin|", 7)) {
    kind = RapidLine::Kind::Begin;
    place = bar + 7;
  } else if ((operation & kEnd) == word_of("|end|", 5)) {
    kind = RapidLine::Kind::End;
    place = bar + 5;
  } else {
    return line;
  }
  const auto digits = static_cast<unsigned>(std::countr_zero((others | kBehind) >> place));
  if (!is_number(text + place, digits) || text[place + digits] != '\n') return line;
  line.thread_letter = first;
  line.thread = number_before(text + bar, bar - 1);
  line.location = number_before(text + place + digits, digits);
  line.size = place + digits + 1;
  line.kind = kind;
  return line;
}

}  // namespace cleave
