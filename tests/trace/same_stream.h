// A recorded trace streamed with ids that are used again (ReadOptions::reuse_ids), compared with the same
// trace streamed with an id for everything: the events must be the same when ids are replaced by what they
// denote at that moment.
#pragma once

#include <cstdint>
#include <string>

namespace cleave {

struct StreamComparison {
  std::string difference;  // the first one; empty if there is none
  size_t events = 0, batches = 0, splits = 0;
  size_t freed_variables = 0, freed_objects = 0, freed_syncs = 0;
  size_t variables = 0, objects = 0, syncs = 0;              // entries of the tables at the end
  size_t all_variables = 0, all_objects = 0, all_syncs = 0;  // and without reuse
};

// Both, and the first through ReadAhead too. `tables`: compare the whole tables of these two after each
// batch.
StreamComparison compare_streams(const std::string& path, bool tables);

}  // namespace cleave
