#include "model/units.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/glob.h"

namespace cleave {
namespace {

using Scope = UnitRole::Scope;

constexpr uint32_t kNoFrame = UINT32_MAX;

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
  } else if (word.starts_with(kFunctions) && word.size() > kFunctions.size()) {
    options.functions.emplace_back(word.substr(kFunctions.size()));
  } else {
    return Error{"--units", fmt::format("'{}' is no source of units; there are annotated, locks, methods and "
                                        "functions:GLOB",
                                        word)};
  }
  return Done{};
}

// The function of a site, or, where that is code of a system header, the innermost caller that is not.
std::string own_function(const Trace& tables, SiteId site, ContextId context) {
  std::string function = site == kNone<SiteId> ? "" : tables.site(site).function;
  auto is_system = [&](SiteId at) {
    return at != kNone<SiteId> && tables.site(at).file.starts_with("/usr/");
  };
  while (is_system(site) && context != kNone<ContextId>) {
    site = tables.context(context).call_site;
    context = tables.context(context).parent;
    if (site != kNone<SiteId> && !is_system(site)) return tables.site(site).function;
  }
  return function;
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
  options.annotated = !atomic.empty() || std::any_of(names.begin(), names.end(), annotated_name);
  options.methods = options.locks = !options.annotated;
  return options;
}

std::string unit_label(const Trace& tables, const Unit& unit) {
  if (unit.name != kNone<UnitNameId>) return tables.unit_name(unit.name).name;
  std::string function = own_function(tables, unit.site, unit.context);
  if (!function.empty()) return unit.lock == kNone<SyncId> ? function : function + " (critical section)";
  if (unit.lock == kNone<SyncId>) return "(access)";
  return fmt::format("section of {}", tables.sync(unit.lock).name);
}

UnitTracker::UnitTracker(UnitOptions options, SetMap& sets, const Trace& tables)
    : options_(std::move(options)), roles_(options_, sets, tables), sets_(sets), tables_(tables) {}

UnitTracker::Thread& UnitTracker::thread(ThreadId id) {
  if (raw(id) >= threads_.size()) threads_.resize(raw(id) + 1);
  return threads_[raw(id)];
}

void UnitRoles::learn(UnitNameId name) {
  if (raw(name) >= roles_.size()) roles_.resize(raw(name) + 1);
  roles_[raw(name)] = decide(tables_.unit_name(name));
  roles_[raw(name)].known = true;
}

UnitRole UnitRoles::decide(const UnitNameInfo& info) {
  UnitRole role;
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
    role.transparent = info.flags & (UnitNameInfo::kGetter | UnitNameInfo::kSetter | UnitNameInfo::kExposes);
    bool accessor = info.flags & (UnitNameInfo::kGetter | UnitNameInfo::kSetter);
    bool declared = info.source == UnitSource::Method || info.source == UnitSource::StructFunction;
    role.scope = declared && !accessor ? Scope::Owners : Scope::Additional;
  }
  return role;
}

void UnitTracker::feed(const Event& event, EventIndex position) {
  ended_.clear();
  switch (event.kind) {
    case EventKind::Begin:
      begin(event, position);
      break;
    case EventKind::End: {
      Thread& state = thread(event.thread);
      size_t frame = state.frames.size();
      while (frame > 0 && state.frames[frame - 1].open.unit.lock != kNone<SyncId>) --frame;
      if (frame > 0) pop(state, frame - 1, position);
      break;
    }
    case EventKind::Acquire:
    case EventKind::AcquireShared:
      if (options_.locks) begin_section(event, event.sync(), position);
      break;
    case EventKind::Release:
    case EventKind::ReleaseShared:
      if (options_.locks) end_section(event.thread, event.sync(), position);
      break;
    case EventKind::Wait:
      if (!options_.split_at_waits) break;
      split(thread(event.thread), position, false);
      break;
    case EventKind::Fork:
    case EventKind::Join:
      split(thread(event.thread), position, true);
      break;
    case EventKind::Exit: {
      Thread& state = thread(event.thread);
      while (!state.frames.empty()) pop(state, state.frames.size() - 1, position);
      break;
    }
    default:
      break;
  }
}

void UnitTracker::begin(const Event& event, EventIndex position) {
  Frame frame;
  frame.role = roles_.of(event.unit());
  frame.open.unit = {.name = event.unit(),
                     .thread = event.thread,
                     .object = event.self(),
                     .site = event.site,
                     .context = event.context,
                     .begin = position};
  ObjectId self = event.self();
  if (self != kNone<ObjectId>) {
    frame.owner = sets_.owner_of(self);
    // Only a text trace names an object without an address: there `self=` says what the unit is declared on.
    if (frame.role.scope == Scope::Everything && tables_.object(self).address == 0)
      frame.role.scope = Scope::Owners;
  }
  Thread& state = thread(event.thread);
  state.frames.push_back(frame);
  state.last_set = kNone<SetId>;
  depth_ = std::max(depth_, state.frames.size());
}

