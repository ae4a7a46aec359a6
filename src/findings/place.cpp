#include "findings/place.h"

#include <fmt/format.h>

#include "trace/core/library.h"
#include "trace/core/no_value.h"

namespace cleave {

namespace {
constexpr size_t kDeepest = 64;  // recursion can be without bound, a report cannot
}

bool librarys_own(const Trace& trace, const Event& access) {
  if (access.site == kNone<SiteId>) return false;
  if (!access.atomic()) return is_system_file(trace.site(access.site).file);
  auto of_atomics = [](std::string_view function) {
    return function.starts_with("std::atomic") || function.starts_with("std::__atomic");
  };
  SiteId frame = access.site;
  for (ContextId c = access.context; c != kNone<ContextId> && of_atomics(trace.site(frame).function);
       c = trace.context(c).parent) {
    if (trace.context(c).call_site != kNone<SiteId>) frame = trace.context(c).call_site;
  }
  const SiteInfo& who = trace.site(frame);
  return is_system_file(who.file) && !of_atomics(who.function);
}

void put_operation(AccessReport& access, EventKind kind, uint64_t value, uint64_t old_value) {
  auto text = [](uint64_t number) {
    return number == kNoValue ? std::string() : number == kFreed ? "freed" : std::to_string(number);
  };
  access.op = kind == EventKind::Write && value == kFreed ? kFreeOperation : word_of(kind);
  access.value.clear();
  if (!is_access(kind) || access.op == kFreeOperation) return;
  access.value = text(value);
  if (kind == EventKind::Update) access.value = fmt::format("{} -> {}", text(old_value), access.value);
}

void put_place(AccessReport& access, const Trace& trace, SiteId site, ContextId context) {
  if (site == kNone<SiteId>) return;
  std::vector<SiteId> frames{site};
  for (ContextId c = context; c != kNone<ContextId> && frames.size() < kDeepest;
       c = trace.context(c).parent) {
    if (trace.context(c).call_site != kNone<SiteId>) frames.push_back(trace.context(c).call_site);
  }
  const SiteInfo* own = nullptr;
  for (SiteId frame : frames) {
    const SiteInfo& info = trace.site(frame);
    if (own == nullptr && !info.file.empty() && !is_system_file(info.file)) own = &info;
    if (context != kNone<ContextId>)
      access.stack.push_back(fmt::format("{} {}:{}", info.function, info.file, info.line));
  }
  if (own == nullptr) own = &trace.site(site);
  access.type = trace.site(site).type;
  access.function = own->function;
  access.file = own->file;
  access.line = own->line;
}

}  // namespace cleave
