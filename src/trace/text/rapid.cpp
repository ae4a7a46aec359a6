#include "trace/text/rapid.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "base/huge_pages.h"
#include "base/mapped_file.h"
#include "trace/core/table_growth.h"
#include "trace/recorded/event_builder.h"
#include "trace/text/rapid_line.h"

namespace cleave {
namespace {

struct TextHash {
  using is_avalanching = void;
  size_t operator()(std::string_view text) const { return XXH3_64bits(text.data(), text.size()); }
};
using Names = boost::unordered_flat_map<std::string_view, uint32_t, TextHash>;  // views into the text

// Ids of names that are one letter and a number, T12 or V4711, as generated traces have them: found without
// hashing. Every name of that shape with the letter of the first one has its place here and nowhere else;
// leading zeros are another shape.
class NumberedNames {
 public:
  // Where the name's id stands, kUnknown at first; null for a name of another shape.
  uint32_t* place(std::string_view name) {
    if (name.size() < 2 || name.size() > 8 || (name[1] == '0' && name.size() > 2)) return nullptr;
    uint32_t number = 0;
    for (char c : name.substr(1)) {
      if (c < '0' || c > '9') return nullptr;
      number = number * 10 + static_cast<uint32_t>(c - '0');
    }
    return place(name[0], number);
  }
  uint32_t* place(char letter, uint32_t number) {
    if (letter_ != 0 && letter != letter_) return nullptr;
    letter_ = letter;
    if (number >= ids_.size()) ids_.resize(number + number / 2 + 1, kUnknown);
    return &ids_[number];
  }
  // kUnknown if the name was not met before.
  uint32_t find(char letter, uint32_t number) const {
    return letter == letter_ && number < ids_.size() ? ids_[number] : kUnknown;
  }
  // Somebody will ask for the number soon.
  void prefetch(uint32_t number) const {
    if (number < ids_.size()) __builtin_prefetch(&ids_[number]);
  }
  static constexpr uint32_t kUnknown = UINT32_MAX;

 private:
  char letter_ = 0;
  std::vector<uint32_t, HugePageAllocator<uint32_t>> ids_;
};

// Parses line by line. The text must outlive the parser.
class RapidParser {
 public:
  RapidParser(std::string_view text, std::string_view place)
      : begin_(text.data()), next_(text.data()), end_(text.data() + text.size()), place_(place) {}

  // The events of the next lines, as many as there is room for; fewer at the end and on an error only.
  size_t next(std::span<Event> out) {
    size_t count = 0;
    while (count < out.size()) {
      if (const size_t usual = usual_lines(out.subspan(count)); usual > 0) {
        count += usual;
      } else if (other_line(out[count])) {
        ++count;
      } else {
        break;
      }
    }
    return count;
  }

  // Bytes of the text that are behind us.
  size_t read() const { return static_cast<size_t>(next_ - begin_); }
  bool failed() const { return !error_.empty(); }
  Error error() const { return Error{fmt::format("{}: line {}", place_, line_), error_}; }
  TraceBuilder& builder() { return builder_; }
  const Trace& tables() const { return builder_.tables(); }
  TouchedEntries& touched() { return touched_; }

 private:
  enum class Outcome { Event, Skip, Bad };

  // The event of the next line that has one. False at the end and on an error.
  [[gnu::noinline]] bool other_line(Event& event) {
    while (next_ < end_) {
      ++line_;
      const char* begin = next_;
      const void* newline = std::memchr(next_, '\n', static_cast<size_t>(end_ - next_));
      const char* stop = newline != nullptr ? static_cast<const char*>(newline) : end_;
      next_ = newline != nullptr ? stop + 1 : end_;
      while (stop > begin && (stop[-1] == '\r' || stop[-1] == ' ' || stop[-1] == '\t')) --stop;
      if (begin == stop || *begin == '#') continue;
      switch (parse({begin, static_cast<size_t>(stop - begin)}, event)) {
        case Outcome::Event:
          return true;
        case Outcome::Skip:
          break;
        case Outcome::Bad:
          next_ = end_;
          return false;
      }
    }
    return false;
  }

