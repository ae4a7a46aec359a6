// The one record of what happened. A Trace, once built, does not change; analyses are functions of it.
//
// Events stand in one total order: program order within a thread, the exact order of operations on each
// synchronization object, and for everything else an order that agrees with both. Memory is 32 bytes an event
// plus the tables. TraceBuilder makes one in memory; trace/recorded/reader.h and trace/text/text.h make one
// from a file.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "trace/core/event.h"
#include "trace/core/variable_table.h"

namespace cleave {

struct ThreadInfo {
  std::string name;                   // main, T1, T2 …: unique in a trace
  ThreadId parent = kNone<ThreadId>;  // who created it
  std::string path;                   // place in the creation tree, "0.2.1"; empty in text traces
  friend bool operator==(const ThreadInfo&, const ThreadInfo&) = default;
};

// An instance: a heap block, a global of class type, an object within one. Its fields may form a set.
struct ObjectInfo {
  std::string name;  // a1, or Account@0x55… : unique
  std::string type;  // class or struct, qualified; empty if not known
  uint64_t address = 0;
  uint64_t size = 0;
  ObjectId outer = kNone<ObjectId>;  // the object it is a by-value member or base of
  friend bool operator==(const ObjectInfo&, const ObjectInfo&) = default;
};

enum class SyncKind : uint8_t { Unknown, Mutex, RwLock, Condition, Semaphore, Barrier, Once };

struct SyncInfo {
  std::string name;
  SyncKind kind = SyncKind::Unknown;
  uint64_t address = 0;
  uint64_t initial = 0;  // tokens of a semaphore, parties of a barrier
  friend bool operator==(const SyncInfo&, const SyncInfo&) = default;
};

struct SiteInfo {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  std::string function;      // qualified, without parameters
  std::string variable;      // total, Account::balance; empty where there is no name
  std::string type;          // of the access: int, std::string …
  bool through_own = false;  // SiteEntry::kThroughOwn
  friend bool operator==(const SiteInfo&, const SiteInfo&) = default;
};

// Where a unit comes from; --units selects among these. A text trace's units are Annotated.
// UnitFor is CLEAVE_UNITFOR: the object of its Begin is the parameter's.
enum class UnitSource : uint8_t { Annotated, Method, StructFunction, Function, NotAtomic, UnitFor };

struct UnitNameInfo {
  std::string name;  // withdraw, Account::withdraw
  UnitSource source = UnitSource::Annotated;
  std::string type;  // the class whose object object2 of Begin is; empty if none
  std::string file;  // where the function is defined; empty if not known
  // Getter, setter: reads or writes one field of `this` and does nothing else. Exposes: of an iterator or a
  // nested class, through which its user touches another object.
  enum Flags : uint32_t { kGetter = 1, kSetter = 2, kExposes = 4 };
  uint32_t flags = 0;
  friend bool operator==(const UnitNameInfo&, const UnitNameInfo&) = default;
};

// A frame of a calling context: the call site, and the context it was called in.
struct ContextInfo {
  ContextId parent = kNone<ContextId>;
  SiteId call_site = kNone<SiteId>;
  friend bool operator==(const ContextInfo&, const ContextInfo&) = default;
};

// The program's data on an event, from a text trace or from symbolic/. Expressions are SMT-LIB over bound
// names.
struct SymbolicInfo {
  std::string bound;       // name after `->`
  std::string expression;  // after `=`, or of assume
  friend bool operator==(const SymbolicInfo&, const SymbolicInfo&) = default;
};

// What happened to tables while they grew; no part of what a trace is, so any two are equal.
struct TableChanges {
  std::vector<ObjectId> outer_set;  // objects that got their `outer` after they were made, in order
  std::vector<VariableId> moved;    // variables whose object became known after they were made, in order
  // How many came before those and are listed no longer: sources that use ids again (ReadOptions::reuse_ids)
  // list what changed since the batch before the last one.
  size_t outer_set_dropped = 0, moved_dropped = 0;
  friend bool operator==(const TableChanges&, const TableChanges&) { return true; }
};

class Trace {
 public:
  std::span<const Event> events() const { return events_; }
  const Event& event(EventIndex index) const { return events_[raw(index)]; }
  size_t size() const { return events_.size(); }

  std::span<const ThreadInfo> threads() const { return threads_; }
  std::span<const VariableInfo> variables() const { return variables_.all(); }
  std::span<const ObjectInfo> objects() const { return objects_; }
  std::span<const SyncInfo> syncs() const { return syncs_; }
  std::span<const SiteInfo> sites() const { return sites_; }
  std::span<const UnitNameInfo> unit_names() const { return unit_names_; }
  std::span<const ContextInfo> contexts() const { return contexts_; }
  std::span<const std::string> input_names() const { return input_names_; }

  // How many variables there are: asking for that alone does not make those that are only names
  // (variable_table.h).
  size_t variable_count() const { return variables_.size(); }
  const VariableTable& variable_table() const { return variables_; }

  const ThreadInfo& thread(ThreadId id) const { return threads_[raw(id)]; }
  const VariableInfo& variable(VariableId id) const { return variables_.all()[raw(id)]; }
  const ObjectInfo& object(ObjectId id) const { return objects_[raw(id)]; }
  const SyncInfo& sync(SyncId id) const { return syncs_[raw(id)]; }
  const SiteInfo& site(SiteId id) const { return sites_[raw(id)]; }
  const UnitNameInfo& unit_name(UnitNameId id) const { return unit_names_[raw(id)]; }
  const ContextInfo& context(ContextId id) const { return contexts_[raw(id)]; }

