// Which switches a failing run needs (AtomChase's plans turned around): a failure is there with all
// hand-overs of its schedule, and usually with one or two of them in an otherwise serial run.
//
// A switch stands at a thread's own count of points, so a subset of a schedule's switches is a schedule
// again: what is left out is decided as `serial` would. The search looks for the last switch that matters by
// bisecting over prefixes, keeps it, and looks for the next one before it; that takes about log2(switches)
// runs for each switch that is needed. At the end each is left out once more, so that every one of the result
// is necessary.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "schedule/schedule.h"

namespace cleave::hunt {

// Whether a run with these switches fails as the given one did. An Error ends the search.
using Fails = std::function<Result<bool>(const std::vector<Switch>&)>;

struct Minimized {
  bool reproduced = false;     // the failure was there with all switches
  bool always = false;         // it is there without any
  bool minimal = false;        // each of `needed` was left out, and the failure was gone
  std::vector<Switch> needed;  // in the order of the schedule
  unsigned runs = 0;
};

struct MinimizeOptions {
  unsigned most_runs = 200;
  std::function<bool()> interrupted;  // asked before each run
};

// O(needed · log(switches)) runs.
Result<Minimized> minimize(const std::vector<Switch>& switches, const Fails& fails,
                           const MinimizeOptions& options = {});

}  // namespace cleave::hunt
