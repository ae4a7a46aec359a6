// Random executions in which objects, variables and locks come and go, and a source that gives them out in
// batches: with an id for everything there ever was, or with ids that are used again as soon as that is
// permitted.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "trace/core/stream.h"
#include "trace/core/trace.h"
#include "trace/core/unit_flags.h"

namespace cleave::conflict {

// What happens, with an id for everything. Positions count events; what has an `end` is not in events from
// there on.
struct Lives {
  template <typename Info>
  struct Life {
    Info info;
    size_t begin;
  };
  struct Change {
    size_t at;
    bool moved;  // of a variable; else an object's outer
    uint32_t id;
    ObjectId to;
  };
  struct Split {
    size_t at;
    VariableId whole;
    std::vector<VariableId> parts;
  };
  struct End {
    size_t at;
    FreedIds ids;
  };
  static constexpr SiteId kPlain{0}, kThroughOwn{1};  // places of accesses
  unsigned threads = 0;
  std::vector<UnitNameInfo> unit_names;
  std::vector<Life<VariableInfo>> variables;
  std::vector<Life<ObjectInfo>> objects;
  std::vector<Life<SyncInfo>> syncs;
  std::vector<Change> changes;
  std::vector<Split> splits;
  std::vector<End> ends;
  std::vector<Event> events;
};

class LivesSource final : public EventSource {
 public:
  LivesSource(const Lives& lives, bool reuse, uint64_t seed, size_t longest)
      : lives_(lives), reuse_(reuse), random_(seed), longest_(longest) {
    for (unsigned t = 0; t < lives.threads; ++t) builder_.add_thread({.name = "T" + std::to_string(t)});
    for (const UnitNameInfo& name : lives.unit_names) builder_.add_unit_name(name);
    for (bool through : {false, true}) builder_.add_site({.file = "f.cpp", .through_own = through});
  }

  Result<std::span<const Event>> next() override {
    free_.variables.insert(free_.variables.end(), freed_.variables.begin(), freed_.variables.end());
    free_.objects.insert(free_.objects.end(), freed_.objects.begin(), freed_.objects.end());
    free_.syncs.insert(free_.syncs.end(), freed_.syncs.begin(), freed_.syncs.end());
    freed_.clear();
    splits_.clear();
    const size_t begin = end_;
    end_ = std::min(lives_.events.size(), begin + 1 + random_.below(longest_));
    for (const Lives::Split& split : lives_.splits) {
      if (split.at > begin && random_.below(2) == 0) end_ = std::min(end_, split.at);
    }
    be_born();
    change();
    for (const Lives::Split& split : lives_.splits) {
      if (split.at >= begin && split.at < end_) give_split(split, split.at - begin);
    }
    batch_.clear();
    for (size_t i = begin; i < end_; ++i) batch_.push_back(renamed(lives_.events[i]));
    for (; reuse_ && ended_ < lives_.ends.size() && lives_.ends[ended_].at <= end_; ++ended_)
      end(lives_.ends[ended_].ids);
    return std::span<const Event>(batch_);
  }
  std::span<const VariableSplit> splits() const override { return splits_; }
  const FreedIds& freed() const override { return freed_; }
  uint64_t old_value(size_t) const override { return 0; }
  const Trace& tables() const override { return builder_.tables(); }

 private:
  template <typename Id>
  static Id take(std::vector<Id>& free) {
    if (free.empty()) return kNone<Id>;
    Id id = free.back();
    free.pop_back();
    return id;
  }
  ObjectId now(ObjectId object) const { return object == kNone<ObjectId> ? object : objects_[raw(object)]; }

  void be_born() {
    while (objects_.size() < lives_.objects.size() && lives_.objects[objects_.size()].begin <= end_) {
      const ObjectInfo& info = lives_.objects[objects_.size()].info;
      ObjectId id = take(free_.objects);
      id != kNone<ObjectId> ? void(builder_.object_info(id) = info) : void(id = builder_.add_object(info));
      objects_.push_back(id);
    }
    while (variables_.size() < lives_.variables.size() && lives_.variables[variables_.size()].begin <= end_) {
      VariableInfo info = lives_.variables[variables_.size()].info;
      info.object = now(info.object);
      VariableId id = take(free_.variables);
      id != kNone<VariableId> ? void(builder_.variable_info(id) = info)
                              : void(id = builder_.add_variable(info));
      variables_.push_back(id);
    }
    while (syncs_.size() < lives_.syncs.size() && lives_.syncs[syncs_.size()].begin <= end_) {
      const SyncInfo& info = lives_.syncs[syncs_.size()].info;
      SyncId id = take(free_.syncs);
      id != kNone<SyncId> ? void(builder_.sync_info(id) = info) : void(id = builder_.add_sync(info));
      syncs_.push_back(id);
    }
  }
  void change() {
    for (; changed_ < lives_.changes.size() && lives_.changes[changed_].at <= end_; ++changed_) {
      const Lives::Change& change = lives_.changes[changed_];
      if (change.moved) {
        builder_.variable_info(variables_[change.id]).object = now(change.to);
        builder_.moved(variables_[change.id]);
      } else {
        builder_.set_outer(objects_[change.id], now(change.to));
      }
    }
  }
  void give_split(const Lives::Split& split, size_t before) {
    VariableSplit given{.whole = variables_[raw(split.whole)], .parts = {}, .before = before};
    for (VariableId part : split.parts) given.parts.push_back(variables_[raw(part)]);
    splits_.push_back(std::move(given));
  }
  Event renamed(Event event) const {
    switch (event.kind) {
      case EventKind::Read:
      case EventKind::Write:
      case EventKind::Update:
        event.object = raw(variables_[event.object]);
        break;
      case EventKind::Begin:
        event.object2 = raw(now(event.self()));
        break;
      case EventKind::Alloc:
      case EventKind::Free:
        event.object = raw(now(event.allocation()));
        break;
      case EventKind::Wait:
      case EventKind::Wake:
        event.object2 = raw(syncs_[event.object2]);
        [[fallthrough]];
      case EventKind::Acquire:
      case EventKind::Release:
      case EventKind::AcquireShared:
      case EventKind::ReleaseShared:
        event.object = raw(syncs_[event.object]);
        break;
      default:
        break;
    }
    return event;
  }
  void end(const FreedIds& ids) {
    for (VariableId id : ids.variables) freed_.variables.push_back(variables_[raw(id)]);
    for (ObjectId id : ids.objects) freed_.objects.push_back(objects_[raw(id)]);
    for (SyncId id : ids.syncs) freed_.syncs.push_back(syncs_[raw(id)]);
  }

  const Lives& lives_;
  bool reuse_;
  Random random_;
  size_t longest_;
  TraceBuilder builder_;
  std::vector<VariableId> variables_;
  std::vector<ObjectId> objects_;
  std::vector<SyncId> syncs_;
  FreedIds free_, freed_;
  std::vector<VariableSplit> splits_;
  std::vector<Event> batch_;
  size_t end_ = 0, changed_ = 0, ended_ = 0;
};

}  // namespace cleave::conflict
