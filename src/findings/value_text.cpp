#include "findings/value_text.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>

namespace cleave {
namespace {

struct SignedType {
  std::string_view name;
  unsigned bits;
};
// As debug information calls them. On x86-64 Linux, as everything that is recorded; a plain char is told as
// it is.
constexpr std::array kSigned = {
    SignedType{"signed char", 8}, SignedType{"short", 16},     SignedType{"int", 32},
    SignedType{"long", 64},       SignedType{"long long", 64}, SignedType{"int8_t", 8},
    SignedType{"int16_t", 16},    SignedType{"int32_t", 32},   SignedType{"int64_t", 64},
    SignedType{"intptr_t", 64},   SignedType{"intmax_t", 64},  SignedType{"ssize_t", 64},
    SignedType{"ptrdiff_t", 64},  SignedType{"off_t", 64},     SignedType{"time_t", 64},
};

bool take_front(std::string_view& text, std::string_view front) {
  if (!text.starts_with(front)) return false;
  text.remove_prefix(front.size());
  return true;
}

// Without what says nothing about the value: const, volatile, std::atomic<…>, std::.
std::string_view bare(std::string_view type) {
  for (bool more = true; more;) {
    more = take_front(type, "const ") || take_front(type, "volatile ");
    for (std::string_view around : {"std::atomic<", "_Atomic("}) {
      if (type.size() <= around.size() || !take_front(type, around)) continue;
      type.remove_suffix(1);
      more = true;
    }
  }
  take_front(type, "std::");
  return type;
}

std::optional<std::string> with_sign(uint64_t number, unsigned bits) {
  if (bits < 64 && number >> bits != 0) return std::nullopt;  // more than one such value
  const unsigned unused = 64 - bits;
  return fmt::format("{}", static_cast<int64_t>(number << unused) >> unused);
}

std::optional<std::string> by_type(uint64_t number, std::string_view type) {
  for (const SignedType& known : kSigned) {
    if (type == known.name) return with_sign(number, known.bits);
  }
  if (type == "bool" && number < 2) return number == 1 ? "true" : "false";
  if (type == "float" && number >> 32 == 0)
    return fmt::format("{:#}", std::bit_cast<float>(static_cast<uint32_t>(number)));
  // One half of a double looks like a number that is next to nothing.
  if (type == "double" && (number == 0 || number >> 52 != 0))
    return fmt::format("{:#}", std::bit_cast<double>(number));
  return std::nullopt;
}

std::string number_text(uint64_t number, std::string_view bare_type) {
  if (std::optional<std::string> text = by_type(number, bare_type)) return *text;
  constexpr uint64_t kLowest = uint64_t{1} << 40,
                     kHighest = uint64_t{1} << 47;  // of a program's memory on 64 bits
  return number >= kLowest && number < kHighest ? fmt::format("{:#x}", number) : fmt::format("{}", number);
}

std::string one_value(std::string_view value, std::string_view bare_type) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) return std::string(value);
  return number_text(number, bare_type);
}

}  // namespace

std::string value_text(uint64_t value, std::string_view type) { return number_text(value, bare(type)); }

std::string value_text(std::string_view value, std::string_view type) {
  constexpr std::string_view kTo = " -> ";
  type = bare(type);
  const size_t arrow = value.find(kTo);
  if (arrow == value.npos) return one_value(value, type);
  return one_value(value.substr(0, arrow), type) + std::string(kTo) +
         one_value(value.substr(arrow + kTo.size()), type);
}

}  // namespace cleave