void UnitTracker::begin_section(const Event& event, SyncId lock, EventIndex position) {
  Frame frame;
  frame.role.scope = Scope::Everything;
  frame.open.unit = {
      .lock = lock, .thread = event.thread, .site = event.site, .context = event.context, .begin = position};
  Thread& state = thread(event.thread);
  state.frames.push_back(frame);
  state.last_set = kNone<SetId>;
  depth_ = std::max(depth_, state.frames.size());
}

void UnitTracker::end_section(ThreadId id, SyncId lock, EventIndex position) {
  Thread& state = thread(id);
  for (size_t frame = state.frames.size(); frame > 0; --frame) {
    if (state.frames[frame - 1].open.unit.lock == lock) return pop(state, frame - 1, position);
  }
}

void UnitTracker::pop(Thread& state, size_t frame, EventIndex position) {
  finish(state.frames[frame], position);
  state.frames.erase(state.frames.begin() + static_cast<ptrdiff_t>(frame));
  state.last_set = kNone<SetId>;
}

void UnitTracker::split(Thread& state, EventIndex position, bool only_heuristic) {
  for (Frame& frame : state.frames) {
    if (only_heuristic && !frame.role.heuristic) continue;
    finish(frame, position);
    frame.open.unit.begin = position;
  }
  state.last_set = kNone<SetId>;
}

void UnitTracker::finish(Frame& frame, EventIndex position) {
  if (frame.open.id == kNone<UnitId>) return;
  frame.open.unit.end = position;
  ended_.push_back(frame.open);
  frame.open.unit.end = kNone<EventIndex>;
  frame.open.id = kNone<UnitId>;
  frame.open.additional = false;
}

void UnitTracker::find_frame(Thread& state, SetId set, bool atomic) const {
  const SetInfo& info = sets_.info(set);
  atomic = atomic || info.atomic;  // the heuristics have nothing to say then
  state.last_frame = kNoFrame;
  state.last_additional = true;
  // What a function is an additional unit for stays its own where a lock section within it would come first.
  uint32_t claimed = kNoFrame;
  for (uint32_t i = 0; i < state.frames.size(); ++i) {
    const Frame& frame = state.frames[i];
    const UnitRole& role = frame.role;
    bool declared = role.scope == Scope::Everything;
    if (!atomic && role.scope == Scope::Owners && info.owner != kNone<OwnerId>) {
      declared = info.owner == frame.owner || info.owner == role.statics || info.owner == role.file;
    }
    bool again =
        !atomic && std::find(frame.additional.begin(), frame.additional.end(), set) != frame.additional.end();
    if (again && claimed == kNoFrame) claimed = i;
    if (declared) {
      bool section = frame.open.unit.lock != kNone<SyncId>;
      state.last_additional = section && claimed != kNoFrame;
      state.last_frame = state.last_additional ? claimed : i;
      return;
    }
    if (role.barred) state.last_frame = kNoFrame;
    if (role.heuristic && !role.transparent && !atomic) state.last_frame = i;  // the innermost so far
  }
}

const OpenUnit* UnitTracker::unit_of(const Event& access) {
  Thread& state = thread(access.thread);
  if (state.frames.empty()) return nullptr;
  SetId set = sets_.set_of(access.variable());
  if (state.last_set != set || state.last_atomic != access.atomic()) {
    state.last_set = set;
    state.last_atomic = access.atomic();
    find_frame(state, set, access.atomic());
    if (state.last_frame != kNoFrame && state.last_additional) {
      std::vector<SetId>& additional = state.frames[state.last_frame].additional;
      if (std::find(additional.begin(), additional.end(), set) == additional.end()) additional.push_back(set);
    }
  }
  if (state.last_frame == kNoFrame) return nullptr;
  Frame& frame = state.frames[state.last_frame];
  if (frame.open.id == kNone<UnitId>) frame.open.id = UnitId{next_++};
  frame.open.additional = state.last_additional;
  return &frame.open;
}

std::vector<OpenUnit> UnitTracker::open() const {
  std::vector<OpenUnit> units;
  for (const Thread& state : threads_) {
    for (const Frame& frame : state.frames) {
      if (frame.open.id != kNone<UnitId>) units.push_back(frame.open);
    }
  }
  return units;
}

UnitMap map_units(const Trace& trace, const UnitOptions& options, SetMap& sets) {
  UnitMap map;
  map.by_event.assign(trace.size(), kNone<UnitId>);
  UnitTracker tracker(options.resolved(trace), sets, trace);
  auto keep = [&](const OpenUnit& open) {
    if (map.units.size() <= raw(open.id)) map.units.resize(raw(open.id) + 1);
    map.units[raw(open.id)] = open.unit;
  };
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace.events()[i];
    if (is_access(event.kind)) {
      if (const OpenUnit* open = tracker.unit_of(event)) map.by_event[i] = open->id;
      continue;
    }
    tracker.feed(event, EventIndex{i});
    for (const OpenUnit& open : tracker.ended()) keep(open);
  }
  for (const OpenUnit& open : tracker.open()) keep(open);
  return map;
}

}  // namespace cleave
