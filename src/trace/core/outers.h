// Objects that lie in others, by value.
#pragma once

#include <span>

#include "trace/core/trace.h"

namespace cleave {

// Whether following `outer` from this object comes to an end. Text and damaged files may go round in a
// circle, and no program has members so deep.
inline bool outers_end(std::span<const ObjectInfo> objects, ObjectId of) {
  constexpr int kDeepest = 64;
  for (int depth = 0; depth < kDeepest; ++depth) {
    if (of == kNone<ObjectId>) return true;
    if (raw(of) >= objects.size()) return false;
    of = objects[raw(of)].outer;
  }
  return false;
}

}  // namespace cleave
