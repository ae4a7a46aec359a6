#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cleave::report {
namespace {

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }

}  // namespace

size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string fit(std::string_view text, size_t width) {
  if (width_of(text) <= width) return std::string(text);
  const size_t kept = width > 3 ? width - 3 : width;
  size_t end = 0;
  for (size_t characters = 0; end < text.size(); ++end) {
    if (starts_character(text[end]) && characters++ == kept) break;
  }
  return std::string(text.substr(0, end)) + (width > 3 ? "..." : "");
}

std::string pad(std::string_view text, size_t width) {
  const size_t used = width_of(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string wrap(std::string_view text, size_t indent, size_t width, std::string_view first) {
  std::string out, line(first.empty() ? std::string(indent, ' ') : std::string(first));
  bool empty = true;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find_first_not_of(' ', at);
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (!empty && width_of(line) + 1 + width_of(word) > width) {
      out += line + "\n";
      line.assign(indent, ' ');
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
    at = end;
  }
  return empty ? out : out + line + "\n";
}

std::string Paint::operator()(std::string_view text, Style style) const {
  static constexpr std::array<std::string_view, 8> kCodes = {"", "1", "2", "31", "1;31", "33", "36", "32"};
  if (!colour || style == Style::Plain || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<size_t>(style)], text);
}

std::string table(const std::vector<std::vector<std::string>>& rows, size_t indent, const Paint& paint) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  std::string out;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line(indent, ' ');
    for (size_t c = 0; c < rows[r].size(); ++c) {
      const std::string blanks(widths[c] - width_of(rows[r][c]), ' ');
      if (c > 0) line += "  ";
      line += c == 0 ? rows[r][c] + blanks : blanks + rows[r][c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += paint(line, r == 0 ? Style::Dim : Style::Plain) + "\n";
  }
  return out;
}

}  // namespace cleave::report
