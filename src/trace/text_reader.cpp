#include <fmt/format.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <optional>

#include "trace/expression.h"
#include "trace/text.h"
#include "trace/text_words.h"

namespace cleave {
namespace {

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
using Names = boost::unordered_flat_map<std::string, uint32_t, StringHash, std::equal_to<>>;

// A line's trailing key=value words, its place and its expression, as they come.
struct Trailer {
  std::optional<SiteInfo> place;
  SiteId site = kNone<SiteId>;
  SymbolicInfo symbolic;
};

class TextReader {
 public:
  explicit TextReader(std::string_view place) : place_(place) {}

  Result<Trace> read(std::string_view text) {
    while (!text.empty()) {
      size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
      ++line_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line_ == 1 && !header(line)) return error();
      WordSplitter words(line);
      if (!words.peek().empty() && !read_line(words)) return error();
    }
    return std::move(builder_).build();
  }

 private:
  Error error() const { return Error{fmt::format("{}: line {}", place_, line_), error_}; }
  bool fail(std::string message) {
    error_ = std::move(message);
    return false;
  }

  bool header(std::string_view line) {
    constexpr std::string_view kStart = "# cleave text trace ";
    if (!line.starts_with(kStart) || line == kTextTraceHeader) return true;
    WordSplitter words(line.substr(kStart.size()));
    return words.next() == "1" || fail("a text trace of another version; this Cleave reads version 1");
  }

  bool read_line(WordSplitter& words) {
    std::string_view first = words.next();
    if (is_declaration(first) && !kind_of_word(words.peek())) return declaration(first, words);
    std::string_view kind_word = words.next();
    if (kind_word.empty()) return fail(fmt::format("'{}' stands alone; a line is THREAD EVENT …", first));
    std::optional<EventKind> kind = kind_of_word(kind_word);
    if (!kind) return fail(fmt::format("'{}' is not an event; a line is THREAD EVENT …", kind_word));
    return event(thread(first), *kind, words);
  }

  // ---- names, by first use
  // -----------------------------------------------------------------------------------

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

  // ---- events
  // -------------------------------------------------------------------------------------------------

  bool event(ThreadId who, EventKind kind, WordSplitter& words) {
    Event event{.kind = kind, .thread = who};
    std::optional<uint64_t> old_value;
    if (!operand(event, words) || !values(event, old_value, words)) return false;
    Trailer trailer;
    if (kind == EventKind::Assume && words.peek() == "-") {
      words.next();
    } else if (kind == EventKind::Assume && !expression(trailer, words)) {
      return false;
    }
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
      if (!event_trailer(event, trailer, word, words)) return false;
    }
    if (trailer.site != kNone<SiteId>) {
      event.site = trailer.site;
    } else if (trailer.place) {
      event.site = builder_.add_site(std::move(*trailer.place));
    }
    EventIndex index = old_value ? builder_.add_update(event, *old_value) : builder_.add(event);
    if (!trailer.symbolic.bound.empty()) bound_.emplace(trailer.symbolic.bound, 0);
    if (trailer.symbolic != SymbolicInfo{}) builder_.annotate(index, std::move(trailer.symbolic));
    return true;
  }

  bool operand(Event& event, WordSplitter& words) {
    ObjectMeaning meaning = object_meaning(event.kind);
    if (meaning == ObjectMeaning::None) return true;
    std::string_view word = words.next();
    if (word.empty()) return fail(fmt::format("{} of what?", word_of(event.kind)));
    if (word != "-") event.object = resolve(event, meaning, word);
    if (event.kind != EventKind::Wait && event.kind != EventKind::Wake) return true;
    word = words.next();
    if (word.empty()) return fail(fmt::format("{} needs the condition and its mutex", word_of(event.kind)));
    if (word != "-") event.object2 = raw(sync(word, SyncKind::Mutex));
    return true;
  }

  uint32_t resolve(const Event& event, ObjectMeaning meaning, std::string_view word) {
    switch (meaning) {
      case ObjectMeaning::Variable:
        return raw(variable(word));
      case ObjectMeaning::Sync:
        return raw(sync(word, sync_kind_shown_by(event.kind)));
      case ObjectMeaning::UnitName:
        return raw(unit_name(word));
      case ObjectMeaning::Object:
        return raw(object(word));
      case ObjectMeaning::Input:
        return input_name(word);
      case ObjectMeaning::Thread: {
        ThreadId other = thread(word);
        ThreadId& parent = builder_.thread_info(other).parent;
        if (event.kind == EventKind::Fork && parent == kNone<ThreadId> &&
            !declared_threads_.contains(raw(other))) {
          parent = event.thread;
        }
        return raw(other);
      }
      case ObjectMeaning::None:
        break;
    }
    return UINT32_MAX;
  }

