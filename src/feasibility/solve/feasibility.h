// Is there an interleaving of this run's symbolic events in which a triple happens, and which? (CTP sections
// 4 and 5.)
//
// Prefix semantics by a cut: what lies after it need not be feasible. Queries are made on slices, a prefix of
// each thread, so their cost depends on what can influence the triple and not on the trace:
//   1. the happens-before prefixes of remote and second, with the releases they need; a read whose writers
//   are partly
//      outside is free there. Unsatisfiable is final.
//   2. the same slice exactly: satisfiable is final, since a slice is closed downwards.
//   3. grow by the cheapest writer that could serve a read which the model of 1 left unserved; again from 1.
// The only room that sees the solver.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "feasibility/lift/symbolic_trace.h"
#include "findings/finding.h"

namespace cleave {

struct FeasibilityQuery {
  EventIndex first, remote, second;
  Pattern pattern = Pattern::None;  // which of an update's two sides is meant
};

enum class Answer : uint8_t { Feasible, Infeasible, Unknown };

// What is known of the program's data.
enum class DataModel : uint8_t {
  Program,  // CTP: values flow as the program says
  Ignored,  // CAM, the paper's appendix A: any branch, any value; synchronization stays. Says more than there
            // is
  Recorded,  // the maximal causal model of the paper's figure 2: every read returns what it returned. Says
             // less
};

struct FeasibilityOptions {
  uint64_t effort =
      20'000'000;  // solver resources per question: deterministic, about 10 seconds at most; 0: states alone
  uint64_t states = 1'000'000;  // that may be looked at per question (explore.h); 0: the solver alone
  uint32_t memory = 2048;       // megabytes that the solver may use
  std::function<double()>
      seconds_left;                 // what is left of the time for all questions; empty: there is no limit
  uint32_t largest_slice = 20'000;  // events
  uint32_t whole = 4'000;   // events of a slice that is explored whole; beyond, windows are looked through
  uint32_t window = 1'000;  // events before and after a triple that such a window has
  uint32_t growths = 64;
  bool same_value_is_violation = false;  // true: conflicts only, without guarded independence (definition 2)
  bool propagate = true;                 // first find what follows without search (must_order.h)
  bool derive_locks = true;              // recognise locks made by hand (derived_locks.h)
  DataModel model = DataModel::Program;
};

struct Feasibility {
  Answer answer = Answer::Unknown;
  std::string why;                         // of Unknown: effort, time, memory, states, slice, growths, solver
  std::vector<EventIndex> order;           // of Feasible: the interleaving up to the second access
  std::map<std::string, uint64_t> inputs;  // of Feasible: values of the inputs before the cut
  uint32_t slice_events = 0, questions = 0;
  uint64_t states = 0;
};

// How much one question may cost: of many questions the easy ones are answered first. Guess follows the
// recorded order, with the triple's threads held at its accesses: it can find, and decides nothing else.
enum class Effort : uint8_t { Guess, Little, Some, All };

class FeasibilityChecker {
 public:
  // Indexes the trace once: O(events). The symbolic trace must outlive the checker.
  FeasibilityChecker(SymbolicTrace& trace, FeasibilityOptions options);
  ~FeasibilityChecker();
  // Finds once what all feasible prefixes of the run have in common, for all these queries; see must_order.h.
  // Only for traces that are short enough; otherwise nothing changes.
  void propagate(std::span<const FeasibilityQuery> queries);
  // Whether what propagate() found rules it out, without looking further: O(1).
  bool excluded(const FeasibilityQuery& query) const;
  // Looks once at where threads can be together, for all these queries: what that shows to be infeasible is
  // so at once when it is asked. Only for traces that are short enough; otherwise nothing changes.
  void survey(std::span<const FeasibilityQuery> queries);
  // With less than all effort `unknown` means: not so quickly.
  Feasibility decide(const FeasibilityQuery& query, Effort effort = Effort::All);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cleave
