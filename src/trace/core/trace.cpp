#include "trace/core/trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/huge_pages.h"

namespace cleave {
namespace {

template <typename T>
const T* find_by_index(const std::vector<std::pair<uint64_t, T>>& table, uint64_t index) {
  auto it = std::lower_bound(table.begin(), table.end(), index,
                             [](const auto& entry, uint64_t wanted) { return entry.first < wanted; });
  return it != table.end() && it->first == index ? &it->second : nullptr;
}

// The id that `name` has in `ids`, made with `create` on first sight.
template <typename Create>
uint32_t intern(std::map<std::string, uint32_t, std::less<>>& ids, std::string_view name, Create create) {
  auto it = ids.find(name);
  if (it == ids.end()) it = ids.emplace(std::string(name), create()).first;
  return it->second;
}

}  // namespace

uint64_t Trace::old_value(EventIndex update) const {
  const uint64_t* old = find_by_index(old_values_, raw(update));
  CLEAVE_CHECK(old != nullptr, "old_value of an event that is not an update");
  return *old;
}

const SymbolicInfo* Trace::symbolic(EventIndex index) const { return find_by_index(symbolic_, raw(index)); }

ThreadId TraceBuilder::thread(std::string_view name) {
  return ThreadId{intern(thread_ids_, name, [&] {
    trace_.threads_.push_back({.name = std::string(name)});
    return static_cast<uint32_t>(trace_.threads_.size() - 1);
  })};
}

VariableId TraceBuilder::variable(std::string_view name) {
  return VariableId{intern(variable_ids_, name, [&] { return raw(add_variable(name)); })};
}

SyncId TraceBuilder::sync(std::string_view name, SyncKind kind) {
  SyncId id{intern(sync_ids_, name, [&] {
    trace_.syncs_.push_back({.name = std::string(name)});
    return static_cast<uint32_t>(trace_.syncs_.size() - 1);
  })};
  SyncInfo& info = trace_.syncs_[raw(id)];
  if (info.kind == SyncKind::Unknown) info.kind = kind;
  return id;
}

UnitNameId TraceBuilder::unit_name(std::string_view name) {
  return UnitNameId{intern(unit_ids_, name, [&] {
    trace_.unit_names_.push_back({.name = std::string(name)});
    return static_cast<uint32_t>(trace_.unit_names_.size() - 1);
  })};
}

uint32_t TraceBuilder::input_name(std::string_view name) {
  return intern(input_ids_, name, [&] {
    trace_.input_names_.emplace_back(name);
    return static_cast<uint32_t>(trace_.input_names_.size() - 1);
  });
}

ThreadId TraceBuilder::add_thread(ThreadInfo info) {
  ThreadId id = id_of<ThreadId>(trace_.threads_.size());
  thread_ids_.emplace(info.name, raw(id));
  trace_.threads_.push_back(std::move(info));
  return id;
}

VariableId TraceBuilder::add_variable(VariableInfo info) {
  trace_.variables_.add(std::move(info));
  return id_of<VariableId>(trace_.variables_.size() - 1);
}

VariableId TraceBuilder::add_variable(std::string_view name) {
  trace_.variables_.add_name(name);
  return id_of<VariableId>(trace_.variables_.size() - 1);
}

ObjectId TraceBuilder::add_object(ObjectInfo info) {
  trace_.objects_.push_back(std::move(info));
  return id_of<ObjectId>(trace_.objects_.size() - 1);
}

SyncId TraceBuilder::add_sync(SyncInfo info) {
  trace_.syncs_.push_back(std::move(info));
  return id_of<SyncId>(trace_.syncs_.size() - 1);
}

SiteId TraceBuilder::add_site(SiteInfo info) {
  std::string key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{:d}", info.file, info.line, info.column,
                                info.function, info.variable, info.type, info.through_own);
  return SiteId{intern(site_ids_, key, [&] {
    trace_.sites_.push_back(std::move(info));
    return static_cast<uint32_t>(trace_.sites_.size() - 1);
  })};
}

SiteId TraceBuilder::append_site(SiteInfo info) {
  trace_.sites_.push_back(std::move(info));
  return id_of<SiteId>(trace_.sites_.size() - 1);
}

