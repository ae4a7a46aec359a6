// What the things are called that edges and units speak of, also after they have ended and their ids denote
// others.
//
// An edge has the number of the era in which it was made; an era ends whenever something does that might be
// named. What an id meant for an edge is what first ended under that id in the edge's era or later, and if
// nothing did, what the tables say. Only what a live edge or unit may name is kept.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/conflict/graph.h"
#include "trace/core/trace.h"
#include "units/sets.h"

namespace cleave::conflict {

class Names {
 public:
  Names(SetMap& sets, const Trace& tables) : sets_(sets), tables_(tables) {}

  uint32_t era() const { return era_; }
  std::string_view variable(const Edge& edge) const;
  // Of the set of the edge's variable, as it is now.
  std::string_view set(const Edge& edge);
  std::string_view sync(SyncId sync, uint32_t era) const;

  // These are about to end, and may have been named.
  void keep(VariableId variable);
  void keep(SyncId sync);
  // All that ends now has been said. Amortised O(1) for each that was kept.
  void next_era(const Graph& graph);
  // How many are kept.
  size_t size() const { return variables_.size() + syncs_.size(); }

 private:
  using Key = std::pair<uint32_t, uint32_t>;  // id, the era in which it ended
  struct Variable {
    std::string name;
    SetMap::Kept set;
    bool needed = false;
  };
  struct Sync {
    std::string name;
    bool needed = false;
  };
  template <typename Kept>
  static auto find(Kept& kept, uint32_t id, uint32_t era) {
    auto it = kept.lower_bound(Key{id, era});
    return it != kept.end() && it->first.first == id ? it : kept.end();
  }
  void sweep(const Graph& graph);

  static constexpr size_t kFew = 64;
  SetMap& sets_;
  const Trace& tables_;
  std::map<Key, Variable> variables_;
  std::map<Key, Sync> syncs_;
  uint32_t era_ = 0;
  size_t sweep_at_ = kFew;
};

}  // namespace cleave::conflict
