#include "base/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace cleave {
namespace {

TEST(Printable, PlainTextStaysAsItIs) {
  for (std::string text : {"", "Account::balance", "grün → 漢字 🙂", "a b  c"}) {
    EXPECT_EQ(printable(text), text);
    PrintableStream stream;
    EXPECT_EQ(stream(text) + stream.rest(), text);
  }
}

TEST(Printable, WhatATerminalWouldObeyIsShown) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(printable("bell\x07 del\x7f cr\r"), "bell\\x07 del\\x7f cr\\x0d");
  EXPECT_EQ(printable("one\ntwo\tthree"), "one\\ntwo  three");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");                          // CSI of 8-bit terminals, in UTF-8
  EXPECT_EQ(printable("\x9b"), "\\x9b");            // and as a byte
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\u202e");  // right to left from here on
  EXPECT_EQ(printable("\xc0\x9b \xed\xa0\x80"), "\\xc0\\x9b \\xed\\xa0\\x80");  // not UTF-8
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, NoByteOfAnyPieceIsLost) {
  const std::string text = "grün → \x1b[31mred\x1b[0m \xe2\x82 \x9b\n\ttab \xf0\x9f\x99\x82 \x1b]0;title\x07";
  for (bool colour : {false, true}) {
    PrintableStream whole(colour);
    const std::string expected = whole(text) + whole.rest();
    for (size_t size = 1; size < 6; ++size) {
      PrintableStream stream(colour);
      std::string out;
      for (size_t at = 0; at < text.size(); at += size)
        out += stream(std::string_view(text).substr(at, size));
      EXPECT_EQ(out + stream.rest(), expected) << size;
    }
    EXPECT_EQ(expected.find("\x1b[31m") != std::string::npos, colour);
    EXPECT_EQ(expected.find("\x1b]"), std::string::npos);
    EXPECT_EQ(expected.find('\x07'), std::string::npos);
  }
}

TEST(Printable, ColoursThatAreNotOursAreShown) {
  PrintableStream stream(true);
  EXPECT_EQ(stream("\x1b[8mhidden\x1b[1;31m!") + stream.rest(), "\\x1b[8mhidden\x1b[1;31m!");
}

}  // namespace
}  // namespace cleave
