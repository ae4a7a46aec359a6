#include "judge/memory_index.h"

#include <algorithm>

namespace cleave::judge {

MemoryIndex::MemoryIndex(const Trace& trace)
    : trace_(trace),
      begin_(trace.variables().size() + 1, 0),
      by_thread_(trace.threads().size()),
      explained_(trace.variables().size(), true),
      shared_(trace.variables().size(), false) {
  for (const VariableInfo& variable : trace.variables()) initial_.push_back(variable.initial);
  for (const Event& event : trace.events()) {
    if (is_access(event.kind)) ++begin_[event.object + 1];
  }
  for (size_t v = 1; v < begin_.size(); ++v) begin_[v] += begin_[v - 1];
  accesses_.resize(begin_.back());

  std::vector<uint64_t> next(begin_.begin(), begin_.end() - 1);
  std::vector<uint64_t> memory = initial_;
  std::vector<bool> written(memory.size(), false), several(memory.size(), false);
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace.events()[i];
    if (!is_access(event.kind)) continue;
    const uint32_t variable = event.object;
    const EventIndex index = id_of<EventIndex>(i);
    const bool first = next[variable] == begin_[variable];
    if (!first && trace.event(accesses_[begin_[variable]]).thread != event.thread) several[variable] = true;
    accesses_[next[variable]++] = index;
    by_thread_[raw(event.thread)].push_back(index);
    if (reads(event.kind)) {
      const uint64_t value = value_read(index);
      // What a location held before the run is often known only from the first read of it.
      if (first && !trace.variables()[variable].initial_known) initial_[variable] = memory[variable] = value;
      if (memory[variable] != value) explained_[variable] = false;
    }
    if (writes(event.kind)) {
      memory[variable] = event.value;
      written[variable] = true;
    }
  }
  final_ = std::move(memory);
  for (size_t v = 0; v < shared_.size(); ++v) shared_[v] = written[v] && several[v];
}

std::span<const EventIndex> MemoryIndex::accesses(ThreadId thread, EventIndex first, EventIndex last) const {
  const auto& own = by_thread_[raw(thread)];
  const auto begin = std::lower_bound(own.begin(), own.end(), first);
  return {begin, std::upper_bound(begin, own.end(), last)};
}

uint64_t MemoryIndex::value_read(EventIndex read) const {
  const Event& event = trace_.event(read);
  return event.kind == EventKind::Update ? trace_.old_value(read) : event.value;
}

const Values& MemoryIndex::values_of(VariableId variable) const {
  std::unique_ptr<Values>& slot = values_[raw(variable)];
  if (slot == nullptr) {
    slot = std::make_unique<Values>();
    for (EventIndex index : accesses(variable)) {
      const Event& event = trace_.event(index);
      if (writes(event.kind)) slot->written[event.value].push_back(index);
      if (reads(event.kind)) slot->read[value_read(index)].push_back(index);
      slot->by_thread[event.thread].push_back(index);
    }
  }
  return *slot;
}

}  // namespace cleave::judge
