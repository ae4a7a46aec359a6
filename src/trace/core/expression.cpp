#include "trace/core/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace cleave {
namespace {

constexpr size_t kDeepest = 10000;

constexpr std::array<std::string_view, 38> kFunctions = {
    "and",       "or",    "not",     "xor",    "=>",      "=",      "distinct",   "ite",
    "+",         "-",     "*",       "/",      "div",     "mod",    "rem",        "abs",
    "<",         "<=",    ">",       ">=",     "to_real", "to_int", "is_int",     "concat",
    "select",    "store", "int2bv",  "nat2bv", "bv2nat",  "bv2int", "ubv_to_int", "sbv_to_int",
    "int_to_bv", "to_fp", "implies", "iff",    "min",     "max"};
constexpr std::array<std::string_view, 4> kFunctionPrefixes = {"bv", "fp.", "str.", "re."};
constexpr std::array<std::string_view, 7> kConstants = {"true", "false", "RNE", "RNA", "RTP", "RTN", "RTZ"};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_symbol_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("~!@$%^&*_-+=<>.?/:[]'").find(c) != std::string_view::npos || (c & 0x80);
}

bool is_known_function(std::string_view name) {
  if (std::find(kFunctions.begin(), kFunctions.end(), name) != kFunctions.end()) return true;
  return std::any_of(kFunctionPrefixes.begin(), kFunctionPrefixes.end(), [&](std::string_view prefix) {
    return name.size() > prefix.size() && name.starts_with(prefix);
  });
}

class Measure {
 public:
  Measure(std::string_view text, const std::function<bool(std::string_view)>& bound)
      : text_(text), bound_(bound) {}

  Result<size_t> run() {
    if (!term(0)) return Error{"", error_.empty() ? "an expression is missing" : error_};
    return at_;
  }

 private:
  bool fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
    return false;
  }
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool at_close() {
    skip_blanks();
    return at_ < text_.size() && text_[at_] == ')';
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size()) return fail("the expression ends before its brackets are closed");
    if (text_[at_] != c)
      return fail(fmt::format("'{}' expected in the expression, but there is '{}'", c, text_[at_]));
    ++at_;
    return true;
  }

  // A symbol as the program means it: without the bars of |quoted symbols|. Empty on failure.
  std::string_view symbol() {
    skip_blanks();
    size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '|') {
      size_t close = text_.find('|', at_ + 1);
      if (close == std::string_view::npos) return fail("a |quoted name| is not closed"), std::string_view();
      at_ = close + 1;
      return text_.substr(begin + 1, close - begin - 1);
    }
    while (at_ < text_.size() && is_symbol_character(text_[at_])) ++at_;
    if (at_ == begin)
      fail(at_ < text_.size() ? fmt::format("'{}' is no part of an expression", text_[at_])
                              : std::string("the expression ends before its brackets are closed"));
    return text_.substr(begin, at_ - begin);
  }

  bool literal_with_hash() {
    size_t begin = at_ + 2;
    char base = begin <= text_.size() && begin >= 2 && at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
    std::string_view digits = base == 'b' ? "01" : base == 'x' ? "0123456789abcdefABCDEF" : "";
    size_t end = std::min(begin, text_.size());
    while (end < text_.size() && digits.find(text_[end]) != std::string_view::npos) ++end;
    if (digits.empty() || end == begin)
      return fail("a literal with # is #b and binary or #x and hexadecimal digits");
    at_ = end;
    return true;
  }

  bool text_literal() {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] != '"') continue;
      if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        ++at_;
        continue;
      }
      ++at_;
      return true;
    }
    return fail("a \"text\" in the expression is not closed");
  }

  bool leaf() {
    char c = text_[at_];
    if (c == '#') return literal_with_hash();
    if (c == '"') return text_literal();
    std::string_view name = symbol();
    if (!error_.empty()) return false;
    if (is_digit(c)) {
      bool number = std::all_of(name.begin(), name.end(), [](char d) { return is_digit(d) || d == '.'; }) &&
                    std::count(name.begin(), name.end(), '.') <= 1 && name.back() != '.';
      return number || fail(fmt::format("'{}' is neither a number nor a name", name));
    }
    if (std::find(kConstants.begin(), kConstants.end(), name) != kConstants.end()) return true;
    if (std::find(local_.begin(), local_.end(), name) != local_.end() || bound_(name)) return true;
    return fail(fmt::format("'{}' is not bound by an earlier '-> {}'", name, name));
  }

  // Anything in balanced brackets, up to and with the bracket that closes the one already taken.
  bool rest_of_brackets() {
    size_t open = 1;
    while (open > 0) {
      skip_blanks();
      if (at_ >= text_.size()) return fail("the expression ends before its brackets are closed");
      char c = text_[at_];
      if (c == '(' || c == ')') {
        open += c == '(' ? 1 : static_cast<size_t>(-1);
        ++at_;
      } else if (c == '"') {
        if (!text_literal()) return false;
      } else if (c == '#') {
        if (!literal_with_hash()) return false;
      } else if (c == ':' && ++at_ > 0) {
        continue;
      } else if (symbol().empty() && !error_.empty()) {
        return false;
      }
    }
    return true;
  }

  bool let(size_t depth) {
    if (!take('(')) return false;
    std::vector<std::string_view> fresh;
    do {
      if (!take('(')) return false;
      std::string_view name = symbol();
      if (!error_.empty() || !term(depth + 1) || !take(')')) return false;
      fresh.push_back(name);
    } while (!at_close());
    ++at_;
    return body(fresh, depth);
  }

  bool quantifier(size_t depth) {
    if (!take('(')) return false;
    std::vector<std::string_view> fresh;
    do {
      if (!take('(')) return false;
      fresh.push_back(symbol());
      if (!error_.empty() || !rest_of_brackets()) return false;
    } while (!at_close());
    ++at_;
    return body(fresh, depth);
  }

  bool body(const std::vector<std::string_view>& fresh, size_t depth) {
    size_t before = local_.size();
    local_.insert(local_.end(), fresh.begin(), fresh.end());
    bool good = term(depth + 1) && take(')');
    local_.resize(before);
    return good;
  }

  bool arguments(size_t depth) {
    do {
      if (!term(depth + 1)) return false;
    } while (!at_close());
    ++at_;
    return true;
  }

  bool application(size_t depth) {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '(') {  // ((_ extract 7 0) x)
      ++at_;
      return rest_of_brackets() && arguments(depth);
    }
    std::string_view head = symbol();
    if (!error_.empty()) return false;
    if (head == "let") return let(depth);
    if (head == "forall" || head == "exists") return quantifier(depth);
    if (head == "_" || head == "as") return rest_of_brackets();
    if (head == "!") return term(depth + 1) && rest_of_brackets();
    if (!is_known_function(head)) return fail(fmt::format("'{}' is not a function of SMT-LIB", head));
    return arguments(depth);
  }

  bool term(size_t depth) {
    if (depth > kDeepest) return fail("the expression is nested too deeply");
    skip_blanks();
    if (at_ >= text_.size()) {
      return fail(depth == 0 ? "an expression is missing"
                             : "the expression ends before its brackets are closed");
    }
    if (text_[at_] != '(') return leaf();
    ++at_;
    return application(depth);
  }

  std::string_view text_;
  const std::function<bool(std::string_view)>& bound_;
  size_t at_ = 0;
  std::string error_;
  std::vector<std::string_view> local_;  // names of the lets and quantifiers around
};

}  // namespace

Result<size_t> measure_expression(std::string_view text, const std::function<bool(std::string_view)>& bound) {
  return Measure(text, bound).run();
}

}  // namespace cleave
