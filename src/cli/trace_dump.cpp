#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <iterator>

#include "base/printable.h"
#include "cli/trace_views.h"
#include "trace/core/describe.h"

namespace cleave::cli {
namespace {

constexpr const char* kReset = "\033[0m";
constexpr const char* kDim = "\033[2m";
constexpr const char* kThreads[] = {"\033[36m", "\033[33m", "\033[35m", "\033[32m", "\033[34m", "\033[31m"};

class Dump {
 public:
  Dump(const Trace& trace, const DumpOptions& options, const std::function<void(std::string_view)>& sink)
      : trace_(trace), options_(options), sink_(sink), depth_(trace.threads().size(), 0) {}

  Status run() {
    for (const std::string& name : options_.threads) {
      auto it = std::find_if(trace_.threads().begin(), trace_.threads().end(),
                             [&](const ThreadInfo& info) { return info.name == name; });
      if (it == trace_.threads().end())
        return Error{"", fmt::format("the trace has no thread {}; it has {}", name, thread_list())};
    }
    uint64_t from = options_.from, to = options_.to;
    if (options_.around != UINT64_MAX) {
      if (options_.around >= trace_.size())
        return Error{"", fmt::format("the trace has {} events, no event {}", trace_.size(), options_.around)};
      from = options_.around - std::min(options_.around, options_.context);
      to = options_.around + std::min(options_.context, UINT64_MAX - options_.around);
    }
    measure();
    for (uint64_t i = 0; i < trace_.size() && i <= to; ++i) {
      const Event& event = trace_.events()[i];
      uint32_t& depth = depth_[raw(event.thread)];
      if (event.kind == EventKind::End && depth > 0) --depth;
      if (i >= from && wanted(event)) line(i, event, depth);
      if (event.kind == EventKind::Begin) ++depth;
      if (out_.size() > 60000) flush();
    }
    flush();
    return Done{};
  }

 private:
  void flush() {
    sink_(out_);
    out_.clear();
  }

  std::string thread_list() const {
    std::string list;
    for (size_t i = 0; i < trace_.threads().size() && i < 8; ++i)
      list += (i > 0 ? ", " : "") + trace_.threads()[i].name;
    return trace_.threads().size() > 8 ? list + " …" : list;
  }

  void measure() {
    number_width_ = static_cast<int>(fmt::formatted_size("{}", trace_.size()));
    for (const ThreadInfo& info : trace_.threads())
      thread_width_ = std::min(16, std::max(thread_width_, static_cast<int>(info.name.size())));
  }

  bool wanted(const Event& event) const {
    if (!options_.threads.empty() && std::find(options_.threads.begin(), options_.threads.end(),
                                               trace_.thread(event.thread).name) == options_.threads.end()) {
      return false;
    }
    if (options_.variables.empty()) return true;
    std::string name = object_name(trace_, event);
    std::string plain =
        is_access(event.kind) && event.object != UINT32_MAX ? trace_.variable(event.variable()).name : name;
    return std::any_of(options_.variables.begin(), options_.variables.end(), [&](const std::string& pattern) {
      return fnmatch(pattern.c_str(), name.c_str(), 0) == 0 ||
             fnmatch(pattern.c_str(), plain.c_str(), 0) == 0;
    });
  }

  std::string value(uint64_t index, const Event& event) const {
    switch (event.kind) {
      case EventKind::Update:
        return fmt::format("{} → {}", value_text(trace_.old_value(id_of<EventIndex>(index))),
                           value_text(event.value));
      case EventKind::Read:
      case EventKind::Input:
        return "= " + value_text(event.value);
      case EventKind::Write:
        return "← " + value_text(event.value);
      case EventKind::Alloc:
        return fmt::format("{} bytes", event.value);
      case EventKind::Branch:
        return fmt::format("{}", event.value);
      case EventKind::Wake:
        return event.value != 0 ? "timed out" : "";
      default:
        return {};
    }
  }

  void line(uint64_t index, const Event& event, uint32_t depth) {
    auto paint = [&](const char* color) { return options_.color ? color : ""; };
    const char* thread_color = paint(kThreads[raw(event.thread) % std::size(kThreads)]);
    const char* mark = index == options_.around ? ">" : " ";
    std::string what = std::string(2 * std::min(depth, 12u), ' ') + std::string(word_of(event.kind));
    std::string object = object_name(trace_, event), shown = value(index, event);
    if (!object.empty()) what += " " + printable(object);
    if (!shown.empty()) what += " " + shown;
    if (event.atomic()) what += " (atomic)";
    auto out = std::back_inserter(out_);
    fmt::format_to(out, "{}{}{:>{}}{}  {}{:<{}}{}  ", mark, paint(kDim), index, number_width_, paint(kReset),
                   thread_color, printable(trace_.thread(event.thread).name), thread_width_, paint(kReset));
    std::string place = printable(place_of(trace_, event.site));
    if (place.empty()) {
      out_ += what;
    } else {
      const std::string function = printable(trace_.site(event.site).function);
      fmt::format_to(out, "{:<48}  {}{}{}{}", what, paint(kDim), place,
                     function.empty() ? "" : "  " + function, paint(kReset));
    }
    const SymbolicInfo* symbolic = trace_.symbolic(id_of<EventIndex>(index));
    if (symbolic != nullptr && !symbolic->bound.empty()) out_ += " -> " + printable(symbolic->bound);
    if (symbolic != nullptr && !symbolic->expression.empty()) out_ += " = " + printable(symbolic->expression);
    out_ += '\n';
    if (options_.stack) stack(event);
  }

  void stack(const Event& event) {
    size_t frames = 0;
    for (ContextId context = event.context; context != kNone<ContextId> && frames < 64;
         context = trace_.context(context).parent, ++frames) {
      SiteId site = trace_.context(context).call_site;
      if (site == kNone<SiteId>) continue;
      fmt::format_to(std::back_inserter(out_), "{:>{}}from {}  {}\n", "", number_width_ + thread_width_ + 8,
                     printable(place_of(trace_, site)), printable(trace_.site(site).function));
    }
  }

  const Trace& trace_;
  const DumpOptions& options_;
  const std::function<void(std::string_view)>& sink_;
  std::vector<uint32_t> depth_;  // open units of each thread
  int number_width_ = 1, thread_width_ = 4;
  std::string out_;
};

}  // namespace

Status dump_trace(const Trace& trace, const DumpOptions& options,
                  const std::function<void(std::string_view)>& sink) {
  return Dump(trace, options, sink).run();
}

}  // namespace cleave::cli
