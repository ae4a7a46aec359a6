// Each unique cycle once: per set and cyclic sequence of unit functions, wherever the sequence is cut open.
//
// A unit that goes on for long and is split over and over is in unique cycles of any size: the sum of their
// sizes is the square of the largest. So of those that split one unit on one set so many are kept whole as
// have kMostSteps units together, and any shorter one; the others are counted.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/conflict/graph.h"
#include "analysis/conflict/names.h"
#include "findings/finding.h"
#include "trace/core/trace.h"

namespace cleave::conflict {

class CycleLog {
 public:
  // All but `sets` must outlive the log. `fresh` is told of each unique cycle when it is first seen.
  CycleLog(Names& names, LockFunctions& lock_functions, SetMap& sets, const Trace& tables,
           std::function<void(const Finding&)> fresh)
      : names_(names),
        lock_functions_(lock_functions),
        one_(sets.one()),
        tables_(tables),
        fresh_(std::move(fresh)) {}

  // Where the units come from, for what shows that they must be atomic. Must outlive the log.
  void set_units(const UnitMap& units) { units_ = &units; }
  void add(const Cycle& cycle);
  // Another one of a unit that has closed many: it is counted as seen.
  void pass_over() { ++seen_, ++passed_over_; }

  // Shortest first, then in order of first sight.
  std::vector<Finding> findings() const;
  // How many unique cycles of each size, as in Marathon's Table 1.
  const std::map<size_t, uint64_t>& sizes() const { return sizes_; }
  // How many of these are counted only, and how many may have been passed over.
  uint64_t counted_only() const { return counted_.size() + passed_over_; }
  uint64_t seen() const { return seen_; }

 private:
  using Key = std::vector<uint32_t>;
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  // Those that split one unit on one set.
  struct Split {
    size_t steps = 0;            // units of the cycles that are kept
    size_t shortest = SIZE_MAX;  // of them
  };
  static constexpr size_t kMostSteps = 4096;
  bool keep(uint32_t unit, uint32_t set, size_t size);
  uint32_t intern(const std::string& text);
  Finding describe(const Cycle& cycle, size_t rotation) const;
  std::string set_name(const Cycle& cycle) const;
  std::string label(const NodeInfo& node) const;
  void learn_lock_functions(const Cycle& cycle);
  AccessReport describe(const Unit& unit, EventKind kind, const Access& access,
                        const std::string& variable) const;

  Names& names_;
  LockFunctions& lock_functions_;
  bool one_;  // all memory is one set
  const Trace& tables_;
  const UnitMap* units_ = nullptr;
  std::function<void(const Finding&)> fresh_;
  std::unordered_map<std::string, uint32_t> words_;
  std::vector<const std::string*> texts_;
  std::unordered_map<Key, size_t, KeyHash> index_;
  std::vector<Finding> found_;
  std::unordered_set<uint64_t> counted_;  // hashes of the others' keys
  std::unordered_map<uint64_t, Split> splits_;
  std::map<size_t, uint64_t> sizes_;
  uint64_t seen_ = 0, passed_over_ = 0;
};

}  // namespace cleave::conflict
