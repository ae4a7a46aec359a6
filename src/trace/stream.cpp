#include "trace/stream.h"

#include <algorithm>

namespace cleave {

Result<std::span<const Event>> TraceSource::next() {
  begin_ = end_;
  end_ = std::min(begin_ + kBatch, trace_.size());
  return trace_.events().subspan(begin_, end_ - begin_);
}

uint64_t TraceSource::old_value(size_t position) const {
  return trace_.old_value(id_of<EventIndex>(begin_ + position));
}

}  // namespace cleave
