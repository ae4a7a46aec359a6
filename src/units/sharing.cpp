#include "units/sharing.h"

#include <algorithm>
#include <numeric>

namespace cleave::units {
namespace {

// Union-find over small numbers.
class Classes {
 public:
  uint32_t make() {
    parent_.push_back(static_cast<uint32_t>(parent_.size()));
    return parent_.back();
  }
  uint32_t find(uint32_t x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  void unite(uint32_t a, uint32_t b) { parent_[std::max(find(a), find(b))] = std::min(find(a), find(b)); }

 private:
  std::vector<uint32_t> parent_;
};

}  // namespace

Sharing::Sharing(const Trace& trace, SetMap& sets) : variables_(trace.variable_count()) {
  find_alone(trace);
  for (size_t e = 0; e < trace.size(); ++e) {
    const Event& event = trace.events()[e];
    if (!is_access(event.kind) || alone_[e]) continue;
    note(variables_[event.object].user, event.thread);
    if (writes(event.kind)) note(variables_[event.object].writer, event.thread);
  }
  find_groups(trace, sets);
}

// A thread that is detached, or never joined, runs until its last event.
void Sharing::find_alone(const Trace& trace) {
  alone_.assign(trace.size(), false);
  std::vector<uint64_t> last(trace.threads().size(), 0);
  for (size_t e = 0; e < trace.size(); ++e) last[raw(trace.events()[e].thread)] = e;
  std::vector<bool> running(trace.threads().size(), false);
  size_t count = 0;
  auto set = [&](ThreadId thread, bool runs) {
    if (raw(thread) >= running.size() || running[raw(thread)] == runs) return;
    running[raw(thread)] = runs;
    runs ? ++count : --count;
  };
  for (size_t e = 0; e < trace.size(); ++e) {
    const Event& event = trace.events()[e];
    if (last[raw(event.thread)] >= e) set(event.thread, true);
    if (event.kind == EventKind::Fork && last[raw(event.other())] > e) set(event.other(), true);
    if (event.kind == EventKind::Join) set(event.other(), false);
    alone_[e] = count <= 1;
    if (last[raw(event.thread)] == e) set(event.thread, false);
  }
}

void Sharing::find_groups(const Trace& trace, SetMap& sets) {
  Classes classes;
  boost::unordered_flat_map<uint64_t, uint32_t> keys;
  auto number = [&](uint64_t kind, uint32_t id) {
    auto [it, fresh] = keys.try_emplace(kind << 32 | id, 0);
    if (fresh) it->second = classes.make();
    return it->second;
  };
  std::vector<uint32_t> of(variables_.size());
  for (size_t v = 0; v < variables_.size(); ++v) {
    const VariableInfo& info = trace.variable(VariableId{static_cast<uint32_t>(v)});
    const SetId set = sets.set_of(VariableId{static_cast<uint32_t>(v)});
    ObjectId object = info.object;
    while (object != kNone<ObjectId> && trace.object(object).outer != kNone<ObjectId>)
      object = trace.object(object).outer;
    of[v] = number(0, raw(set));
    if (object == kNone<ObjectId>) continue;
    // An atomic is a set of its own; here it is one with the object it is in.
    of[v] = number(1, raw(object));
    if (!sets.info(set).atomic) classes.unite(of[v], number(0, raw(set)));
  }
  for (size_t v = 0; v < variables_.size(); ++v) variables_[v].group = GroupId{classes.find(of[v])};
}

}  // namespace cleave::units
