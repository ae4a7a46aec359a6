#include "units/lock_functions.h"

#include <algorithm>
#include <vector>

#include "trace/core/library.h"

namespace cleave {
namespace {

size_t depth_of(const Trace& tables, ContextId context) {
  size_t depth = 0;
  for (; context != kNone<ContextId>; context = tables.context(context).parent) ++depth;
  return depth;
}

// The innermost context that both are in.
ContextId common(const Trace& tables, ContextId a, ContextId b) {
  size_t depth_a = depth_of(tables, a), depth_b = depth_of(tables, b);
  for (; depth_a > depth_b; --depth_a) a = tables.context(a).parent;
  for (; depth_b > depth_a; --depth_b) b = tables.context(b).parent;
  while (a != b) a = tables.context(a).parent, b = tables.context(b).parent;
  return a;
}

}  // namespace

// All functions between where the lock was taken and the one that is in both are over.
void LockFunctions::learn(SiteId taken_at, ContextId taken_in, ContextId later) {
  const ContextId both = common(*tables_, taken_in, later);
  SiteId site = taken_at;
  for (ContextId at = taken_in; at != both; at = tables_->context(at).parent) {
    if (site != kNone<SiteId> && !tables_->site(site).function.empty())
      functions_.insert(tables_->site(site).function);
    site = tables_->context(at).call_site;
  }
}

std::string LockFunctions::home(SiteId taken_at, ContextId taken_in) const {
  if (taken_at == kNone<SiteId>) return "";
  SiteId site = taken_at;
  for (ContextId context = taken_in; site != kNone<SiteId>;) {
    const SiteInfo& place = tables_->site(site);
    if (!is_system_file(place.file) && !functions_.contains(place.function)) return place.function;
    if (context == kNone<ContextId>) break;
    site = tables_->context(context).call_site;
    context = tables_->context(context).parent;
  }
  return tables_->site(taken_at).function;
}

}  // namespace cleave
