#include "trace/rapid.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/huge_pages.h"
#include "base/mapped_file.h"

namespace cleave {
namespace {

struct TextHash {
  using is_avalanching = void;
  size_t operator()(std::string_view text) const { return XXH3_64bits(text.data(), text.size()); }
};
using Names = boost::unordered_flat_map<std::string_view, uint32_t, TextHash>;  // views into the text

// Ids of names that are one letter and a number, T12 or V4711, as generated traces have them: found without
// hashing. Every name of that shape with the letter of the first one has its place here and nowhere else; leading
// zeros are another shape.
class NumberedNames {
 public:
  // Where the name's id stands, kUnknown at first; null for a name of another shape.
  uint32_t* place(std::string_view name) {
    if (name.size() < 2 || name.size() > 8 || name[1] == '0') return nullptr;
    if (letter_ != 0 && name[0] != letter_) return nullptr;
    uint32_t number = 0;
    for (char c : name.substr(1)) {
      if (c < '0' || c > '9') return nullptr;
      number = number * 10 + static_cast<uint32_t>(c - '0');
    }
    letter_ = name[0];
    if (number >= ids_.size()) ids_.resize(number + number / 2 + 1, kUnknown);
    return &ids_[number];
  }
  // Reads a name at `at` and moves it behind; kUnknown if it is not of that shape or was not met before.
  uint32_t read(const char*& at) const {
    if (*at != letter_ || at[1] < '1' || at[1] > '9') return kUnknown;
    const char* p = at + 1;
    uint32_t number = 0;
    for (; *p >= '0' && *p <= '9' && p - at < 8; ++p) number = number * 10 + static_cast<uint32_t>(*p - '0');
    at = p;
    return number < ids_.size() ? ids_[number] : kUnknown;
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
      : next_(text.data()), end_(text.data() + text.size()), place_(place) {}

  // The event of the next line that has one, in `event`. False at the end and on an error.
  bool next(Event& event) {
    while (next_ < end_) {
      ++line_;
      if (known_access(event)) return true;
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

  bool failed() const { return !error_.empty(); }
  Error error() const { return Error{fmt::format("{}: line {}", place_, line_), error_}; }
  TraceBuilder& builder() { return builder_; }

 private:
  enum class Outcome { Event, Skip, Bad };

  // T1|r(V2)|17 where thread and location were met before and the variable is of the usual shape: nearly all lines of a
  // long trace. False: read it the long way.
  bool known_access(Event& event) {
    constexpr ptrdiff_t kLongest = 40;
    const char* p = next_;
    if (end_ - p < kLongest) return false;
    uint32_t thread = numbered_threads_.read(p);
    if (thread == NumberedNames::kUnknown || p[0] != '|' || (p[1] != 'r' && p[1] != 'w') || p[2] != '(')
      return false;
    EventKind kind = p[1] == 'r' ? EventKind::Read : EventKind::Write;
    p += 3;
    const char* name = p;
    uint32_t variable = numbered_variables_.read(p);
    if (p == name || p[0] != ')' || p[1] != '|') return false;
    std::string_view fresh(name, static_cast<size_t>(p - name));
    p += 2;
    const char* digits = p;
    uint32_t location = 0;
    for (; *p >= '0' && *p <= '9' && p - digits < 8; ++p)
      location = location * 10 + static_cast<uint32_t>(*p - '0');
    if (p == digits || *p != '\n' || location >= numbered_sites_.size()) return false;
    if (numbered_sites_[location] == kNone<SiteId>) return false;
    if (variable == NumberedNames::kUnknown) {
      uint32_t* place = numbered_variables_.place(fresh);
      if (place == nullptr) return false;
      variable = *place = raw(builder_.add_variable(fresh));
    }
    event = Event{.kind = kind, .thread = ThreadId{thread}, .site = numbered_sites_[location]};
    event.object = variable;
    next_ = p + 1;
    return true;
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
      event.object = named(numbered_variables_, variables_, object,
                           [&] { return raw(builder_.add_variable(object)); });
      return Outcome::Event;
    }
    if (operation.size() == 3) return lock(operation[0] == 'a', object, event);
    event.kind = operation[0] == 'f' ? EventKind::Fork : EventKind::Join;
    ThreadId other = thread(object);
    event.object = raw(other);
    if (event.kind == EventKind::Fork) builder_.thread_info(other).parent = event.thread;
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
    return named(units_, key, [&] {
      std::string name = !object.empty()    ? std::string(object)
                         : location.empty() ? "unit"
                                            : fmt::format("unit@{}", location);
      return raw(builder_.add_unit_name({.name = std::move(name)}));
    });
  }

  SiteId site(std::string_view location) {
    uint32_t number = 0;
    auto [end, error] = std::from_chars(location.data(), location.data() + location.size(), number);
    if (error != std::errc() || end != location.data() + location.size()) {
      return SiteId{
          named(sites_, location, [&] { return raw(builder_.add_site({.file = std::string(location)})); })};
    }
    if (number >= kDirect) {
      return SiteId{
          named(sites_, location, [&] { return raw(builder_.add_site({.file = "rapid", .line = number})); })};
    }
    if (number >= numbered_sites_.size()) numbered_sites_.resize(number + number / 2 + 1, kNone<SiteId>);
    SiteId& id = numbered_sites_[number];
    if (id == kNone<SiteId>) id = builder_.add_site({.file = "rapid", .line = number});
    return id;
  }

  static constexpr uint32_t kDirect = 1 << 22;  // locations below this are looked up in a plain array

  const char* next_;
  const char* end_;
  std::string_view place_;
  size_t line_ = 0;
  std::string error_;
  TraceBuilder builder_;
  Names threads_, variables_, locks_, units_, sites_;
  NumberedNames numbered_threads_, numbered_variables_;
  std::vector<SiteId> numbered_sites_;
  std::vector<Hold> holds_;  // by SyncId
  std::string_view last_thread_name_;
  ThreadId last_thread_ = kNone<ThreadId>;
};

class RapidSource final : public EventSource {
 public:
  RapidSource(MappedFile file, std::string path)
      : file_(std::move(file)), path_(std::move(path)), parser_(file_.bytes(), path_) {
    batch_.reserve(kBatch);
  }
  Result<std::span<const Event>> next() override {
    batch_.clear();
    for (Event event; batch_.size() < kBatch && parser_.next(event);) batch_.push_back(event);
    if (batch_.empty() && parser_.failed()) return parser_.error();
    return std::span<const Event>(batch_);
  }
  uint64_t old_value(size_t) const override { return 0; }
  const Trace& tables() const override { return const_cast<RapidParser&>(parser_).builder().tables(); }

 private:
  static constexpr size_t kBatch = 4096;
  MappedFile file_;
  std::string path_;
  RapidParser parser_;
  std::vector<Event> batch_;
};

}  // namespace

Result<Trace> parse_rapid_trace(std::string_view text, std::string_view place) {
  RapidParser parser(text, place);
  for (Event event; parser.next(event);) parser.builder().add(event);
  if (parser.failed()) return parser.error();
  return std::move(parser.builder()).build();
}

Result<std::unique_ptr<EventSource>> open_rapid_trace(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  return std::unique_ptr<EventSource>(new RapidSource(std::move(file).value(), path));
}

}  // namespace cleave
