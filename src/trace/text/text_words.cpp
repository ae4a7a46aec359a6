#include "trace/text/text_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

namespace cleave {
namespace {

constexpr std::array<std::string_view, 13> kDeclarations = {
    "init",    "set",  "thread",     "variable", "object", "sync",      "site",
    "context", "unit", "input-name", "program",  "remark", "ends-early"};
constexpr std::array<std::string_view, 7> kOrders = {"plain",   "relaxed", "consume", "acquire",
                                                     "release", "acq_rel", "seq_cst"};

constexpr std::array<std::string_view, 7> kSyncKinds = {"unknown",   "mutex",   "rwlock", "condition",
                                                        "semaphore", "barrier", "once"};
constexpr std::array<std::string_view, 6> kUnitSources = {"annotated", "method",     "struct-function",
                                                          "function",  "not-atomic", "unit-for"};

template <typename Enum, size_t N>
std::string_view word_in(const std::array<std::string_view, N>& words, Enum value) {
  return words[std::min<size_t>(static_cast<size_t>(value), N - 1)];
}

template <typename Enum, size_t N>
std::optional<Enum> enum_in(const std::array<std::string_view, N>& words, std::string_view word) {
  auto it = std::find(words.begin(), words.end(), word);
  if (it == words.end()) return std::nullopt;
  return static_cast<Enum>(it - words.begin());
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_escaped(std::string& out, char c) {
  switch (c) {
    case ' ':
      out += "\\_";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\\':
      out += "\\\\";
      break;
    default:
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
      } else {
        out += c;
      }
  }
}

// A word that would be taken for something else if it stood as it is.
bool is_awkward(std::string_view name) {
  return name.front() == '#' || name.front() == '@' || name == "-" || name == "=" || name == "->" ||
         is_declaration(name) || kind_of_word(name).has_value();
}

}  // namespace

void append_word(std::string& out, std::string_view name) {
  if (name.empty()) {
    out += "\\e";
    return;
  }
  if (is_awkward(name)) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(name.front()));
    name.remove_prefix(1);
  }
  for (char c : name) append_escaped(out, c);
}

std::string to_word(std::string_view name) {
  std::string out;
  append_word(out, name);
  return out;
}

std::string from_word(std::string_view word) {
  std::string out;
  for (size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '\\' || i + 1 >= word.size()) {
      out += word[i];
      continue;
    }
    char c = word[i + 1];
    if (c == 'x' && i + 3 < word.size() && hex_digit(word[i + 2]) >= 0 && hex_digit(word[i + 3]) >= 0) {
      out += static_cast<char>(hex_digit(word[i + 2]) * 16 + hex_digit(word[i + 3]));
      i += 3;
      continue;
    }
    constexpr std::string_view kLetters = "_ntr\\", kMeant = " \n\t\r\\";
    size_t letter = kLetters.find(c);
    if (letter != std::string_view::npos) {
      out += kMeant[letter];
    } else if (c != 'e') {
      out += word[i];
      continue;
    }
    ++i;
  }
  return out;
}

std::optional<uint64_t> parse_number(std::string_view word) {
  bool negative = word.starts_with('-');
  if (negative) word.remove_prefix(1);
  int base = 10;
  if (word.starts_with("0x") || word.starts_with("0X")) {
    base = 16;
    word.remove_prefix(2);
  }
  uint64_t value = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  if (negative && value > (uint64_t{1} << 63)) return std::nullopt;
  return negative ? 0 - value : value;
}

void append_number(std::string& out, uint64_t value) {
  char digits[24];
  auto [end, error] = value > (UINT64_MAX - 0xffffffu)
                          ? std::to_chars(digits, digits + sizeof digits, static_cast<int64_t>(value))
                          : std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end);
}

ObjectMeaning object_meaning(EventKind kind) {
  switch (kind) {
#define CLEAVE_EVENT(name, number, word, object, object2) \
  case EventKind::name:                                   \
    return ObjectMeaning::object;
#include "trace/core/event_kinds.def"
#undef CLEAVE_EVENT
  }
  return ObjectMeaning::None;
}

SyncKind sync_kind_shown_by(EventKind kind) {
  switch (kind) {
    case EventKind::AcquireShared:
    case EventKind::ReleaseShared:
      return SyncKind::RwLock;
    case EventKind::Wait:
    case EventKind::Wake:
    case EventKind::Signal:
    case EventKind::Broadcast:
      return SyncKind::Condition;
    case EventKind::Post:
    case EventKind::Down:
      return SyncKind::Semaphore;
    case EventKind::Arrive:
    case EventKind::Pass:
      return SyncKind::Barrier;
    case EventKind::OnceBegin:
    case EventKind::OnceEnd:
    case EventKind::OnceSeen:
    case EventKind::OnceAbort:
      return SyncKind::Once;
    default:
      return SyncKind::Mutex;
  }
}

std::optional<EventKind> kind_of_word(std::string_view word) {
#define CLEAVE_EVENT(name, number, text, object, object2) \
  if (word == text) return EventKind::name;
#include "trace/core/event_kinds.def"
#undef CLEAVE_EVENT
  return std::nullopt;
}

std::string_view word_of(MemoryOrder order) { return word_in(kOrders, order); }
std::optional<MemoryOrder> order_of_word(std::string_view word) {
  return enum_in<MemoryOrder>(kOrders, word);
}
std::string_view word_of(SyncKind kind) { return word_in(kSyncKinds, kind); }
std::optional<SyncKind> sync_kind_of_word(std::string_view word) {
  return enum_in<SyncKind>(kSyncKinds, word);
}
std::string_view word_of(UnitSource source) { return word_in(kUnitSources, source); }
std::optional<UnitSource> unit_source_of_word(std::string_view word) {
  return enum_in<UnitSource>(kUnitSources, word);
}

bool is_declaration(std::string_view word) {
  return std::find(kDeclarations.begin(), kDeclarations.end(), word) != kDeclarations.end();
}

}  // namespace cleave
