// Where units come from: the words of --units, what names are by them and by cleave.toml, and what people
// call a unit.
#include <fmt/format.h>

#include <algorithm>

#include "base/glob.h"
#include "findings/place.h"
#include "trace/core/unit_flags.h"
#include "units/units.h"

namespace cleave {
namespace {

using Scope = UnitRole::Scope;

bool any_matches(const std::vector<std::string>& globs, std::string_view name) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return matches_glob(glob, name); });
}

Status add_source(UnitOptions& options, std::string_view word) {
  constexpr std::string_view kFunctions = "functions:";
  if (word == "annotated") {
    options.annotated = true;
  } else if (word == "locks") {
    options.locks = true;
  } else if (word == "methods") {
    options.methods = true;
  } else if (word == "causal") {
    options.causal = true;
  } else if (word == "marathon") {
    options.methods = options.locks = true;
  } else if (word.starts_with(kFunctions) && word.size() > kFunctions.size()) {
    options.functions.emplace_back(word.substr(kFunctions.size()));
  } else {
    return Error{"--units",
                 fmt::format("'{}' is no source of units; there are annotated, causal, locks, methods, "
                             "marathon (methods and locks) and functions:GLOB",
                             word)};
  }
  return Done{};
}

// The function of a site, or, where that is code of a system header, the innermost caller that is not.
std::string own_function(const Trace& tables, SiteId site, ContextId context) {
  return LockFunctions(tables).home(site, context);
}

}  // namespace

Result<UnitOptions> parse_unit_sources(std::span<const std::string> words) {
  UnitOptions options;
  for (const std::string& list : words) {
    std::string_view rest = list;
    for (;;) {
      size_t comma = rest.find(',');
      if (Status status = add_source(options, rest.substr(0, comma)); !status) return status.error();
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return options;
}

UnitOptions UnitOptions::resolved(const Trace& tables) const {
  UnitOptions options = *this;
  if (any_source()) return options;
  auto annotated_name = [](const UnitNameInfo& info) {
    return info.source == UnitSource::Annotated || info.source == UnitSource::UnitFor;
  };
  auto names = tables.unit_names();
  options.annotated =
      !atomic.empty() || !unitfor.empty() || std::any_of(names.begin(), names.end(), annotated_name);
  options.methods = options.locks = !options.annotated;
  return options;
}

std::vector<UnmatchedPattern> unmatched_patterns(const UnitOptions& units, const SetMap& sets) {
  std::vector<UnmatchedPattern> result = sets.unmatched();
  for (const UnitFor& unit : units.unitfor) {
    if (!sets.one() && !sets.ever_had(unit.set))
      result.push_back({UnmatchedPattern::Where::UnitFor, unit.set, ""});
  }
  return result;
}

std::string unit_label(const Trace& tables, const Unit& unit, const LockFunctions& lock_functions) {
  return unit_label(tables, unit, lock_functions,
                    unit.lock == kNone<SyncId> ? std::string_view() : tables.sync(unit.lock).name);
}

std::string unit_label(const Trace& tables, const Unit& unit, const LockFunctions& lock_functions,
                       std::string_view lock) {
  if (unit.name != kNone<UnitNameId>) return tables.unit_name(unit.name).name;
  if (unit.lock == kNone<SyncId>) {
    std::string function = own_function(tables, unit.site, unit.context);
    return function.empty() ? "(access)" : function;
  }
  const std::string function = lock_functions.home(unit.site, unit.context);
  return function.empty() ? fmt::format("section of {}", lock) : function + " (critical section)";
}

CauseReport cause_of(const Trace& trace, const UnitMap& units, const Unit& unit) {
  CauseReport report;
  if (unit.cause == UINT32_MAX) return report;
  const UnitCause& cause = units.causes[unit.cause];
  report.rule = cause.rule;
  report.by_data = cause.by_data;
  auto describe = [&](EventIndex index, Role role) {
    const Event& event = trace.event(index);
    AccessReport access;
    access.role = role;
    access.thread = trace.thread(event.thread).name;
    access.op = word_of(event.kind);
    access.variable = trace.variable(event.variable()).name;
    put_place(access, trace, event.site, event.context);
    return access;
  };
  report.first = describe(cause.first, Role::First);
  report.second = describe(cause.second, Role::Second);
  return report;
}

void UnitRoles::learn(UnitNameId name) {
  if (raw(name) >= roles_.size()) roles_.resize(raw(name) + 1);
  roles_[raw(name)] = decide(tables_.unit_name(name));
  roles_[raw(name)].known = true;
}

UnitRole UnitRoles::decide(const UnitNameInfo& info) {
  UnitRole role;
  if (info.flags & (kUnitRound | kUnitMayWait)) {
    (info.flags & kUnitRound ? role.round : role.may_wait) = true;
    role.transparent = true;
    return role;
  }
  role.statics = sets_.home(info.type);
  role.file = sets_.home(info.file);
  if (any_matches(options_.not_atomic, info.name)) {
    role.barred = true;
    return role;
  }
  if (any_matches(options_.atomic, info.name)) {
    role.scope = Scope::Everything;
    return role;
  }
  std::vector<std::string> named;
  for (const UnitFor& unit : options_.unitfor) {
    if (matches_glob(unit.function, info.name)) named.push_back(unit.set);
  }
  if (!named.empty()) {
    role.scope = Scope::Owners;
    role.sets = &named_sets_.emplace_back(std::move(named));
    return role;
  }
  role.barred = info.source == UnitSource::NotAtomic;
  if (role.barred) return role;
  if (info.source == UnitSource::Annotated && options_.annotated) {
    role.scope = Scope::Everything;
  } else if (info.source == UnitSource::UnitFor && (options_.annotated || options_.methods)) {
    role.scope = Scope::Owners;
  } else if (any_matches(options_.functions, info.name)) {
    role.scope = Scope::Everything;
  } else if (options_.methods && info.source != UnitSource::Annotated) {
    role.heuristic = true;
    bool accessor = info.flags & (UnitNameInfo::kGetter | UnitNameInfo::kSetter);
    role.opaque_locks = accessor || (info.flags & kUnitSteps);
    role.transparent = role.opaque_locks || (info.flags & UnitNameInfo::kExposes);
    role.walks = info.flags & kUnitWalks;
    bool declared = info.source == UnitSource::Method || info.source == UnitSource::StructFunction;
    role.scope = declared && !accessor ? Scope::Owners : Scope::Additional;
  }
  return role;
}

}  // namespace cleave
