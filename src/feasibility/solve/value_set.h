// Values that something may have: a few, or any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "feasibility/lift/expression.h"

namespace cleave {

class ValueSet {
 public:
  static constexpr size_t kMost = 128;  // beyond, any value is possible

  static ValueSet of(uint64_t value) {
    ValueSet set;
    set.values_.push_back(value);
    return set;
  }
  static ValueSet anything() {
    ValueSet set;
    set.any_ = true;
    return set;
  }

  bool any() const { return any_; }
  bool empty() const { return !any_ && values_.empty(); }
  bool single() const { return !any_ && values_.size() == 1; }
  const std::vector<uint64_t>& values() const { return values_; }  // ascending; not if any
  // Grows with the set: two sets of which one contains the other are equal if their measures are.
  size_t measure() const { return any_ ? kMost + 1 : values_.size(); }

  void add(uint64_t value) {
    if (any_) return;
    auto it = std::lower_bound(values_.begin(), values_.end(), value);
    if (it != values_.end() && *it == value) return;
    values_.insert(it, value);
    if (values_.size() > kMost) *this = anything();
  }
  void add(const ValueSet& other, uint8_t width = kInteger) {
    if (other.any_) *this = anything();
    for (uint64_t value : other.values_) add(truncate(value, width));
  }
  bool contains(uint64_t value) const {
    return any_ || std::binary_search(values_.begin(), values_.end(), value);
  }
  ValueSet common(const ValueSet& other) const {
    if (any_) return other;
    ValueSet set;
    for (uint64_t value : values_) {
      if (other.contains(value)) set.values_.push_back(value);
    }
    return set;
  }
  // Whether some value of it, cut to that width, is in the other.
  bool meets(const ValueSet& other, uint8_t width) const {
    if (any_) return !other.empty();
    return std::any_of(values_.begin(), values_.end(),
                       [&](uint64_t value) { return other.contains(truncate(value, width)); });
  }

 private:
  bool any_ = false;
  std::vector<uint64_t> values_;
};

}  // namespace cleave
