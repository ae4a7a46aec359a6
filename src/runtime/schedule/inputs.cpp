// Inputs that somebody outside has chosen (cleave_input_*): CLEAVE_INPUTS="name=HEX;name=HEX;…", the bytes of
// the value in hexadecimal digits; a number's bytes are its decimal text. What is not named keeps the
// program's own value.
#include "runtime/schedule/inputs.h"

#include <string.h>

#include "runtime/record/setting.h"

namespace cleave::runtime {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Where the digits of the input begin, or null.
const char* find(const char* name) {
  const char* at = setting("CLEAVE_INPUTS");
  size_t length = strlen(name);
  while (at != nullptr && *at != 0) {
    if (strncmp(at, name, length) == 0 && at[length] == '=') return at + length + 1;
    at = strchr(at, ';');
    if (at != nullptr) ++at;
  }
  return nullptr;
}

size_t decode(const char* digits, char* into, size_t capacity) {
  size_t size = 0;
  for (; size < capacity && digit(digits[0]) >= 0 && digit(digits[1]) >= 0; digits += 2)
    into[size++] = static_cast<char>(digit(digits[0]) << 4 | digit(digits[1]));
  return size;
}

}  // namespace

void choose_number(const char* name, uint64_t* value) {
  const char* digits = find(name);
  if (digits == nullptr) return;
  char text[32];
  size_t size = decode(digits, text, sizeof text - 1);
  text[size] = 0;
  *value = text[0] == '-' ? static_cast<uint64_t>(strtoll(text, nullptr, 10)) : strtoull(text, nullptr, 10);
}

void choose_bytes(const char* name, void* data, size_t bytes) {
  if (const char* digits = find(name)) decode(digits, static_cast<char*>(data), bytes);
}

}  // namespace cleave::runtime
