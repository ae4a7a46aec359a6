#include "schedule/constraint.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

namespace cleave {
namespace {

std::string place_text(const Milestone& place, uint64_t occurrence) {
  std::string text(word_of(place.kind));
  if (occurrence > 1) text += fmt::format(" {}", occurrence);
  text += fmt::format(" {}:{}", place.file, place.line);
  if (place.column != 0) text += fmt::format(":{}", place.column);
  return text;
}

bool number_of(std::string_view text, uint64_t* number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && *number != 0;
}

// "bank.cpp:16" or "bank.cpp:16:5".
bool parse_where(std::string_view text, Milestone* place) {
  uint64_t numbers[2] = {};
  unsigned count = 0;
  while (count < 2) {
    const size_t colon = text.rfind(':');
    uint64_t number = 0;
    if (colon == std::string_view::npos || !number_of(text.substr(colon + 1), &number)) break;
    numbers[count++] = number;
    text = text.substr(0, colon);
  }
  if (count == 0 || text.empty()) return false;
  place->file = text;
  place->line = static_cast<uint32_t>(numbers[count - 1]);
  place->column = count == 2 ? static_cast<uint32_t>(numbers[0]) : 0;
  return true;
}

// "write [N] FILE:LINE"
bool parse_access(const std::vector<std::string>& words, Milestone* place, uint64_t* occurrence) {
  if (words.size() < 2 || words.size() > 3) return false;
  if (words[0] == "read")
    place->kind = EventKind::Read;
  else if (words[0] == "write")
    place->kind = EventKind::Write;
  else if (words[0] == "update")
    place->kind = EventKind::Update;
  else
    return false;
  if (words.size() == 3 && !number_of(words[1], occurrence)) return false;
  return parse_where(words.back(), place);
}

bool parse_line(const std::string& line, Constraint* constraint) {
  std::istringstream stream(line);
  std::vector<std::string> before, behind;
  bool arrow = false;
  for (std::string word; stream >> word;) {
    if (word == "->" && !arrow)
      arrow = true;
    else
      (arrow ? behind : before).push_back(word);
  }
  if (!arrow || before.empty()) return false;
  if (before[0] == "not") {
    constraint->negative = true;
    before.erase(before.begin());
  }
  uint64_t unused = 1;
  if (behind.size() != 2 || !parse_access(behind, &constraint->then, &unused)) return false;
  if (before.size() == 1 && before[0] == "start") return !constraint->negative;
  constraint->after.emplace();
  return parse_access(before, &*constraint->after, &constraint->occurrence);
}

}  // namespace

std::string to_text(const Constraint& constraint) {
  std::string text = constraint.negative ? "not " : "";
  text += constraint.after ? place_text(*constraint.after, constraint.occurrence) : "start";
  return text + " -> " + place_text(constraint.then, 1);
}

Result<std::vector<Constraint>> parse_constraints(std::string_view text, const std::string& place) {
  std::vector<Constraint> constraints;
  std::istringstream lines{std::string(text)};
  uint64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    Constraint constraint;
    if (!parse_line(line, &constraint))
      return Error{
          place,
          fmt::format("line {} is not a constraint such as `write bank.cpp:16 -> read bank.cpp:12`", number)};
    constraints.push_back(std::move(constraint));
  }
  return constraints;
}

}  // namespace cleave
