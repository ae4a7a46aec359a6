// Events that are appended one by one: a vector without a copy between where a field is known and where it
// stands. What is written in small pieces and read at once as a whole makes the processor wait.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "trace/core/event.h"

namespace cleave {

class EventList {
 public:
  EventList() = default;
  EventList(EventList&& other) noexcept { *this = std::move(other); }
  EventList& operator=(EventList&& other) noexcept {
    std::swap(events_, other.events_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
    return *this;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Event* begin() const { return events_.get(); }
  const Event* end() const { return events_.get() + size_; }
  const Event* data() const { return events_.get(); }
  void clear() { size_ = 0; }
  void reserve(size_t events) {
    if (events > room_) grow(events);
  }
  // A place for one more, to be filled at once. Valid until the next call.
  Event* append() {
    if (size_ == room_) [[unlikely]]
      grow(std::max<size_t>(64, 2 * room_));
    return events_.get() + size_++;
  }
  // Places for so many, in place of what was there; to be filled at once.
  Event* places(size_t count) {
    size_ = 0;
    reserve(count);
    size_ = count;
    return events_.get();
  }
  // The first so many stay.
  void shorten(size_t count) { size_ = std::min(size_, count); }
  // Places for up to so many more, and how many of them were filled.
  Event* room(size_t events) {
    if (size_ + events > room_) [[unlikely]]
      grow(std::max(size_ + events, 2 * room_));
    return events_.get() + size_;
  }
  void filled(size_t events) { size_ += events; }

 private:
  static_assert(std::is_trivially_copyable_v<Event> && std::is_trivially_destructible_v<Event>);
  struct Free {
    void operator()(Event* events) const { ::operator delete(events); }
  };
  void grow(size_t events) {
    std::unique_ptr<Event[], Free> larger(static_cast<Event*>(::operator new(events * sizeof(Event))));
    if (size_ > 0) std::memcpy(static_cast<void*>(larger.get()), events_.get(), size_ * sizeof(Event));
    events_ = std::move(larger);
    room_ = events;
  }

  std::unique_ptr<Event[], Free> events_;
  size_t size_ = 0, room_ = 0;
};

}  // namespace cleave
