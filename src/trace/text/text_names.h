// What the lines of a text trace speak of, by the names they have there; and how a line fails. Underneath
// text_declarations.h and text_reader.cpp.
#pragma once

#include <fmt/format.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <optional>

#include "trace/core/no_value.h"
#include "trace/core/trace.h"
#include "trace/text/text_words.h"

namespace cleave {

class TextNames {
 protected:
  struct StringHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Names = boost::unordered_flat_map<std::string, uint32_t, StringHash, std::equal_to<>>;

  explicit TextNames(std::string_view place) : place_(place) {}

  Error error() const { return Error{fmt::format("{}: line {}", place_, line_), error_}; }
  bool fail(std::string message) {
    error_ = std::move(message);
    return false;
  }

  template <typename Create>
  uint32_t named(Names& names, std::string_view word, Create create) {
    std::string unescaped;
    if (word.find('\\') != std::string_view::npos) word = unescaped = from_word(word);
    auto it = names.find(word);
    if (it == names.end()) {
      uint32_t id = create(std::string(word));
      it = names.emplace(std::string(word), id).first;
    }
    return it->second;
  }
  ThreadId thread(std::string_view word) {
    return ThreadId{named(threads_, word, [&](std::string name) {
      return raw(builder_.add_thread({.name = std::move(name)}));
    })};
  }
  ObjectId object(std::string_view word) {
    return ObjectId{named(objects_, word, [&](std::string name) {
      return raw(builder_.add_object({.name = std::move(name)}));
    })};
  }
  VariableId variable(std::string_view word) {
    return VariableId{named(variables_, word, [&](std::string name) {
      VariableInfo info{.name = name};
      size_t dot = name.find('.');
      if (dot != std::string::npos && dot > 0 && dot + 1 < name.size() && name.find('@') > dot) {
        info.object = object(to_word(name.substr(0, dot)));
        info.field = name.substr(dot + 1);
      }
      return raw(builder_.add_variable(std::move(info)));
    })};
  }
  SyncId sync(std::string_view word, SyncKind kind) {
    SyncId id{named(syncs_, word,
                    [&](std::string name) { return raw(builder_.add_sync({.name = std::move(name)})); })};
    if (declared_syncs_.contains(raw(id))) return id;
    SyncKind& known = builder_.sync_info(id).kind;
    if (known == SyncKind::Unknown || (known == SyncKind::Mutex && kind == SyncKind::RwLock)) known = kind;
    return id;
  }
  UnitNameId unit_name(std::string_view word) {
    return UnitNameId{named(unit_names_, word, [&](std::string name) {
      return raw(builder_.add_unit_name({.name = std::move(name)}));
    })};
  }
  uint32_t input_name(std::string_view word) {
    return named(input_names_, word, [&](std::string name) { return builder_.input_name(name); });
  }
  bool number(uint64_t& value, WordSplitter& words, const char* otherwise) {
    std::string_view word = words.next();
    if (word.empty()) return fail(otherwise);
    std::optional<uint64_t> parsed = word == kFreedWord ? kFreed : parse_number(word);
    if (!parsed) return fail(fmt::format("'{}' is not a number of 64 bits", word));
    value = *parsed;
    return true;
  }
  template <typename Number>
  bool limited(Number& out, std::string_view word) {
    std::optional<uint64_t> parsed = parse_number(word);
    if (!parsed || *parsed != static_cast<Number>(*parsed))
      return fail(fmt::format("'{}' is not a number that fits here", word));
    out = static_cast<Number>(*parsed);
    return true;
  }
  bool text(std::string& out, std::string_view word) {
    out = from_word(word);
    return true;
  }
  template <typename Id>
  bool lookup(const Names& names, std::string_view word, std::string_view what, Id& out) {
    if (word == "-") return true;
    auto it = names.find(word);
    if (it == names.end()) return fail(fmt::format("{} {} has not been declared", what, word));
    out = Id{it->second};
    return true;
  }

  std::string_view place_;
  size_t line_ = 0;
  std::string error_;
  TraceBuilder builder_;
  Names threads_, variables_, objects_, syncs_, unit_names_, input_names_, sites_, contexts_;
  Names bound_;  // names after `->` so far
  boost::unordered_flat_set<uint32_t> declared_threads_,
      declared_syncs_;  // use tells nothing more about these
};

}  // namespace cleave
