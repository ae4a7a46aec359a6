// Small helpers on TraceBuilder, so that a test reads like the text trace.
#pragma once

#include <string>

#include "trace/core/trace.h"

namespace cleave::oracle {

struct Program {
  TraceBuilder b;
  EventIndex read(const char* t, const char* v, uint64_t value, std::string bound = "") {
    EventIndex e = b.read(t, v, value);
    if (!bound.empty()) b.annotate(e, {bound, ""});
    return e;
  }
  EventIndex write(const char* t, const char* v, uint64_t value, std::string expression = "") {
    EventIndex e = b.write(t, v, value);
    if (!expression.empty()) b.annotate(e, {"", expression});
    return e;
  }
  EventIndex assume(const char* t, std::string condition) {
    EventIndex e = b.add({.kind = EventKind::Assume, .thread = b.thread(t)});
    b.annotate(e, {"", condition});
    return e;
  }
  EventIndex sync(const char* t, EventKind kind, const char* object, const char* object2 = nullptr) {
    Event e{.kind = kind, .thread = b.thread(t), .object = raw(b.sync(object))};
    if (object2) e.object2 = raw(b.sync(object2));
    return b.add(e);
  }
  Trace done() { return std::move(b).build(); }
};

}  // namespace cleave::oracle
