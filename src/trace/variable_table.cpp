#include "trace/variable_table.h"

#include <mutex>

#include "base/huge_pages.h"

namespace cleave {

VariableTable& VariableTable::operator=(VariableTable&& other) noexcept {
  names_ = std::move(other.names_);
  ends_ = std::move(other.ends_);
  made_ = std::move(other.made_);
  bare_ = other.bare_.exchange(false);
  return *this;
}

void VariableTable::make() const {
  static std::mutex one_at_a_time;
  std::lock_guard guard(one_at_a_time);
  if (!bare()) return;
  made_.reserve(ends_.size());
  uint64_t begin = 0;
  for (uint64_t end : ends_) {
    made_.push_back({.name = names_.substr(begin, end - begin)});
    begin = end;
  }
  names_ = {};
  ends_ = {};
  bare_.store(false, std::memory_order_release);
}

void VariableTable::add(VariableInfo info) {
  if (bare()) make();
  grow_on_huge_pages(made_);
  made_.push_back(std::move(info));
}

void VariableTable::add_name(std::string_view name) {
  if (!bare()) {
    if (!made_.empty()) return add({.name = std::string(name)});
    bare_ = true;
  }
  names_ += name;
  ends_.push_back(names_.size());
}

}  // namespace cleave
