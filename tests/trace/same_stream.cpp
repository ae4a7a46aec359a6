#include "trace/same_stream.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "trace/live/read_ahead.h"
#include "trace/recorded/reader.h"

namespace cleave {
namespace {

std::string text_of(const Trace& tables, ObjectId id) {
  std::string text;
  for (int depth = 0; id != kNone<ObjectId> && depth < 100; ++depth) {
    const ObjectInfo& info = tables.object(id);
    text += fmt::format("<{}|{}|{:x}|{}>", info.name, info.type, info.address, info.size);
    id = info.outer;
  }
  return text;
}

std::string text_of(const Trace& tables, VariableId id) {
  const VariableInfo& info = tables.variable(id);
  return fmt::format("{}|{:x}|{}|{}|{}|{}|{}|{}|{}|{}", info.name, info.address, info.size,
                     text_of(tables, info.object), info.field, info.initial, info.initial_known, info.flags,
                     info.home, info.set);
}

std::string text_of(const Trace& tables, SyncId id) {
  const SyncInfo& info = tables.sync(id);
  return fmt::format("{}|{}|{:x}|{}", info.name, static_cast<int>(info.kind), info.address, info.initial);
}

// Which id of the one stream is which of the other. Of the other no two things ever share one.
class Pairing {
 public:
  // Empty, or what is wrong.
  std::string meet(uint32_t reused, uint32_t own) {
    if (ended_.contains(own)) return fmt::format("{} is used after it ended", own);
    auto [it, fresh] = pairs_.emplace(reused, own);
    if (it->second != own) return fmt::format("{} is {} and {} at a time", reused, it->second, own);
    if (fresh && !met_.insert(own).second) return fmt::format("{} has two ids", own);
    return {};
  }
  std::string end(uint32_t reused) {
    auto it = pairs_.find(reused);
    if (it == pairs_.end()) return {};  // no event had it
    ended_.insert(it->second);
    pairs_.erase(it);
    return {};
  }

 private:
  std::map<uint32_t, uint32_t> pairs_;
  std::set<uint32_t> met_, ended_;
};

class Comparison {
 public:
  Comparison(const EventSource& reusing, const EventSource& plain) : reusing_(reusing), plain_(plain) {}

  std::string batch(std::span<const Event> reused, std::span<const Event> own) {
    if (reused.size() != own.size()) return "batches of different sizes";
    if (reusing_.splits().size() != plain_.splits().size()) return "different splits";
    for (size_t i = 0; i < plain_.splits().size(); ++i) {
      const VariableSplit &a = reusing_.splits()[i], &b = plain_.splits()[i];
      if (a.parts.size() != b.parts.size()) return "different parts";
      if (a.before != b.before) return "splits at different places";
      if (std::string wrong = both(a.whole, b.whole); !wrong.empty()) return "whole: " + wrong;
      for (size_t part = 0; part < a.parts.size(); ++part) {
        if (std::string wrong = both(a.parts[part], b.parts[part]); !wrong.empty()) return "part: " + wrong;
      }
    }
    for (size_t i = 0; i < own.size(); ++i) {
      std::string wrong = event(reused[i], own[i]);
      if (wrong.empty() && own[i].kind == EventKind::Update && reusing_.old_value(i) != plain_.old_value(i))
        wrong = "old value";
      if (!wrong.empty())
        return fmt::format("event {} of the batch ({}): {}", i, word_of(own[i].kind), wrong);
    }
    return end();
  }

 private:
  template <typename Id>
  std::string both(Id reused, Id own) {
    if ((reused == kNone<Id>) != (own == kNone<Id>)) return "one has an id";
    if (own == kNone<Id>) return {};
    std::string a = text_of(reusing_.tables(), reused), b = text_of(plain_.tables(), own);
    if (a != b) return a + " instead of " + b;
    if constexpr (std::is_same_v<Id, VariableId>) {
      ObjectId object = reusing_.tables().variable(reused).object,
               other = plain_.tables().variable(own).object;
      if (std::string wrong = both(object, other); !wrong.empty()) return wrong;
      return variables_.meet(raw(reused), raw(own));
    } else if constexpr (std::is_same_v<Id, ObjectId>) {
      ObjectId outer = reusing_.tables().object(reused).outer, other = plain_.tables().object(own).outer;
      if (std::string wrong = both(outer, other); !wrong.empty()) return wrong;
      return objects_.meet(raw(reused), raw(own));
    } else {
      return syncs_.meet(raw(reused), raw(own));
    }
  }

