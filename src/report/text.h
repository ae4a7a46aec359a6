// Text on a terminal: width, wrapping, columns, colour. Width is counted in characters of UTF-8, not bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::report {

size_t width_of(std::string_view text);
// At most `width` wide; what is cut off ends in "...".
std::string fit(std::string_view text, size_t width);
// Blanks to the right up to `width`.
std::string pad(std::string_view text, size_t width);
// Words, in lines of at most `width`, each behind `indent` blanks; `first` replaces the first line's indent.
std::string wrap(std::string_view text, size_t indent, size_t width, std::string_view first = {});

enum class Style : uint8_t { Plain, Bold, Dim, Red, BoldRed, Yellow, Cyan, Green };

struct Paint {
  bool colour = false;

  std::string operator()(std::string_view text, Style style) const;
};

// Columns as wide as their widest cell; the first is left-aligned, the others right-aligned.
std::string table(const std::vector<std::vector<std::string>>& rows, size_t indent, const Paint& paint);

}  // namespace cleave::report
