#include "trace/core/field_names.h"

#include "trace/core/library.h"
#include "trace/core/type_paths.h"

namespace cleave {

const FieldName& FieldNames::make(const Key& key) const {
  if (known_.size() >= kMost) known_.clear();
  const SiteTables& tables = key.module->tables;
  FieldName& made = known_[key];
  if (key.type >= tables.types.size()) return made;
  made.path = field_path(tables, key.type, key.offset, false);
  made.shown = without_innards(made.path);
  FieldFacts facts = field_facts(tables, key.type, key.offset);
  made.flags = facts.flags;
  made.set = std::move(facts.set);
  made.room = field_room(tables, key.type, key.offset);
  made.leaf = leaf_room(tables, key.type, key.offset);
  return made;
}

}  // namespace cleave
