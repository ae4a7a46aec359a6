// The words of a text trace: how names with blanks and other awkward characters are written as one word,
// numbers, and splitting a line. Reader and writer share it, so they cannot disagree.
//
//   \_ blank   \n \t \r   \\ backslash   \e nothing (the empty name)   \xHH any byte
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trace/core/event.h"
#include "trace/core/trace.h"

namespace cleave {

// Appends `name` as one word, escaped so that it is a name wherever it stands: not a comment, a place, a
// keyword.
void append_word(std::string& out, std::string_view name);
std::string to_word(std::string_view name);
std::string from_word(std::string_view word);

// Decimal, 0x hexadecimal, or negative decimal (two's complement).
std::optional<uint64_t> parse_number(std::string_view word);
// Negative where that is shorter: the same number again for parse_number.
void append_number(std::string& out, uint64_t value);

// What Event::object is for events of a kind: event_kinds.def.
enum class ObjectMeaning { None, Variable, Sync, Thread, UnitName, Object, Input };
ObjectMeaning object_meaning(EventKind kind);
// The kind of synchronization object that an event of this kind shows its object to be.
SyncKind sync_kind_shown_by(EventKind kind);

std::optional<EventKind> kind_of_word(std::string_view word);
std::string_view word_of(MemoryOrder order);
std::optional<MemoryOrder> order_of_word(std::string_view word);
std::string_view word_of(SyncKind kind);
std::optional<SyncKind> sync_kind_of_word(std::string_view word);
std::string_view word_of(UnitSource source);
std::optional<UnitSource> unit_source_of_word(std::string_view word);

// Whether a line that starts with this word declares something. (A second word that is a kind of event makes
// it an event all the same, of a thread with that name.)
bool is_declaration(std::string_view word);

// Cuts a line into words at blanks; a word that begins with # ends the line.
class WordSplitter {
 public:
  explicit WordSplitter(std::string_view line) : line_(line) {}
  // The next word, or an empty view at the end of the line.
  std::string_view next() {
    skip_blanks();
    size_t begin = at_;
    if (at_ < line_.size() && line_[at_] == '#') at_ = begin = line_.size();
    while (at_ < line_.size() && line_[at_] != ' ' && line_[at_] != '\t') ++at_;
    return line_.substr(begin, at_ - begin);
  }
  std::string_view peek() {
    size_t before = at_;
    std::string_view word = next();
    at_ = before;
    return word;
  }
  // What has not been taken yet, comments included, for what is not made of words.
  std::string_view rest() {
    skip_blanks();
    return line_.substr(at_);
  }
  void advance(size_t bytes) { at_ += bytes; }

 private:
  void skip_blanks() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
  }
  std::string_view line_;
  size_t at_ = 0;
};

}  // namespace cleave
