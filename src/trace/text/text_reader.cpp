#include <optional>

#include "trace/core/expression.h"
#include "trace/text/text.h"
#include "trace/text/text_declarations.h"

namespace cleave {
namespace {

class TextReader : private TextDeclarations {
 public:
  explicit TextReader(std::string_view place) : TextDeclarations(place) {}

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
};

}  // namespace

Result<Trace> parse_text_trace(std::string_view text, std::string_view place) {
  return TextReader(place).read(text);
}

}  // namespace cleave
