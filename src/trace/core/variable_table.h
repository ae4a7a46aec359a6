// The variables of a trace.
//
// A generated trace may have a million of which nothing is known but a name: they are kept as text, 8 bytes
// and the name each, until somebody asks for one of them, or as they stand in the file. A checker that finds
// nothing never asks.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace cleave {

struct VariableInfo {
  std::string name;      // as in the source: total, Account::balance, slots[3], malloc@f.c:12+8
  uint64_t address = 0;  // 0 in text traces
  uint32_t size = 0;
  ObjectId object = kNone<ObjectId>;  // the instance it lies in, if any
  std::string field;                  // name of the field within that instance's type; empty if none
  uint64_t initial = 0;               // value before the first event
  bool initial_known = false;         // said by `init`, or a zero-initialised global; else assumed 0
  // What decides its set (units/sets.h).
  enum Flags : uint32_t { kAtomic = 1, kConst = 2, kOwned = 4 };  // std::atomic; const; CLEAVE_OWNED pointer
  uint32_t flags = 0;
  std::string home;  // class of a static field, file of a file-scope static of C; else empty
  std::string set;   // CLEAVE_SET of the field; else empty
  friend bool operator==(const VariableInfo&, const VariableInfo&) = default;
};

class VariableTable {
 public:
  // Puts so many names one after the other into the string, and where each of them ends.
  using GiveNames = std::function<void(size_t count, std::string& names, std::vector<uint64_t>& ends)>;

  VariableTable() = default;
  // Variables of which only names are known, and these when somebody asks for them.
  VariableTable(size_t count, GiveNames names)
      : bare_(count > 0), count_(count), give_names_(count > 0 ? std::move(names) : nullptr) {}
  VariableTable(const VariableTable& other) : made_(other.all()) {}
  VariableTable(VariableTable&& other) noexcept { *this = std::move(other); }
  VariableTable& operator=(const VariableTable& other) { return *this = VariableTable(other); }
  VariableTable& operator=(VariableTable&& other) noexcept;

  size_t size() const { return bare() ? count_ : made_.size(); }
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
  // All of `more` behind those there are.
  void append(VariableTable more);
  // Those from `begin` on, where all are only names.
  VariableTable names_from(size_t begin) const;

  friend bool operator==(const VariableTable& a, const VariableTable& b) { return a.all() == b.all(); }

 private:
  bool bare() const { return bare_.load(std::memory_order_acquire); }
  void make() const;
  void fetch() const;

  // All of them are only names.
  mutable std::atomic<bool> bare_ = false;
  size_t count_ = 0;                    // of them then
  mutable GiveNames give_names_;        // to be asked first
  mutable std::string names_;           // one after the other
  mutable std::vector<uint64_t> ends_;  // of each name in names_
  mutable std::vector<VariableInfo> made_;
};

}  // namespace cleave
