#include "trace/text/text_declarations.h"

#include "trace/core/outers.h"

namespace cleave {

// Runs `take(key, value)` over the rest of the line; it returns false after fail(), nullopt for a key it
// does not know.
template <typename Take>
bool TextDeclarations::attributes(WordSplitter& words, Take take) {
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    size_t equals = word.find('=');
    if (equals == std::string_view::npos) return fail(fmt::format("'{}' is too much on this line", word));
    std::optional<bool> good = take(word.substr(0, equals), word.substr(equals + 1));
    if (!good) return fail(fmt::format("'{}=' is not known here", word.substr(0, equals)));
    if (!*good) return false;
  }
  return true;
}

bool TextDeclarations::site_attribute(Trailer& trailer, std::string_view key, std::string_view value) {
  if (!trailer.place) trailer.place.emplace();
  if (key == "column") return limited(trailer.place->column, value);
  if (key == "function") return text(trailer.place->function, value);
  if (key == "variable") return text(trailer.place->variable, value);
  if (key == "type") return text(trailer.place->type, value);
  if (key == "through-own") return limited(trailer.place->through_own, value);
  return fail(fmt::format("'{}=' is not known here", key));
}

bool TextDeclarations::place(Trailer& trailer, std::string_view word) {
  size_t colon = word.rfind(':');
  if (!trailer.place) trailer.place.emplace();
  if (colon == std::string_view::npos)
    return fail(fmt::format("'{}' is not a place; it is written @FILE:LINE", word));
  if (!limited(trailer.place->line, word.substr(colon + 1))) {
    return fail(fmt::format("'{}' is not a place; it is written @FILE:LINE", word));
  }
  trailer.place->file = from_word(word.substr(1, colon - 1));
  return true;
}

bool TextDeclarations::declaration(std::string_view keyword, WordSplitter& words) {
  if (keyword == "program" || keyword == "remark") {
    std::string_view word = words.next();
    if (keyword == "program") builder_.set_program(from_word(word));
    if (keyword == "remark") builder_.remark(from_word(word));
    return at_end(words);
  }
  if (keyword == "ends-early") {
    builder_.set_ends_early(true);
    return at_end(words);
  }
  std::string_view word = words.next();
  if (word.empty()) return fail(fmt::format("{} of what?", keyword));
  if (keyword == "init") return declare_initial(word, words);
  if (keyword == "set") return declare_set(word, words);
  if (keyword == "thread") return declare_thread(word, words);
  if (keyword == "variable") return declare_variable(word, words);
  if (keyword == "object") return declare_object(word, words);
  if (keyword == "sync") return declare_sync(word, words);
  if (keyword == "site") return declare_site(word, words);
  if (keyword == "context") return declare_context(word, words);
  if (keyword == "unit") return declare_unit(word, words);
  input_name(word);
  return at_end(words);
}

bool TextDeclarations::at_end(WordSplitter& words) {
  std::string_view word = words.next();
  return word.empty() || fail(fmt::format("'{}' is too much on this line", word));
}

bool TextDeclarations::declare_initial(std::string_view word, WordSplitter& words) {
  uint64_t value = 0;
  if (!number(value, words, "init needs a variable and its value")) return false;
  builder_.set_initial(variable(word), value);
  if (words.peek().starts_with('@')) words.next();
  return at_end(words);
}

bool TextDeclarations::declare_set(std::string_view word, WordSplitter& words) {
  std::string name = from_word(word);
  if (words.peek().empty()) return fail(fmt::format("set {} needs the variables in it", word));
  for (word = words.next(); !word.empty(); word = words.next()) builder_.declare_set(name, variable(word));
  return true;
}

bool TextDeclarations::enter(Names& names, std::string_view word, uint32_t id) {
  return names.emplace(from_word(word), id).second ||
         fail(fmt::format("'{}' is already there when it is declared", word));
}

bool TextDeclarations::declare_thread(std::string_view word, WordSplitter& words) {
  auto known =
      threads_.find(from_word(word));  // a second declaration completes the first: a parent declared later
  ThreadInfo info{.name = from_word(word)};
  if (known != threads_.end()) info = builder_.thread_info(ThreadId{known->second});
  uint32_t id = known != threads_.end() ? known->second : UINT32_MAX;
  if (!attributes(words, [&](std::string_view key, std::string_view value) -> std::optional<bool> {
        if (key == "name") return text(info.name, value);
        if (key == "path") return text(info.path, value);
        if (key == "parent") return info.parent = thread(value), true;
        return std::nullopt;
      })) {
    return false;
  }
  if (id == UINT32_MAX) {
    id = raw(builder_.add_thread(std::move(info)));
    declared_threads_.insert(id);
    return enter(threads_, word, id);
  }
  builder_.thread_info(ThreadId{id}) = std::move(info);
  return true;
}

