#include "trace/core/event.h"

namespace cleave {

std::string_view word_of(EventKind kind) {
  switch (kind) {
#define CLEAVE_EVENT(name, number, word, object, object2) \
  case EventKind::name:                                   \
    return word;
#include "trace/core/event_kinds.def"
#undef CLEAVE_EVENT
  }
  return "?";
}

}  // namespace cleave
