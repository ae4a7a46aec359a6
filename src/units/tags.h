// Which reads a value carries: a small set of tags, the latest first. A tag is the number of a read among
// those of its thread that are worth following; each is there by data or by control only.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>

namespace cleave::units {

using Tag = uint32_t;

class TagSet {
 public:
  // What was read longer ago is forgotten first: a value that depends on more reads than these has been
  // computed in a loop over a container, and the latest ones tell as much.
  static constexpr size_t kMost = 64;

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  void clear() { entries_.clear(); }
  void add(Tag tag, bool control = false) {
    const uint64_t entry = uint64_t{tag} << 1 | (control ? 1 : 0);
    auto it = entries_.begin();
    while (it != entries_.end() && *it >> 1 > tag) ++it;
    if (it != entries_.end() && *it >> 1 == tag) {
      *it &= entry;
      return;
    }
    entries_.insert(it, entry);
    if (entries_.size() > kMost) entries_.pop_back();
  }
  // `as_control`: all that comes is there by control.
  void add(const TagSet& other, bool as_control = false) {
    if (other.empty()) return;
    if (empty() && !as_control) {
      entries_ = other.entries_;
      return;
    }
    Entries merged;
    const uint64_t *a = entries_.data(), *b = other.entries_.data();
    const uint64_t *a_end = a + entries_.size(), *b_end = b + other.entries_.size();
    while ((a != a_end || b != b_end) && merged.size() < kMost) {
      const uint64_t from_b = b == b_end ? 0 : *b | (as_control ? 1 : 0);
      if (b == b_end || (a != a_end && *a >> 1 > from_b >> 1)) {
        merged.push_back(*a++);
      } else if (a == a_end || from_b >> 1 > *a >> 1) {
        merged.push_back(from_b), ++b;
      } else {
        merged.push_back(*a++ & from_b), ++b;
      }
    }
    entries_ = std::move(merged);
  }
  template <typename Action>  // (Tag, bool control)
  void each(Action&& action) const {
    for (uint64_t entry : entries_) action(static_cast<Tag>(entry >> 1), (entry & 1) != 0);
  }

 private:
  using Entries = boost::container::small_vector<uint64_t, 4>;
  Entries entries_;  // tag << 1 | control, largest first
};

}  // namespace cleave::units
