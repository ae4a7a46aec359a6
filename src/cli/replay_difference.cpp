#include "cli/replay_difference.h"

#include <fmt/format.h>

#include <deque>
#include <map>

#include "trace/core/describe.h"
#include "trace/recorded/reader.h"

namespace cleave::cli {
namespace {

// One trace, read until the other one has the same events.
class Side {
 public:
  explicit Side(std::unique_ptr<BinarySource> source) : source_(std::move(source)) {}

  // Puts the next events behind those of their threads; false at the end.
  bool read_on() {
    Result<std::span<const Event>> batch = source_->next();
    if (!batch || batch.value().empty()) return false;
    for (const Event& event : batch.value())
      if (is_access(event.kind)) waiting[event.thread].push_back(event);
    return true;
  }
  const Trace& names() const { return source_->tables(); }
  std::string sentence(const Event& event) const {
    std::string place = place_of(names(), event.site);
    return fmt::format("{}: {} {} {}{}{}", names().thread(event.thread).name, word_of(event.kind),
                       object_name(names(), event), event.value, place.empty() ? "" : " at ", place);
  }

  std::map<ThreadId, std::deque<Event>> waiting;

 private:
  std::unique_ptr<BinarySource> source_;
};

bool is_address(uint64_t value) {
  return value >= UINT64_C(0x550000000000) && value < UINT64_C(0x800000000000);
}

bool same(const Side& one, const Event& a, const Side& other, const Event& b) {
  if (a.kind != b.kind || (a.site == kNone<SiteId>) != (b.site == kNone<SiteId>)) return false;
  if (a.site != kNone<SiteId> && !(one.names().site(a.site) == other.names().site(b.site))) return false;
  return a.value == b.value || (is_address(a.value) && is_address(b.value));
}

}  // namespace

std::string replay_difference(const std::string& recorded, const std::string& now) {
  Result<std::unique_ptr<BinarySource>> first = open_binary_trace(recorded), second = open_binary_trace(now);
  if (!first || !second) return "";
  Side then(std::move(first).value()), again(std::move(second).value());
  for (;;) {
    bool more = then.read_on();
    more = again.read_on() || more;
    for (auto& [thread, events] : again.waiting) {
      std::deque<Event>& before = then.waiting[thread];
      for (; !events.empty() && !before.empty(); events.pop_front(), before.pop_front())
        if (!same(then, before.front(), again, events.front()))
          return fmt::format("  recorded: {}\n  now:      {}", then.sentence(before.front()),
                             again.sentence(events.front()));
    }
    if (!more) return "";
  }
}

}  // namespace cleave::cli
