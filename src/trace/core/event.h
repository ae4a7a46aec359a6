// One event of an execution, packed: traces have up to 10^9 of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"

namespace cleave {

enum class EventKind : uint8_t {
#define CLEAVE_EVENT(name, number, word, object, object2) name = number,
#include "trace/core/event_kinds.def"
#undef CLEAVE_EVENT
};

// The largest number: kinds are numbered from 1 without gaps.
inline constexpr unsigned kEventKinds = 0
#define CLEAVE_EVENT(name, number, word, object, object2) +1
#include "trace/core/event_kinds.def"
#undef CLEAVE_EVENT
    ;

// How an access was made. Plain is the program's ordinary load or store.
enum class MemoryOrder : uint8_t { Plain, Relaxed, Consume, Acquire, Release, AcqRel, SeqCst };

std::string_view word_of(EventKind kind);

// Whether the kind is an access of a memory location.
constexpr bool is_access(EventKind kind) { return kind >= EventKind::Read && kind <= EventKind::Update; }
constexpr bool reads(EventKind kind) { return kind == EventKind::Read || kind == EventKind::Update; }
constexpr bool writes(EventKind kind) { return kind == EventKind::Write || kind == EventKind::Update; }

struct Event {
  EventKind kind;
  uint8_t width_and_order = 0;  // low 5 bits: bytes accessed (0: not said), high 3: MemoryOrder
  uint16_t branches =
      0;  // conditional branches since the thread's previous event; more come as Branch events
  ThreadId thread;
  SiteId site = kNone<SiteId>;
  ContextId context = kNone<ContextId>;
  uint32_t object = UINT32_MAX;  // what it means depends on the kind: event_kinds.def
  uint32_t object2 = UINT32_MAX;
  uint64_t value = 0;  // read or written value, bytes allocated, branches

  uint32_t width() const { return width_and_order & 31u; }
  MemoryOrder order() const { return static_cast<MemoryOrder>(width_and_order >> 5); }
  void set_width(uint32_t bytes) {
    width_and_order = static_cast<uint8_t>((width_and_order & 0xe0u) | bytes);
  }
  void set_order(MemoryOrder order) {
    width_and_order = static_cast<uint8_t>((width_and_order & 31u) | (static_cast<unsigned>(order) << 5));
  }
  bool atomic() const { return order() != MemoryOrder::Plain; }

  VariableId variable() const { return VariableId{object}; }
  SyncId sync() const { return SyncId{object}; }
  SyncId mutex() const { return SyncId{object2}; }  // of Wait and Wake
  ThreadId other() const { return ThreadId{object}; }
  UnitNameId unit() const { return UnitNameId{object}; }
  ObjectId self() const { return ObjectId{object2}; }  // of Begin
  ObjectId allocation() const { return ObjectId{object}; }

  friend bool operator==(const Event&, const Event&) = default;
};
static_assert(sizeof(Event) == 32);

}  // namespace cleave
