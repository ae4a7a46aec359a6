// What a person may want to say to Cleave about a cycle, with the very lines: that two fields have nothing to
// do with each other, when no lock is ever held at both; that the function that was split is not meant to be
// atomic.
//
// About locks nothing is known without a second look at the events; it changes no finding but its `hints`.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "analysis/conflict/check.h"

namespace cleave::conflict {

// The same events once more, from the beginning.
using SecondLook = std::function<Result<std::unique_ptr<EventSource>>()>;

// Whether a hint about locks is possible at all: a cycle has two fields of a class.
bool locks_may_matter(const Trace& tables, const CheckOptions& options, std::span<const Finding> findings);
// `tables` as they are at the end. Without `again` there is no hint about locks. O(events) with it. An error
// is that of the second look; all other hints are there.
Status add_hints(const Trace& tables, const CheckOptions& options, std::span<Finding> findings,
                 const SecondLook& again);

}  // namespace cleave::conflict
