#include "trace/core/variable_table.h"

#include <mutex>
#include <utility>

#include "base/assert.h"
#include "base/huge_pages.h"

namespace cleave {

VariableTable& VariableTable::operator=(VariableTable&& other) noexcept {
  count_ = other.count_;
  give_names_ = std::exchange(other.give_names_, nullptr);
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
  fetch();
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

void VariableTable::fetch() const {
  if (!give_names_) return;
  std::exchange(give_names_, nullptr)(count_, names_, ends_);
  CLEAVE_CHECK(ends_.size() == count_ && ends_.back() <= names_.size(), "names that are fewer than was said");
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
    count_ = 0;
  }
  fetch();
  names_ += name;
  ends_.push_back(names_.size());
  ++count_;
}

void VariableTable::append(VariableTable more) {
  if (more.size() == 0) return;
  if (size() == 0) {
    *this = std::move(more);
  } else if (bare() && more.bare()) {
    fetch();
    more.fetch();
    const uint64_t before = names_.size();
    names_ += more.names_;
    for (uint64_t end : more.ends_) ends_.push_back(before + end);
    count_ = ends_.size();
  } else {
    for (VariableInfo& info : more.all()) add(std::move(info));
  }
}

VariableTable VariableTable::names_from(size_t begin) const {
  CLEAVE_CHECK(bare() || size() == 0, "names of variables of which more is known");
  fetch();
  VariableTable some;
  if (begin >= ends_.size()) return some;
  const uint64_t before = begin == 0 ? 0 : ends_[begin - 1];
  some.bare_ = true;
  some.count_ = ends_.size() - begin;
  some.names_ = names_.substr(before);
  some.ends_.reserve(some.count_);
  for (size_t i = begin; i < ends_.size(); ++i) some.ends_.push_back(ends_[i] - before);
  return some;
}

}  // namespace cleave
