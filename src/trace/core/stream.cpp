#include "trace/core/stream.h"

#include <algorithm>

namespace cleave {

void FreedIds::append(const FreedIds& more) {
  variables.insert(variables.end(), more.variables.begin(), more.variables.end());
  objects.insert(objects.end(), more.objects.begin(), more.objects.end());
  syncs.insert(syncs.end(), more.syncs.begin(), more.syncs.end());
}

Result<std::span<const Event>> TraceSource::next() {
  begin_ = end_;
  end_ = std::min(begin_ + kBatch, trace_.size());
  return trace_.events().subspan(begin_, end_ - begin_);
}

uint64_t TraceSource::old_value(size_t position) const {
  return trace_.old_value(id_of<EventIndex>(begin_ + position));
}

}  // namespace cleave
