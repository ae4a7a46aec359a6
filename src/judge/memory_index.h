// What happened at each location: who wrote which value, what it was before and after the run. Private to
// check/.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "trace/core/trace.h"

namespace cleave::judge {

// Accesses of one location by value written, by value read, and by thread, in trace order.
struct Values {
  std::unordered_map<uint64_t, std::vector<EventIndex>> written, read;
  std::map<ThreadId, std::vector<EventIndex>> by_thread;
};

// One pass over the trace when built; the values of a location are grouped when they are first asked for.
class MemoryIndex {
 public:
  explicit MemoryIndex(const Trace& trace);

  // Accesses of a location, in trace order.
  std::span<const EventIndex> accesses(VariableId variable) const {
    return std::span(accesses_).subspan(begin_[raw(variable)],
                                        begin_[raw(variable) + 1] - begin_[raw(variable)]);
  }
  // Accesses of a thread between two positions, both included, in trace order.
  std::span<const EventIndex> accesses(ThreadId thread, EventIndex first, EventIndex last) const;
  const Values& values_of(VariableId variable) const;
  uint64_t initial(VariableId variable) const { return initial_[raw(variable)]; }
  uint64_t final(VariableId variable) const { return final_[raw(variable)]; }
  // Every read of it returned the last recorded write: else something wrote it that was not recorded, and
  // nothing can be proved from its values.
  bool explained(VariableId variable) const { return explained_[raw(variable)]; }
  // Written by someone and touched by at least two threads: else program order alone explains it.
  bool shared(VariableId variable) const { return shared_[raw(variable)]; }
  uint64_t value_read(EventIndex read) const;

 private:
  const Trace& trace_;
  std::vector<uint64_t> begin_;  // offsets into accesses_, by variable
  std::vector<EventIndex> accesses_;
  std::vector<std::vector<EventIndex>> by_thread_;
  std::vector<uint64_t> initial_, final_;
  std::vector<bool> explained_, shared_;
  mutable std::unordered_map<uint32_t, std::unique_ptr<Values>> values_;
};

}  // namespace cleave::judge