  // What an Update read. O(log updates).
  uint64_t old_value(EventIndex update) const;
  // Program data of an event, or null. O(log annotated events).
  const SymbolicInfo* symbolic(EventIndex index) const;

  // Sets declared by hand in a text trace (`set NAME x y`), variable ids per set name.
  const std::map<std::string, std::vector<VariableId>>& declared_sets() const { return declared_sets_; }

  // For those who follow growing tables (units/sets.h).
  const TableChanges& changes() const { return changes_; }

  // Program that was run, and how; empty in text traces.
  const std::string& program() const { return program_; }
  // What the reader had to say about the input (truncated, unordered …), one sentence each.
  std::span<const std::string> remarks() const { return remarks_; }
  // The program was killed, or the file is damaged: the events are those up to a point that every thread can
  // have reached, and what followed is not known.
  bool ends_early() const { return ends_early_; }

  friend bool operator==(const Trace&, const Trace&) = default;

 private:
  friend class TraceBuilder;
  std::vector<Event> events_;
  std::vector<ThreadInfo> threads_;
  VariableTable variables_;
  std::vector<ObjectInfo> objects_;
  std::vector<SyncInfo> syncs_;
  std::vector<SiteInfo> sites_;
  std::vector<UnitNameInfo> unit_names_;
  std::vector<ContextInfo> contexts_;
  std::vector<std::string> input_names_;
  std::vector<std::pair<uint64_t, uint64_t>> old_values_;    // by event index, ascending
  std::vector<std::pair<uint64_t, SymbolicInfo>> symbolic_;  // by event index, ascending
  std::map<std::string, std::vector<VariableId>> declared_sets_;
  std::string program_;
  std::vector<std::string> remarks_;
  bool ends_early_ = false;
  TableChanges changes_;
};

// Builds a Trace event by event. The named lookups (thread("T1")) create on first use, so tests read well:
//   TraceBuilder b;  b.read("T1", "x", 0);  b.write("T2", "x", 5);  Trace t = std::move(b).build();
class TraceBuilder {
 public:
  ThreadId thread(std::string_view name);
  VariableId variable(std::string_view name);
  SyncId sync(std::string_view name, SyncKind kind = SyncKind::Unknown);
  UnitNameId unit_name(std::string_view name);
  uint32_t input_name(std::string_view name);

  ThreadId add_thread(ThreadInfo info);
  VariableId add_variable(VariableInfo info);
  VariableId add_variable(std::string_view name);  // one of which nothing but the name is known
  ObjectId add_object(ObjectInfo info);
  SyncId add_sync(SyncInfo info);
  SiteId add_site(SiteInfo info);     // equal sites get one id
  SiteId append_site(SiteInfo info);  // one that is known to be new; not to be mixed with add_site
  UnitNameId add_unit_name(UnitNameInfo info);
  ContextId add_context(ContextInfo info);  // equal contexts get one id

  // Appends in trace order and returns the position.
  EventIndex add(const Event& event);
  EventIndex add_update(const Event& event, uint64_t old_value);
  void annotate(EventIndex index, SymbolicInfo info);
  void declare_set(std::string_view set, VariableId member);
  void set_initial(VariableId variable, uint64_t value);
  void set_program(std::string program) { trace_.program_ = std::move(program); }
  void remark(std::string sentence) { trace_.remarks_.push_back(std::move(sentence)); }
  void set_ends_early(bool early) { trace_.ends_early_ = early; }
  void reserve(size_t events) { trace_.events_.reserve(events); }
  size_t size() const { return trace_.events_.size(); }
  // All variables at once, in place of those there are.
  void set_variables(VariableTable variables) { trace_.variables_ = std::move(variables); }
  // Behind those there are.
  void add_variables(VariableTable variables) { trace_.variables_.append(std::move(variables)); }
  // What has been built so far; for sources whose tables grow while their events are handed on elsewhere.
  const Trace& tables() const { return trace_; }

  VariableInfo& variable_info(VariableId id) { return trace_.variables_.all()[raw(id)]; }
  SyncInfo& sync_info(SyncId id) { return trace_.syncs_[raw(id)]; }
  ThreadInfo& thread_info(ThreadId id) { return trace_.threads_[raw(id)]; }
  ObjectInfo& object_info(ObjectId id) { return trace_.objects_[raw(id)]; }
  void set_outer(ObjectId object, ObjectId outer) {
    trace_.objects_[raw(object)].outer = outer;
    trace_.changes_.outer_set.push_back(object);
  }

  // The variable turned out to be a field of an object.
  void moved(VariableId variable) { trace_.changes_.moved.push_back(variable); }
  // The first so many changes are known to all who want to know; counted from the beginning.
  void drop_changes(size_t outer_set, size_t moved);

  // For tests and generators: one line an event.
  EventIndex read(std::string_view thread, std::string_view variable, uint64_t value);
  EventIndex write(std::string_view thread, std::string_view variable, uint64_t value);
  EventIndex update(std::string_view thread, std::string_view variable, uint64_t old_value, uint64_t value);
  EventIndex acquire(std::string_view thread, std::string_view lock);
  EventIndex release(std::string_view thread, std::string_view lock);
  EventIndex begin(std::string_view thread, std::string_view unit);
  EventIndex end(std::string_view thread);
  EventIndex fork(std::string_view thread, std::string_view child);
  EventIndex join(std::string_view thread, std::string_view child);

  Trace build() &&;

 private:
  Trace trace_;
  std::map<std::string, uint32_t, std::less<>> thread_ids_, variable_ids_, sync_ids_, unit_ids_, input_ids_;
  std::map<std::string, uint32_t, std::less<>> site_ids_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> context_ids_;
};

}  // namespace cleave
