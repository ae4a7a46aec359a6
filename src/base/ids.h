// Ids are types: an id of one kind cannot be passed where another is meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>

namespace cleave {

enum class ThreadId : uint32_t {};
enum class VariableId : uint32_t {};  // one memory location: an atom that no access of the trace splits
enum class SyncId : uint32_t {};      // lock, condition variable, semaphore, barrier, once flag
enum class SiteId : uint32_t {};      // a place in the source where an event comes from
enum class ContextId : uint32_t {};   // a node of the calling-context tree
enum class UnitNameId : uint32_t {};  // the declaration of a unit: a function, an annotated stretch
enum class ObjectId : uint32_t {};    // an instance whose fields may form a set
enum class EventIndex : uint64_t {};  // position in the total order of a trace

template <typename Id>
  requires std::is_enum_v<Id>
constexpr Id kNone = static_cast<Id>(std::numeric_limits<std::underlying_type_t<Id>>::max());

template <typename Id>
  requires std::is_enum_v<Id>
constexpr auto raw(Id id) {
  return static_cast<std::underlying_type_t<Id>>(id);
}

template <typename Id>
  requires std::is_enum_v<Id>
constexpr Id id_of(size_t index) {
  return static_cast<Id>(index);
}

}  // namespace cleave
