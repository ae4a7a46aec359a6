#include "schedule/base64.h"

namespace cleave {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int digit(char character) {
  if (character >= 'A' && character <= 'Z') return character - 'A';
  if (character >= 'a' && character <= 'z') return character - 'a' + 26;
  if (character >= '0' && character <= '9') return character - '0' + 52;
  if (character == '+') return 62;
  return character == '/' ? 63 : -1;
}

}  // namespace

std::string to_base64(std::span<const uint8_t> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    size_t left = bytes.size() - at;
    uint32_t group = static_cast<uint32_t>(bytes[at]) << 16;
    if (left > 1) group |= static_cast<uint32_t>(bytes[at + 1]) << 8;
    if (left > 2) group |= bytes[at + 2];
    text += kDigits[group >> 18];
    text += kDigits[group >> 12 & 63];
    text += left > 1 ? kDigits[group >> 6 & 63] : '=';
    text += left > 2 ? kDigits[group & 63] : '=';
  }
  return text;
}

bool from_base64(std::string_view text, std::string* bytes) {
  bytes->clear();
  if (text.size() % 4 != 0) return false;
  for (size_t at = 0; at < text.size(); at += 4) {
    bool last = at + 4 == text.size();
    unsigned padding = last ? (text[at + 3] == '=') + (text[at + 3] == '=' && text[at + 2] == '=') : 0;
    uint32_t group = 0;
    for (unsigned position = 0; position < 4; ++position) {
      int value = position >= 4 - padding ? 0 : digit(text[at + position]);
      if (value < 0) return false;
      group = group << 6 | static_cast<uint32_t>(value);
    }
    for (unsigned position = 0; position < 3 - padding; ++position)
      bytes->push_back(static_cast<char>(group >> (16 - 8 * position) & 0xff));
  }
  return true;
}

}  // namespace cleave
