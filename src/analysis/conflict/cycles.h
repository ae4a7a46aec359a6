// Each unique cycle once: per set and cyclic sequence of unit functions, wherever the sequence is cut open.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/conflict/graph.h"
#include "analysis/conflict/names.h"
#include "model/finding.h"
#include "trace/trace.h"

namespace cleave::conflict {

class CycleLog {
 public:
  // `names` and `tables` must outlive the log. `fresh` is told of each unique cycle when it is first seen.
  CycleLog(Names& names, SetMap& sets, const Trace& tables, std::function<void(const Finding&)> fresh)
      : names_(names), one_(sets.one()), tables_(tables), fresh_(std::move(fresh)) {}

  void add(const Cycle& cycle);

  // Shortest first, then in order of first sight.
  std::vector<Finding> findings() const;
  // How many unique cycles of each size, as in Marathon's Table 1.
  std::map<size_t, uint64_t> sizes() const;
  size_t unique() const { return found_.size(); }
  uint64_t seen() const { return seen_; }

 private:
  using Key = std::vector<uint32_t>;
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  uint32_t intern(const std::string& text);
  Finding describe(const Cycle& cycle, size_t rotation) const;
  std::string set_name(const Cycle& cycle) const;
  std::string label(const NodeInfo& node) const;
  AccessReport describe(const Unit& unit, EventKind kind, const Access& access,
                        const std::string& variable) const;

  Names& names_;
  bool one_;  // all memory is one set
  const Trace& tables_;
  std::function<void(const Finding&)> fresh_;
  std::unordered_map<std::string, uint32_t> words_;
  std::vector<const std::string*> texts_;
  std::unordered_map<Key, size_t, KeyHash> index_;
  std::vector<Finding> found_;
  uint64_t seen_ = 0;
};

}  // namespace cleave::conflict