  bool values(Event& event, std::optional<uint64_t>& old_value, WordSplitter& words) {
    switch (event.kind) {
      case EventKind::Update:
        old_value.emplace();
        return number(*old_value, words, "update needs a variable, the value read and the value written") &&
               number(event.value, words, "update needs a variable, the value read and the value written");
      case EventKind::Read:
      case EventKind::Write:
      case EventKind::Input:
        return number(event.value, words, "a name and a value are needed");
      case EventKind::Alloc:
        return number(event.value, words, "alloc needs an object and its bytes");
      case EventKind::Branch:
        return number(event.value, words, "branch needs the number of branches");
      default:
        return true;
    }
  }

  bool number(uint64_t& value, WordSplitter& words, const char* otherwise) {
    std::string_view word = words.next();
    if (word.empty()) return fail(otherwise);
    std::optional<uint64_t> parsed = parse_number(word);
    if (!parsed) return fail(fmt::format("'{}' is not a number of 64 bits", word));
    value = *parsed;
    return true;
  }

  bool expression(Trailer& trailer, WordSplitter& words) {
    std::string_view rest = words.rest();
    Result<size_t> length =
        measure_expression(rest, [&](std::string_view name) { return bound_.contains(name); });
    if (!length) return fail(length.error().message);
    trailer.symbolic.expression = rest.substr(0, length.value());
    words.advance(length.value());
    if (!words.rest().empty() && words.rest().data() == rest.data() + length.value()) {
      return fail(fmt::format("'{}' follows the expression without a blank", words.rest().front()));
    }
    return true;
  }

  bool event_trailer(Event& event, Trailer& trailer, std::string_view word, WordSplitter& words) {
    if (word == "=") return expression(trailer, words);
    if (word == "->") {
      std::string_view name = words.next();
      if (name.empty()) return fail("a name is missing after '->'");
      trailer.symbolic.bound = from_word(name);
      return true;
    }
    if (word.front() == '@') return place(trailer, word);
    size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return fail(fmt::format("'{}' is too much on this line", word));
    return event_attribute(event, trailer, word.substr(0, equals), word.substr(equals + 1));
  }

  bool event_attribute(Event& event, Trailer& trailer, std::string_view key, std::string_view value) {
    if (key == "branches") return limited(event.branches, value);
    if (key == "width") {
      uint8_t width = 0;
      if (!limited(width, value) || width > 31)
        return fail(fmt::format("width={} is not a number of bytes", value));
      event.set_width(width);
      return true;
    }
    if (key == "order") {
      std::optional<MemoryOrder> order = order_of_word(value);
      if (!order) return fail(fmt::format("order={} is not a memory order", value));
      event.set_order(*order);
      return true;
    }
    if (key == "context") return lookup(contexts_, value, "context", event.context);
    if (key == "site") return lookup(sites_, value, "site", trailer.site);
    if (key == "value") return limited(event.value, value);
    if (key == "self") {
      event.object2 = raw(object(value));
      return true;
    }
    if (key == "expression") {
      trailer.symbolic.expression = from_word(value);
      Result<size_t> length = measure_expression(
          trailer.symbolic.expression, [&](std::string_view name) { return bound_.contains(name); });
      return length ? true : fail(length.error().message);
    }
    return site_attribute(trailer, key, value);
  }

  bool site_attribute(Trailer& trailer, std::string_view key, std::string_view value) {
    if (!trailer.place) trailer.place.emplace();
    if (key == "column") return limited(trailer.place->column, value);
    if (key == "function") return text(trailer.place->function, value);
    if (key == "variable") return text(trailer.place->variable, value);
    if (key == "type") return text(trailer.place->type, value);
    return fail(fmt::format("'{}=' is not known here", key));
  }

