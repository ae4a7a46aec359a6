#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace cleave {
namespace {

// The next character of UTF-8: how many bytes it has, 0 if these are none; and whether it was cut off.
struct Character {
  size_t bytes = 0;
  uint32_t code = 0;
  bool cut = false;
};

Character next_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {1, first};
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return {};
  uint32_t code = first & (0xffu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if (i >= text.size()) return {0, 0, true};
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0u) != 0x80u) return {};
    code = code << 6 | (byte & 0x3fu);
  }
  constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kLeast[bytes] || code > 0x10ffff || surrogate) return {};
  return {bytes, code};
}

// Characters that show nothing themselves but change where or in which direction others are shown.
bool is_unseen(uint32_t code) {
  return (code >= 0x80 && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

void append_byte(std::string& out, char c) { out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c)); }

bool is_control(uint32_t code) { return code < 0x20 || code == 0x7f; }

// Our colours: report/text.cpp and cli/trace_dump.cpp.
constexpr std::array<std::string_view, 10> kColours = {"\x1b[0m",    "\x1b[1m",  "\x1b[2m",  "\x1b[31m",
                                                       "\x1b[1;31m", "\x1b[32m", "\x1b[33m", "\x1b[34m",
                                                       "\x1b[35m",   "\x1b[36m"};

// Bytes of the colour that the text begins with; or that it may become one of them.
std::pair<size_t, bool> colour_at(std::string_view text) {
  for (std::string_view colour : kColours) {
    if (text.starts_with(colour)) return {colour.size(), false};
    if (colour.starts_with(text)) return {0, true};
  }
  return {0, false};
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character character = next_character(text);
    const size_t bytes = std::max<size_t>(character.bytes, 1);
    if (text[0] == '\t') {
      out += "  ";
    } else if (text[0] == '\n') {
      out += "\\n";
    } else if (character.bytes == 0 || is_control(character.code)) {
      append_byte(out, text[0]);
    } else if (is_unseen(character.code)) {
      out += fmt::format("\\u{:04x}", character.code);
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

std::string PrintableStream::operator()(std::string_view piece) {
  std::string joined = std::exchange(held_, {});
  joined += piece;
  std::string out;
  out.reserve(joined.size());
  std::string_view text = joined;
  while (!text.empty()) {
    // Nearly everything is plain.
    const auto plain = std::find_if(text.begin(), text.end(), [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return (byte < 0x20 && c != '\n' && c != '\t') || byte >= 0x7f;
    });
    out.append(text.begin(), plain);
    text.remove_prefix(static_cast<size_t>(plain - text.begin()));
    if (text.empty()) break;
    if (colour_ && text[0] == '\x1b') {
      const auto [bytes, cut] = colour_at(text);
      if (cut) {
        held_ = text;
        break;
      }
      out += text.substr(0, bytes);
      text.remove_prefix(bytes);
      if (bytes > 0) continue;
    }
    const Character character = next_character(text);
    if (character.cut) {
      held_ = text;
      break;
    }
    const size_t bytes = std::max<size_t>(character.bytes, 1);
    out += printable(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return out;
}

std::string PrintableStream::rest() { return printable(std::exchange(held_, {})); }

}  // namespace cleave