UnitNameId TraceBuilder::add_unit_name(UnitNameInfo info) {
  trace_.unit_names_.push_back(std::move(info));
  return id_of<UnitNameId>(trace_.unit_names_.size() - 1);
}

ContextId TraceBuilder::add_context(ContextInfo info) {
  auto [it, fresh] = context_ids_.emplace(std::pair{raw(info.parent), raw(info.call_site)},
                                          static_cast<uint32_t>(trace_.contexts_.size()));
  if (fresh) trace_.contexts_.push_back(info);
  return ContextId{it->second};
}

EventIndex TraceBuilder::add(const Event& event) {
  grow_on_huge_pages(trace_.events_);
  trace_.events_.push_back(event);
  return id_of<EventIndex>(trace_.events_.size() - 1);
}

EventIndex TraceBuilder::add_update(const Event& event, uint64_t old_value) {
  EventIndex index = add(event);
  trace_.old_values_.emplace_back(raw(index), old_value);
  return index;
}

void TraceBuilder::annotate(EventIndex index, SymbolicInfo info) {
  auto& table = trace_.symbolic_;
  CLEAVE_CHECK(table.empty() || table.back().first < raw(index), "annotations are given in trace order");
  table.emplace_back(raw(index), std::move(info));
}

void TraceBuilder::declare_set(std::string_view set, VariableId member) {
  trace_.declared_sets_[std::string(set)].push_back(member);
}

void TraceBuilder::set_initial(VariableId variable, uint64_t value) {
  VariableInfo& info = variable_info(variable);
  info.initial = value;
  info.initial_known = true;
}

void TraceBuilder::drop_changes(size_t outer_set, size_t moved) {
  auto drop = [](auto& list, size_t& dropped, size_t wanted) {
    size_t count = std::min(std::max(wanted, dropped) - dropped, list.size());
    list.erase(list.begin(), list.begin() + static_cast<ptrdiff_t>(count));
    dropped += count;
  };
  TableChanges& changes = trace_.changes_;
  drop(changes.outer_set, changes.outer_set_dropped, outer_set);
  drop(changes.moved, changes.moved_dropped, moved);
}

EventIndex TraceBuilder::read(std::string_view t, std::string_view v, uint64_t value) {
  return add({.kind = EventKind::Read, .thread = thread(t), .object = raw(variable(v)), .value = value});
}

EventIndex TraceBuilder::write(std::string_view t, std::string_view v, uint64_t value) {
  return add({.kind = EventKind::Write, .thread = thread(t), .object = raw(variable(v)), .value = value});
}

EventIndex TraceBuilder::update(std::string_view t, std::string_view v, uint64_t old_value, uint64_t value) {
  return add_update(
      {.kind = EventKind::Update, .thread = thread(t), .object = raw(variable(v)), .value = value},
      old_value);
}

EventIndex TraceBuilder::acquire(std::string_view t, std::string_view lock) {
  return add({.kind = EventKind::Acquire, .thread = thread(t), .object = raw(sync(lock, SyncKind::Mutex))});
}

EventIndex TraceBuilder::release(std::string_view t, std::string_view lock) {
  return add({.kind = EventKind::Release, .thread = thread(t), .object = raw(sync(lock, SyncKind::Mutex))});
}

EventIndex TraceBuilder::begin(std::string_view t, std::string_view unit) {
  return add({.kind = EventKind::Begin, .thread = thread(t), .object = raw(unit_name(unit))});
}

EventIndex TraceBuilder::end(std::string_view t) {
  return add({.kind = EventKind::End, .thread = thread(t)});
}

EventIndex TraceBuilder::fork(std::string_view t, std::string_view child) {
  ThreadId parent = thread(t), id = thread(child);
  thread_info(id).parent = parent;
  return add({.kind = EventKind::Fork, .thread = parent, .object = raw(id)});
}

EventIndex TraceBuilder::join(std::string_view t, std::string_view child) {
  return add({.kind = EventKind::Join, .thread = thread(t), .object = raw(thread(child))});
}

Trace TraceBuilder::build() && { return std::move(trace_); }

}  // namespace cleave
