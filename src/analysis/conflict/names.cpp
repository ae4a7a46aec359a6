#include "analysis/conflict/names.h"

#include <algorithm>
#include <utility>

namespace cleave::conflict {

std::string_view Names::variable(const Edge& edge) const {
  auto kept = find(variables_, edge.object, edge.era);
  return kept != variables_.end() ? kept->second.name : tables_.variable(VariableId{edge.object}).name;
}

std::string_view Names::set(const Edge& edge) {
  auto kept = find(variables_, edge.object, edge.era);
  if (kept != variables_.end()) return sets_.name_of(kept->second.set);
  return sets_.info(sets_.set_of(VariableId{edge.object})).name;
}

std::string_view Names::sync(SyncId sync, uint32_t era) const {
  auto kept = find(syncs_, raw(sync), era);
  return kept != syncs_.end() ? kept->second.name : tables_.sync(sync).name;
}

void Names::keep(VariableId variable) {
  auto [kept, fresh] = variables_.try_emplace({raw(variable), era_});
  if (!fresh) return;
  kept->second.name = tables_.variable(variable).name;
  kept->second.set = sets_.keep(variable);
}

void Names::keep(SyncId sync) {
  syncs_.try_emplace({raw(sync), era_}, Sync{.name = tables_.sync(sync).name});
}

void Names::next_era(const Graph& graph) {
  ++era_;
  if (size() > sweep_at_) sweep(graph);
}

void Names::sweep(const Graph& graph) {
  auto need = [](auto& kept, uint32_t id, uint32_t era) {
    if (auto it = find(kept, id, era); it != kept.end()) it->second.needed = true;
  };
  auto of_node = [&](const NodeInfo& node) {
    if (node.unit.lock != kNone<SyncId>) need(syncs_, raw(node.unit.lock), node.era);
  };
  auto of_edge = [&](const Edge& edge) {
    if (edge.kind <= EdgeKind::WriteWrite) need(variables_, edge.object, edge.era);
    if (edge.kind == EdgeKind::Lock) need(syncs_, edge.object, edge.era);
  };
  graph.visit(of_node, of_edge);
  auto drop = [](auto& kept, auto&& on_drop) {
    for (auto it = kept.begin(); it != kept.end();) {
      if (std::exchange(it->second.needed, false)) {
        ++it;
        continue;
      }
      on_drop(it->second);
      it = kept.erase(it);
    }
  };
  drop(variables_, [&](const Variable& variable) { sets_.drop(variable.set); });
  drop(syncs_, [](const Sync&) {});
  sweep_at_ = std::max(kFew, 2 * size());
}

}  // namespace cleave::conflict