bool TextDeclarations::declare_variable(std::string_view word, WordSplitter& words) {
  VariableInfo info{.name = from_word(word)};
  return attributes(words,
                    [&](std::string_view key, std::string_view value) -> std::optional<bool> {
                      if (key == "name") return text(info.name, value);
                      if (key == "field") return text(info.field, value);
                      if (key == "address") return limited(info.address, value);
                      if (key == "size") return limited(info.size, value);
                      if (key == "object") return info.object = object(value), true;
                      if (key == "initial") return limited(info.initial, value);
                      if (key == "init") return info.initial_known = true, limited(info.initial, value);
                      if (key == "flags") return limited(info.flags, value);
                      if (key == "home") return text(info.home, value);
                      if (key == "set") return text(info.set, value);
                      return std::nullopt;
                    }) &&
         enter(variables_, word, raw(builder_.add_variable(std::move(info))));
}

bool TextDeclarations::declare_object(std::string_view word, WordSplitter& words) {
  if (auto known = objects_.find(from_word(word)); known != objects_.end())
    return declare_outer(known->second, words);
  ObjectInfo info{.name = from_word(word)};
  return attributes(words,
                    [&](std::string_view key, std::string_view value) -> std::optional<bool> {
                      if (key == "name") return text(info.name, value);
                      if (key == "type") return text(info.type, value);
                      if (key == "address") return limited(info.address, value);
                      if (key == "size") return limited(info.size, value);
                      return std::nullopt;
                    }) &&
         enter(objects_, word, raw(builder_.add_object(std::move(info))));
}

// A second declaration of an object says what it lies in: that may be declared later than itself.
bool TextDeclarations::declare_outer(uint32_t id, WordSplitter& words) {
  return attributes(words, [&](std::string_view key, std::string_view value) -> std::optional<bool> {
    if (key != "outer") return std::nullopt;
    auto outer = objects_.find(from_word(value));
    if (outer == objects_.end()) return fail(fmt::format("object {} has not been declared", value));
    builder_.set_outer(ObjectId{id}, ObjectId{outer->second});
    if (!outers_end(builder_.tables().objects(), ObjectId{id}))
      return fail(fmt::format("object {} would lie in itself", value));
    return true;
  });
}

bool TextDeclarations::declare_sync(std::string_view word, WordSplitter& words) {
  SyncInfo info{.name = from_word(word)};
  return attributes(words,
                    [&](std::string_view key, std::string_view value) -> std::optional<bool> {
                      if (key == "name") return text(info.name, value);
                      if (key == "address") return limited(info.address, value);
                      if (key == "initial") return limited(info.initial, value);
                      if (key != "kind") return std::nullopt;
                      std::optional<SyncKind> kind = sync_kind_of_word(value);
                      if (!kind)
                        return fail(fmt::format("'{}' is not a kind of synchronization object", value));
                      info.kind = *kind;
                      return true;
                    }) &&
         enter(syncs_, word, raw(builder_.add_sync(std::move(info)))) &&
         declared_syncs_.insert(syncs_.find(from_word(word))->second).second;
}

bool TextDeclarations::declare_site(std::string_view word, WordSplitter& words) {
  Trailer trailer;
  trailer.place.emplace();
  if (words.peek().starts_with('@') && !place(trailer, words.next())) return false;
  return attributes(words,
                    [&](std::string_view key, std::string_view value) -> std::optional<bool> {
                      return site_attribute(trailer, key, value);
                    }) &&
         enter(sites_, word, raw(builder_.add_site(std::move(*trailer.place))));
}

bool TextDeclarations::declare_context(std::string_view word, WordSplitter& words) {
  ContextInfo info;
  return attributes(words,
                    [&](std::string_view key, std::string_view value) -> std::optional<bool> {
                      if (key == "parent") return lookup(contexts_, value, "context", info.parent);
                      if (key == "site") return lookup(sites_, value, "site", info.call_site);
                      return std::nullopt;
                    }) &&
         enter(contexts_, word, raw(builder_.add_context(info)));
}

bool TextDeclarations::declare_unit(std::string_view word, WordSplitter& words) {
  UnitNameInfo info{.name = from_word(word)};
  return attributes(words,
                    [&](std::string_view key, std::string_view value) -> std::optional<bool> {
                      if (key == "name") return text(info.name, value);
                      if (key == "type") return text(info.type, value);
                      if (key == "file") return text(info.file, value);
                      if (key == "flags") return limited(info.flags, value);
                      if (key != "source") return std::nullopt;
                      std::optional<UnitSource> source = unit_source_of_word(value);
                      if (!source) return fail(fmt::format("'{}' is not a source of units", value));
                      info.source = *source;
                      return true;
                    }) &&
         enter(unit_names_, word, raw(builder_.add_unit_name(std::move(info))));
}

}  // namespace cleave