  // A line of the usual shape whose variable's id has not been looked at yet.
  struct Awaited {
    const char* begin;
    uint32_t variable = 0;
    uint8_t variable_at = 0, variable_size = 0;  // 0: it is no access
    char letter = 0;
  };

  // Nearly all lines of a long trace, where thread and location were met before; a few at a time. The table
  // of a million variables' ids is larger than the caches: each line asks for its place, and when all have
  // asked they look. So many lines; 0: read the next one the long way.
  size_t usual_lines(std::span<Event> out) {
    std::array<Awaited, 16> awaited;
    const size_t most = std::min(out.size(), awaited.size());
    size_t count = 0;
    while (count < most && usual_line(out[count], awaited[count])) ++count;
    for (size_t i = 0; i < count; ++i) {
      const Awaited& line = awaited[i];
      if (line.variable_size == 0) continue;
      out[i].object = numbered_variables_.find(line.letter, line.variable);
      if (out[i].object == NumberedNames::kUnknown) [[unlikely]]
        out[i].object = new_variable(line);
      if (out[i].object != NumberedNames::kUnknown) [[likely]]
        continue;
      next_ = line.begin;  // it has another letter
      line_ -= count - i;
      return i;
    }
    return count;
  }

  [[gnu::always_inline]] bool usual_line(Event& event, Awaited& awaited) {
    if (end_ - next_ < RapidLine::kAfter || next_ - begin_ < RapidLine::kBefore) return false;
    const RapidLine line = read_rapid_line(next_);
    if (line.kind == RapidLine::Kind::Other || line.location >= numbered_sites_.size()) return false;
    const uint32_t thread = numbered_threads_.find(line.thread_letter, line.thread);
    const NumberedPlace place = numbered_sites_[line.location];
    if (thread == NumberedNames::kUnknown || place.site == kNone<SiteId>) return false;
    awaited = {.begin = next_};
    uint32_t object = UINT32_MAX;
    EventKind kind = EventKind::End;
    if (line.kind <= RapidLine::Kind::Write) {
      kind = line.kind == RapidLine::Kind::Read ? EventKind::Read : EventKind::Write;
      numbered_variables_.prefetch(line.variable);
      awaited = {.begin = next_,
                 .variable = line.variable,
                 .variable_at = static_cast<uint8_t>(line.variable_at),
                 .variable_size = static_cast<uint8_t>(line.variable_size),
                 .letter = line.variable_letter};
    } else if (line.kind == RapidLine::Kind::Begin) {
      kind = EventKind::Begin;
      if ((object = place.unit) == UINT32_MAX) return false;
    }
    event = Event{.kind = kind, .thread = ThreadId{thread}, .site = place.site, .object = object};
    next_ += line.size;
    ++line_;
    return true;
  }
  // kUnknown: it has another letter.
  [[gnu::noinline]] uint32_t new_variable(const Awaited& line) {
    uint32_t* place = numbered_variables_.place(line.letter, line.variable);
    if (place == nullptr) return NumberedNames::kUnknown;
    return *place = raw(
               builder_.add_variable(std::string_view(line.begin + line.variable_at, line.variable_size)));
  }
  struct Hold {
    ThreadId owner = kNone<ThreadId>;
    uint32_t nested = 0;
  };

  Outcome bad(std::string message) {
    error_ = std::move(message);
    return Outcome::Bad;
  }

