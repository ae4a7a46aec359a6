// The variables of a trace.
//
// A generated trace may have a million of which nothing is known but a name: they are kept as text, 8 bytes and the name
// each, until somebody asks for one of them. A checker that finds nothing never does.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace cleave {

struct VariableInfo {
  std::string name;                      // as in the source: total, Account::balance, slots[3], malloc@f.c:12+8
  uint64_t address = 0;                  // 0 in text traces
  uint32_t size = 0;
  ObjectId object = kNone<ObjectId>;     // the instance it lies in, if any
  std::string field;                     // name of the field within that instance's type; empty if none
  uint64_t initial = 0;                  // value before the first event
  bool initial_known = false;            // said by `init`, or a zero-initialised global; else assumed 0
  // What decides its set (model/sets.h).
  enum Flags : uint32_t { kAtomic = 1, kConst = 2, kOwned = 4 };  // std::atomic; const; CLEAVE_OWNED pointer
  uint32_t flags = 0;
  std::string home;                      // class of a static field, file of a file-scope static of C; else empty
  std::string set;                       // CLEAVE_SET of the field; else empty
  friend bool operator==(const VariableInfo&, const VariableInfo&) = default;
};

class VariableTable {
 public:
  VariableTable() = default;
  VariableTable(const VariableTable& other) : made_(other.all()) {}
  VariableTable(VariableTable&& other) noexcept { *this = std::move(other); }
  VariableTable& operator=(const VariableTable& other) { return *this = VariableTable(other); }
  VariableTable& operator=(VariableTable&& other) noexcept;

  size_t size() const { return bare() ? ends_.size() : made_.size(); }
  // Made on the first call: O(variables) then. Several threads may ask for the same table.
  const std::vector<VariableInfo>& all() const {
    if (bare()) make();
    return made_;
  }
  std::vector<VariableInfo>& all() {
    if (bare()) make();
    return made_;
  }
  bool only_names() const { return bare(); }
  void add(VariableInfo info);
  void add_name(std::string_view name);

  friend bool operator==(const VariableTable& a, const VariableTable& b) { return a.all() == b.all(); }

 private:
  bool bare() const { return bare_.load(std::memory_order_acquire); }
  void make() const;

  // All of them are only names.
  mutable std::atomic<bool> bare_ = false;
  mutable std::string names_;          // one after the other
  mutable std::vector<uint64_t> ends_;  // of each name in names_
  mutable std::vector<VariableInfo> made_;
};

}  // namespace cleave
