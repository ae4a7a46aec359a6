// Text that comes from somebody else's file, made safe to show: the one function that escapes it.
//
// A trace, a witness, a findings file, a suppression or a name in debug information may contain anything,
// also bytes that move the cursor, change the title, hide a line or turn the reading direction. Control
// characters (C0, DEL, C1), bytes that are not UTF-8, and characters that reorder or break lines
// invisibly become \xNN or \uNNNN. Everything else stays as it is.
#pragma once

#include <string>
#include <string_view>

namespace cleave {

// For a name or a sentence: newlines are escaped too (a name must not be able to forge a line), tabs become
// two blanks.
std::string printable(std::string_view text);

// The same for a stream of text in pieces, which may end in the middle of a character. Newlines and tabs
// pass. With colour, the few sequences that we paint with pass too, and no others.
class PrintableStream {
 public:
  explicit PrintableStream(bool colour = false) : colour_(colour) {}
  // What can be written by now.
  std::string operator()(std::string_view piece);
  // What was held back because more might have come.
  std::string rest();

 private:
  bool colour_;
  std::string held_;
};

}  // namespace cleave