  Outcome parse(std::string_view line, Event& event) {
    size_t first = line.find('|');
    if (first == std::string_view::npos || first == 0)
      return bad("not a line of RAPID's STD format, THREAD|OPERATION|LOCATION");
    size_t second = line.find('|', first + 1);
    std::string_view operation =
        line.substr(first + 1, (second == std::string_view::npos ? line.size() : second) - first - 1);
    std::string_view location =
        second == std::string_view::npos ? std::string_view() : line.substr(second + 1);
    std::string_view object;
    size_t open = operation.find('(');
    if (open != std::string_view::npos) {
      if (operation.back() != ')') return bad(fmt::format("'{}' has no closing bracket", operation));
      object = operation.substr(open + 1, operation.size() - open - 2);
      operation = operation.substr(0, open);
    }
    event = Event{.kind = EventKind::Read, .thread = thread(line.substr(0, first))};
    Outcome outcome = kind_and_object(operation, object, location, event);
    if (outcome == Outcome::Event && !location.empty()) event.site = site(location);
    return outcome;
  }

  Outcome kind_and_object(std::string_view operation, std::string_view object, std::string_view location,
                          Event& event) {
    if (operation == "begin")
      return event.kind = EventKind::Begin, event.object = unit(object, location), Outcome::Event;
    if (operation == "end") return event.kind = EventKind::End, Outcome::Event;
    if (operation == "branch") return event.kind = EventKind::Branch, event.value = 1, Outcome::Event;
    if (operation == "req" || operation == "dummy" || operation == "enter" || operation == "exit")
      return Outcome::Skip;
    bool known = operation == "r" || operation == "w" || operation == "acq" || operation == "rel" ||
                 operation == "fork" || operation == "join";
    if (!known) return bad(fmt::format("'{}' is not an operation of RAPID's STD format", operation));
    if (object.empty()) return bad(fmt::format("{} of what?", operation));
    if (operation.size() == 1) {
      event.kind = operation[0] == 'r' ? EventKind::Read : EventKind::Write;
      event.object =
          named(numbered_variables_, variables_, object, [&] { return raw(builder_.add_variable(object)); });
      return Outcome::Event;
    }
    if (operation.size() == 3) return lock(operation[0] == 'a', object, event);
    event.kind = operation[0] == 'f' ? EventKind::Fork : EventKind::Join;
    ThreadId other = thread(object);
    event.object = raw(other);
    if (event.kind == EventKind::Fork) {
      builder_.thread_info(other).parent = event.thread;
      if (touched_.wanted) touched_.threads.push_back(raw(other));
    }
    return Outcome::Event;
  }

  Outcome lock(bool acquire, std::string_view object, Event& event) {
    event.kind = acquire ? EventKind::Acquire : EventKind::Release;
    event.object = named(locks_, object, [&] {
      holds_.emplace_back();
      return raw(builder_.add_sync({.name = std::string(object), .kind = SyncKind::Mutex}));
    });
    Hold& hold = holds_[event.object];
    if (acquire && hold.owner == event.thread) return ++hold.nested, Outcome::Skip;
    if (!acquire && hold.owner == event.thread && hold.nested > 0) return --hold.nested, Outcome::Skip;
    hold.owner = acquire ? event.thread : kNone<ThreadId>;
    return Outcome::Event;
  }

  template <typename Create>
  static uint32_t named(Names& names, std::string_view name, Create create) {
    auto it = names.find(name);
    if (it == names.end()) it = names.emplace(name, create()).first;
    return it->second;
  }

  template <typename Create>
  static uint32_t named(NumberedNames& numbered, Names& others, std::string_view name, Create create) {
    uint32_t* id = numbered.place(name);
    if (id == nullptr) return named(others, name, create);
    if (*id == NumberedNames::kUnknown) *id = create();
    return *id;
  }

  ThreadId thread(std::string_view name) {
    if (name == last_thread_name_) return last_thread_;
    ThreadId id{named(numbered_threads_, threads_, name,
                      [&] { return raw(builder_.add_thread({.name = std::string(name)})); })};
    last_thread_name_ = name;
    last_thread_ = id;
    return id;
  }

