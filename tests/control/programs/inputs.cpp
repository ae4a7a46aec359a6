// Returns what it is given.
#include <cleave/annotate.h>

#include <cstring>

int main() {
  char text[4] = "abc";
  cleave_input_bytes("text", text, 3);
  if (std::strcmp(text, "xyz") == 0) return 9;
  return static_cast<int>(cleave_input_int("amount", 3));
}