  bool place(Trailer& trailer, std::string_view word) {
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

  // ---- declarations
  // -------------------------------------------------------------------------------------------

  bool declaration(std::string_view keyword, WordSplitter& words) {
    if (keyword == "program" || keyword == "remark") {
      std::string_view word = words.next();
      if (keyword == "program") builder_.set_program(from_word(word));
      if (keyword == "remark") builder_.remark(from_word(word));
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

  bool at_end(WordSplitter& words) {
    std::string_view word = words.next();
    return word.empty() || fail(fmt::format("'{}' is too much on this line", word));
  }

  bool declare_initial(std::string_view word, WordSplitter& words) {
    uint64_t value = 0;
    if (!number(value, words, "init needs a variable and its value")) return false;
    builder_.set_initial(variable(word), value);
    if (words.peek().starts_with('@')) words.next();
    return at_end(words);
  }

  bool declare_set(std::string_view word, WordSplitter& words) {
    std::string name = from_word(word);
    if (words.peek().empty()) return fail(fmt::format("set {} needs the variables in it", word));
    for (word = words.next(); !word.empty(); word = words.next()) builder_.declare_set(name, variable(word));
    return true;
  }

  // Runs `take(key, value)` over the rest of the line; it returns false after fail(), nullopt for a key it
  // does not know.
  template <typename Take>
  bool attributes(WordSplitter& words, Take take) {
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
      size_t equals = word.find('=');
      if (equals == std::string_view::npos) return fail(fmt::format("'{}' is too much on this line", word));
      std::optional<bool> good = take(word.substr(0, equals), word.substr(equals + 1));
      if (!good) return fail(fmt::format("'{}=' is not known here", word.substr(0, equals)));
      if (!*good) return false;
    }
    return true;
  }

  bool enter(Names& names, std::string_view word, uint32_t id) {
    return names.emplace(from_word(word), id).second ||
           fail(fmt::format("'{}' is already there when it is declared", word));
  }

  bool declare_thread(std::string_view word, WordSplitter& words) {
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

  bool declare_variable(std::string_view word, WordSplitter& words) {
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

  bool declare_object(std::string_view word, WordSplitter& words) {
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
  bool declare_outer(uint32_t id, WordSplitter& words) {
    return attributes(words, [&](std::string_view key, std::string_view value) -> std::optional<bool> {
      if (key != "outer") return std::nullopt;
      auto outer = objects_.find(from_word(value));
      if (outer == objects_.end()) return fail(fmt::format("object {} has not been declared", value));
      auto objects = builder_.tables().objects();
      for (ObjectId at{outer->second}; at != kNone<ObjectId>; at = objects[raw(at)].outer) {
        if (raw(at) == id) return fail(fmt::format("object {} would lie in itself", value));
      }
      builder_.set_outer(ObjectId{id}, ObjectId{outer->second});
      return true;
    });
  }

  bool declare_sync(std::string_view word, WordSplitter& words) {
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

  bool declare_site(std::string_view word, WordSplitter& words) {
    Trailer trailer;
    trailer.place.emplace();
    if (words.peek().starts_with('@') && !place(trailer, words.next())) return false;
    return attributes(words,
                      [&](std::string_view key, std::string_view value) -> std::optional<bool> {
                        return site_attribute(trailer, key, value);
                      }) &&
           enter(sites_, word, raw(builder_.add_site(std::move(*trailer.place))));
  }

  bool declare_context(std::string_view word, WordSplitter& words) {
    ContextInfo info;
    return attributes(words,
                      [&](std::string_view key, std::string_view value) -> std::optional<bool> {
                        if (key == "parent") return lookup(contexts_, value, "context", info.parent);
                        if (key == "site") return lookup(sites_, value, "site", info.call_site);
                        return std::nullopt;
                      }) &&
           enter(contexts_, word, raw(builder_.add_context(info)));
  }

  bool declare_unit(std::string_view word, WordSplitter& words) {
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

  std::string_view place_;
  size_t line_ = 0;
  std::string error_;
  TraceBuilder builder_;
  Names threads_, variables_, objects_, syncs_, unit_names_, input_names_, sites_, contexts_;
  Names bound_;  // names after `->` so far
  boost::unordered_flat_set<uint32_t> declared_threads_,
      declared_syncs_;  // use tells nothing more about these
};

}  // namespace

Result<Trace> parse_text_trace(std::string_view text, std::string_view place) {
  return TextReader(place).read(text);
}

}  // namespace cleave