  uint32_t unit(std::string_view object, std::string_view location) {
    std::string_view key = object.empty() ? location : object;
    uint32_t id = named(units_, key, [&] {
      std::string name = !object.empty()    ? std::string(object)
                         : location.empty() ? "unit"
                                            : fmt::format("unit@{}", location);
      return raw(builder_.add_unit_name({.name = std::move(name)}));
    });
    // A location that is not written as it is here is another name, and so another unit.
    uint32_t number = 0;
    if (object.empty() && is_number(location, number) && number < kDirect &&
        std::to_string(number) == location)
      numbered(number).unit = id;
    return id;
  }
  static bool is_number(std::string_view text, uint32_t& number) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
  }

  SiteId site(std::string_view location) {
    uint32_t number = 0;
    if (!is_number(location, number)) {
      return SiteId{
          named(sites_, location, [&] { return raw(builder_.add_site({.file = std::string(location)})); })};
    }
    if (number >= kDirect) {
      return SiteId{
          named(sites_, location, [&] { return raw(builder_.add_site({.file = "rapid", .line = number})); })};
    }
    SiteId& id = numbered(number).site;
    if (id == kNone<SiteId>) id = builder_.add_site({.file = "rapid", .line = number});
    return id;
  }

  // What a location that is a number stands for.
  struct NumberedPlace {
    SiteId site = kNone<SiteId>;
    uint32_t unit = UINT32_MAX;  // that begins there
  };
  NumberedPlace& numbered(uint32_t location) {
    if (location >= numbered_sites_.size()) numbered_sites_.resize(location + location / 2 + 1);
    return numbered_sites_[location];
  }

  static constexpr uint32_t kDirect = 1 << 22;  // locations below this are looked up in a plain array

  const char* begin_;
  const char* next_;
  const char* end_;
  std::string_view place_;
  size_t line_ = 0;
  std::string error_;
  TraceBuilder builder_;
  TouchedEntries touched_;
  Names threads_, variables_, locks_, units_, sites_;
  NumberedNames numbered_threads_, numbered_variables_;
  std::vector<NumberedPlace> numbered_sites_;
  std::vector<Hold> holds_;  // by SyncId
  std::string_view last_thread_name_;
  ThreadId last_thread_ = kNone<ThreadId>;
};

class RapidSource final : public BatchSource {
 public:
  RapidSource(MappedFile file, std::string path)
      : file_(std::move(file)), path_(std::move(path)), parser_(file_.bytes(), path_) {}
  Result<std::span<const Event>> next() override {
    constexpr size_t kAtATime = 4 << 20;
    if (parser_.read() >= let_go_ + kAtATime)
      file_.let_go(std::exchange(let_go_, parser_.read()), parser_.read());
    batch_.events.shorten(parser_.next({batch_.events.places(kBatch), kBatch}));
    if (batch_.events.empty() && parser_.failed()) return parser_.error();
    return std::span<const Event>(batch_.events);
  }
  void take(Batch& into) override { std::swap(batch_, into); }
  TouchedEntries* touched() override { return &parser_.touched(); }
  uint64_t old_value(size_t) const override { return 0; }
  const Trace& tables() const override { return parser_.tables(); }

 private:
  static constexpr size_t kBatch = 4096;
  MappedFile file_;
  std::string path_;
  RapidParser parser_;
  Batch batch_;
  size_t let_go_ = 0;  // of the text
};

}  // namespace

Result<Trace> parse_rapid_trace(std::string_view text, std::string_view place) {
  RapidParser parser(text, place);
  std::vector<Event> events(4096);
  for (size_t count; (count = parser.next(events)) > 0;) {
    for (const Event& event : std::span(events).first(count)) parser.builder().add(event);
  }
  if (parser.failed()) return parser.error();
  return std::move(parser.builder()).build();
}

Result<std::unique_ptr<BatchSource>> open_rapid_trace(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  return std::unique_ptr<BatchSource>(new RapidSource(std::move(file).value(), path));
}

}  // namespace cleave
