#include "trace/core/table_growth.h"

#include <algorithm>

namespace cleave {
namespace {

template <typename Info>
void take_added(std::span<const Info> all, size_t& taken, std::vector<Info>& added) {
  added.assign(all.begin() + static_cast<ptrdiff_t>(taken), all.end());
  taken = all.size();
}

// Entries that are both new and touched are among the new ones already.
template <typename Info>
void take(std::span<const Info> all, size_t& taken, std::vector<uint32_t>& touched,
          TableGrowth::Of<Info>& growth) {
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  for (uint32_t id : touched) {
    if (id < taken) growth.changed.emplace_back(id, all[id]);
  }
  touched.clear();
  take_added(all, taken, growth.added);
}

// `all` are those after the first `dropped`.
template <typename Id>
void take_ids(const std::vector<Id>& all, size_t dropped, size_t& taken, std::vector<Id>& fresh,
              std::vector<uint32_t>& touched) {
  fresh.assign(all.begin() + static_cast<ptrdiff_t>(std::max(taken, dropped) - dropped), all.end());
  for (Id id : fresh) touched.push_back(raw(id));
  taken = dropped + all.size();
}

}  // namespace

TableGrowth TableFollower::take() {
  TableGrowth growth;
  const TableChanges& changes = tables_.changes();
  growth.outer_set_dropped = changes.outer_set_dropped;
  growth.moved_dropped = changes.moved_dropped;
  take_ids(changes.outer_set, changes.outer_set_dropped, taken_.outer_set, growth.outer_set,
           touched_.objects);
  take_ids(changes.moved, changes.moved_dropped, taken_.moved, growth.moved, touched_.variables);
  cleave::take(tables_.threads(), taken_.threads, touched_.threads, growth.threads);
  if (tables_.variable_table().only_names()) {
    growth.bare = tables_.variable_table().names_from(taken_.variables);
    taken_.variables = tables_.variable_count();
    touched_.variables.clear();
  } else {
    cleave::take(tables_.variables(), taken_.variables, touched_.variables, growth.variables);
  }
  cleave::take(tables_.objects(), taken_.objects, touched_.objects, growth.objects);
  cleave::take(tables_.syncs(), taken_.syncs, touched_.syncs, growth.syncs);
  take_added(tables_.sites(), taken_.sites, growth.sites);
  take_added(tables_.unit_names(), taken_.unit_names, growth.unit_names);
  take_added(tables_.contexts(), taken_.contexts, growth.contexts);
  take_added(tables_.input_names(), taken_.input_names, growth.input_names);
  growth.program = tables_.program();
  return growth;
}

void TableMirror::apply(TableGrowth growth) {
  builder_.drop_changes(growth.outer_set_dropped, growth.moved_dropped);
  for (auto& [id, info] : growth.threads.changed) builder_.thread_info(ThreadId{id}) = std::move(info);
  for (auto& [id, info] : growth.variables.changed) builder_.variable_info(VariableId{id}) = std::move(info);
  for (auto& [id, info] : growth.objects.changed) builder_.object_info(ObjectId{id}) = std::move(info);
  for (auto& [id, info] : growth.syncs.changed) builder_.sync_info(SyncId{id}) = std::move(info);
  for (ThreadInfo& info : growth.threads.added) builder_.add_thread(std::move(info));
  for (VariableInfo& info : growth.variables.added) builder_.add_variable(std::move(info));
  builder_.add_variables(std::move(growth.bare));
  for (ObjectInfo& info : growth.objects.added) builder_.add_object(std::move(info));
  for (SyncInfo& info : growth.syncs.added) builder_.add_sync(std::move(info));
  for (SiteInfo& info : growth.sites) builder_.append_site(std::move(info));
  for (UnitNameInfo& info : growth.unit_names) builder_.add_unit_name(std::move(info));
  for (const ContextInfo& info : growth.contexts) builder_.add_context(info);
  for (const std::string& name : growth.input_names) builder_.input_name(name);
  for (ObjectId object : growth.outer_set) builder_.set_outer(object, tables().object(object).outer);
  for (VariableId variable : growth.moved) builder_.moved(variable);
  builder_.set_program(std::move(growth.program));
}

}  // namespace cleave