  enum What { None, Variable, Sync, Thread, UnitName, Object, Input };
  std::string operand(What what, uint32_t reused, uint32_t own) {
    if (what == Variable) return both(VariableId{reused}, VariableId{own});
    if (what == Sync) return both(SyncId{reused}, SyncId{own});
    if (what == Object) return both(ObjectId{reused}, ObjectId{own});
    return reused == own ? "" : "operand";
  }

  std::string event(Event reused, Event own) {
    What object = None, object2 = None;
    switch (own.kind) {
#define CLEAVE_EVENT(name, number, word, what, what2) \
  case EventKind::name:                               \
    object = what;                                    \
    object2 = what2;                                  \
    break;
#include "trace/core/event_kinds.def"
#undef CLEAVE_EVENT
    }
    if (std::string wrong = operand(object, reused.object, own.object); !wrong.empty()) return wrong;
    if (std::string wrong = operand(object2, reused.object2, own.object2); !wrong.empty()) return wrong;
    reused.object = own.object;
    reused.object2 = own.object2;
    return reused == own ? "" : "the event itself";
  }

  template <typename Id>
  static std::string end(const std::vector<Id>& ids, size_t entries, Pairing& pairing, const char* what) {
    std::set<Id> once;
    for (Id id : ids) {
      if (raw(id) >= entries) return fmt::format("{} {} ended and never was", what, raw(id));
      if (!once.insert(id).second) return fmt::format("{} {} ended twice", what, raw(id));
      if (std::string wrong = pairing.end(raw(id)); !wrong.empty()) return wrong;
    }
    return {};
  }
  std::string end() {
    const FreedIds& freed = reusing_.freed();
    const Trace& tables = reusing_.tables();
    std::string wrong = end(freed.variables, tables.variables().size(), variables_, "variable");
    if (wrong.empty()) wrong = end(freed.objects, tables.objects().size(), objects_, "object");
    if (wrong.empty()) wrong = end(freed.syncs, tables.syncs().size(), syncs_, "sync");
    return wrong;
  }

  const EventSource &reusing_, &plain_;
  Pairing variables_, objects_, syncs_;
};

std::vector<Event> list(std::span<const Event> events) { return {events.begin(), events.end()}; }

// What ReadAhead makes of the same: the same ids, since they are used again in a defined order.
std::string same(const EventSource& ahead, const EventSource& direct, bool tables) {
  const FreedIds &a = ahead.freed(), &b = direct.freed();
  if (a.variables != b.variables || a.objects != b.objects || a.syncs != b.syncs)
    return "ahead: something else ended";
  if (ahead.splits().size() != direct.splits().size()) return "ahead: splits";
  if (!tables) return {};
  const TableChanges &c = ahead.tables().changes(), &d = direct.tables().changes();
  if (c.outer_set != d.outer_set || c.moved != d.moved) return "ahead: changes";
  return ahead.tables() == direct.tables() ? "" : "ahead: tables";
}

}  // namespace

StreamComparison compare_streams(const std::string& path, bool tables) {
  StreamComparison result;
  auto plain = open_binary_trace(path), reusing = open_binary_trace(path, {.reuse_ids = true}),
       under = open_binary_trace(path, {.reuse_ids = true});
  if (!plain.ok() || !reusing.ok() || !under.ok()) {
    result.difference = "cannot be opened";
    return result;
  }
  ReadAhead ahead(*under.value());
  Comparison comparison(*reusing.value(), *plain.value());
  for (;; ++result.batches) {
    auto own = plain.value()->next(), reused = reusing.value()->next(), mirrored = ahead.next();
    if (!own.ok() || !reused.ok() || !mirrored.ok()) {
      result.difference = "an error";
    } else {
      result.difference = comparison.batch(reused.value(), own.value());
      if (result.difference.empty() && list(mirrored.value()) != list(reused.value()))
        result.difference = "ahead: events";
      if (result.difference.empty()) result.difference = same(ahead, *reusing.value(), tables);
    }
    if (!result.difference.empty() || own.value().empty()) break;
    const FreedIds& freed = reusing.value()->freed();
    result.events += own.value().size();
    result.splits += plain.value()->splits().size();
    result.freed_variables += freed.variables.size();
    result.freed_objects += freed.objects.size();
    result.freed_syncs += freed.syncs.size();
  }
  const Trace &small = reusing.value()->tables(), &large = plain.value()->tables();
  result.variables = small.variable_count(), result.all_variables = large.variable_count();
  result.objects = small.objects().size(), result.all_objects = large.objects().size();
  result.syncs = small.syncs().size(), result.all_syncs = large.syncs().size();
  if (!result.difference.empty()) result.difference += fmt::format(" (batch {})", result.batches);
  return result;
}

}  // namespace cleave
