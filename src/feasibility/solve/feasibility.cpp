#include "feasibility/solve/feasibility.h"

#include <sys/mman.h>
#include <z3++.h>

#include <algorithm>
#include <exception>
#include <new>
#include <optional>

#include "feasibility/solve/co_reachability.h"
#include "feasibility/solve/cone.h"
#include "feasibility/solve/derived_locks.h"
#include "feasibility/solve/encoding.h"
#include "feasibility/solve/explore.h"
#include "feasibility/solve/implied_order.h"
#include "feasibility/solve/slice.h"
#include "feasibility/solve/slice_index.h"

namespace cleave {
namespace {

constexpr uint32_t kPropagated = 20'000;    // events of a run that is propagated as a whole
constexpr uint32_t kLargestWindow = 8'000;  // events, and how far the accesses of a triple may lie apart
constexpr size_t kWritersPriced = 32;  // how many possible growths are compared before the cheapest is taken

// The outside event that brings the fewest others into the slice.
uint32_t cheapest(const Slice& slice, const std::vector<uint32_t>& outside) {
  uint32_t best = kNowhere, best_cost = UINT32_MAX;
  for (size_t i = 0; i < std::min(outside.size(), kWritersPriced); ++i) {
    uint32_t cost = slice.cost(outside[i]);
    if (cost < best_cost) {
      best = outside[i];
      best_cost = cost;
    }
  }
  return best;
}

// A solver that finds no memory for its first steps ends the process: not asked then. What runs out later is
// told by it.
void need_room_for_solver() {
  constexpr size_t kRoom = size_t{96} << 20;
  void* room =
      mmap(nullptr, kRoom, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  munmap(room, kRoom);
}

}  // namespace

class FeasibilityChecker::Impl {
 public:
  Impl(SymbolicTrace& trace, FeasibilityOptions options) : trace_(trace), options_(options), index_(trace) {
    if (options_.derive_locks && options_.model != DataModel::Ignored)
      derived_ = derived_locks(trace, index_);
    for (const std::vector<Section>& sections : derived_) index_.note_releases(sections);
  }

  void survey(std::span<const FeasibilityQuery> queries) {
    if (queries.empty() || trace_.trace().size() > options_.whole || options_.states == 0) return;
    meetings_ = CoReachability(trace_, index_, derived_, queries, options_, options_.states);
  }

  void propagate(std::span<const FeasibilityQuery> queries) {
    if (queries.empty() || !propagates() || trace_.trace().size() > kPropagated) return;
    Slice slice(index_);
    for (size_t t = 0; t < trace_.trace().threads().size(); ++t) {
      auto mine = index_.thread_events(id_of<ThreadId>(t));
      if (!mine.empty()) slice.add(mine.back());
    }
    boost::unordered_flat_set<uint32_t> marked;
    for (const FeasibilityQuery& query : queries) {
      for (EventIndex event : {query.first, query.remote, query.second})
        marked.insert(static_cast<uint32_t>(raw(event)));
    }
    const Cone cone(trace_, index_, slice, derived_, marked, options_.model);
    auto layout = std::make_shared<const OrderLayout>(trace_, index_, cone, derived_);
    if (layout->applicable) order_.emplace(layout, kOrderWork);
  }

  bool excluded(const FeasibilityQuery& query) const {
    return order_ && (!order_->possible(query) ||
                      (!options_.same_value_is_violation && order_->writes_the_same(query)));
  }

  Feasibility decide(const FeasibilityQuery& query, Effort effort) {
    Feasibility result;
    if (out_of_time()) {
      unknown(&result, "time: that for this stage is used up");
      return result;
    }
    if (!meetings_.possible(query) || ruled_out(query)) {
      result.answer = Answer::Infeasible;
      return result;
    }
    explored_whole_ = 0;
    most_effort_ = effort == Effort::All
                       ? options_.effort
                       : std::min(options_.effort, effort == Effort::Some ? kSomeEffort : kLittleEffort);
    growths_ = effort == Effort::All ? options_.growths
                                     : std::min(options_.growths, effort == Effort::Some ? 16u : 4u);
    most_states_ = effort == Effort::All
                       ? options_.states
                       : std::min(options_.states, effort == Effort::Some ? kSomeStates : kLittleStates);
    try {
      if ((effort == Effort::Guess || effort == Effort::Some) &&
          (search_least(query, &result) || guess(query, &result)))
        return result;
      if (effort == Effort::Guess) {
        unknown(&result, "not looked at yet");
        return result;
      }
      run(query, &result);
      if (result.answer == Answer::Feasible && switches_within_runs(result.order))
        prefer_executable(query, &result);
    } catch (const z3::exception& error) {
      result.answer = Answer::Unknown;
      const std::string said = error.msg();
      result.why = said.find("memory") != std::string::npos ? out_of_memory() : "solver: " + said;
    } catch (const OutOfTime&) {
      unknown(&result, "time: that for this stage is used up");
    } catch (const NotModelled& error) {
      unknown(&result, std::string("not modelled: ") + error.what());
    } catch (const std::bad_alloc&) {
      result.answer = Answer::Unknown;
      result.why = "memory: there is none left";
    } catch (const std::exception& error) {  // its clock needs a thread, for instance
      result.answer = Answer::Unknown;
      result.why = std::string("solver: ") + error.what();
    }
    return result;
  }

 private:
  // A whole cone in that many states at most: when a query has shown itself hard, when nothing else decides,
  // and at once when the query before was decided like that.
  static constexpr uint64_t kGlance = 2'000, kLook = 50'000;
  static constexpr uint32_t kHard = 2;  // growths
  // What a solver gets before states are counted instead.
  static constexpr uint64_t kFirstEffort = 1'000'000;
  // Effort::Little and Effort::Some: about a tenth of a second, and a second.
  static constexpr uint64_t kLittleEffort = 200'000, kSomeEffort = 2'000'000, kLittleStates = 20'000,
                            kSomeStates = 200'000;

  static constexpr uint64_t kOrderWork = 100'000'000, kQueryWork = 4'000'000;
  // What propagation for one query after the other may cost before one of them gains by it: where none does,
  // the time is for the other ways.
  static constexpr uint64_t kUnpaid = 50'000'000;

  bool propagates() const { return options_.propagate && options_.model == DataModel::Program; }

  // By what the run has in common in all prefixes, or in those with this triple.
  bool ruled_out(const FeasibilityQuery& query) {
    query_order_.reset();
    if (!order_) return false;
    if (excluded(query)) return true;
    const std::string_view letters = word_of(query.pattern);
    const bool must_change =
        letters.size() == 3 && letters[1] == 'W' && (letters[0] == 'R' || letters[2] == 'R');
    if (must_change && !options_.same_value_is_violation &&
        order_->changes_nothing(static_cast<uint32_t>(raw(query.remote))))
      return true;
    if (order_->layout().step_of(static_cast<uint32_t>(raw(query.first))) == UINT32_MAX) return false;
    if (unpaid_proofs_ > kUnpaid) return false;
    query_order_.emplace(order_->with(query, options_.same_value_is_violation, kQueryWork));
    unpaid_proofs_ = query_order_->possible() ? unpaid_proofs_ + query_order_->work() : 0;
    return !query_order_->possible();
  }

  void run(const FeasibilityQuery& query, Feasibility* result) {
    if (whole_decides_ && explore_whole(query, kLook, result)) return;
    whole_decides_ = false;
    Slice slice(index_);
    slice.add(static_cast<uint32_t>(raw(query.remote)));
    slice.add(static_cast<uint32_t>(raw(query.second)));
    for (uint32_t growth = 0; growth <= growths_; ++growth) {
      result->slice_events = slice.events();
      if (out_of_time()) return unknown(result, "time: that for this stage is used up");
      if (growth == 0 && result->slice_events > options_.whole && look_through_window(query, result)) return;
      if (result->slice_events > options_.largest_slice) return unknown(result, "the slice is too large");
      Cone cone(trace_, index_, slice, derived_, query, options_.model);
      Exploration::Outcome here = glance(query, cone, result);
      if (here == Exploration::Outcome::Found) return;
      if (growth == kHard && explore_whole(query, kLook, result)) return;
      if (most_effort_ == 0) break;

      need_room_for_solver();
      z3::context context;
      Encoding open(context, trace_, index_, slice, cone, derived_, query, options_, Closing::Open);
      z3::check_result outer = ask(open, query, result);
      if (outer == z3::unsat) result->answer = Answer::Infeasible;
      if (outer != z3::sat) return;
      std::vector<uint32_t> missing = open.missing(open.model());

      z3::check_result inner = z3::unsat;
      if (here != Exploration::Outcome::Exhausted) {
        Encoding closed(context, trace_, index_, slice, cone, derived_, query, options_, Closing::Closed);
        inner = ask(closed, query, result);
        if (inner == z3::unknown && (missing.empty() || decided(*result))) return;
        if (inner == z3::sat) return feasible(closed, result);
      }
      if (missing.empty()) {
        result->answer = Answer::Infeasible;  // nothing outside could help: the closed answer is the answer
        return;
      }
      slice.add(cheapest(slice, missing));
    }
    if (explore_whole(query, most_states_, result)) return;
    unknown(result, most_effort_ == 0 ? "too many states" : "the slice had to grow too often");
  }

  Exploration::Outcome glance(const FeasibilityQuery& query, const Cone& cone, Feasibility* result) {
    Exploration got = explore(trace_, index_, cone, query, options_, std::min(most_states_, kGlance));
    result->states += got.states;
    if (got.outcome == Exploration::Outcome::Found) feasible(cone, got, result);
    return got.outcome;
  }

  // The solver with little effort, then states, then the solver with all it may have. Unknown: the result
  // says why, or states have decided it.
  z3::check_result ask(Encoding& encoding, const FeasibilityQuery& query, Feasibility* result) {
    ++result->questions;
    z3::check_result got = encoding.check(std::min(most_effort_, kFirstEffort));
    if (got != z3::unknown || explore_whole(query, most_states_, result)) return got;
    if (most_effort_ > kFirstEffort) got = encoding.check(most_effort_);
    if (got == z3::unknown) unknown(result, reason(encoding));
    return got;
  }

  bool out_of_time() const { return options_.seconds_left && options_.seconds_left() <= 0; }
  std::string out_of_memory() const {
    return "memory: the solver may use " + std::to_string(options_.memory) + " MB";
  }
  // The solver's own word for why it gave up, under one of ours.
  std::string reason(const Encoding& encoding) const {
    std::string word = encoding.reason();
    if (word.find("memory") != std::string::npos) return out_of_memory();
    if (out_of_time() || word.find("timeout") != std::string::npos)
      return "time: that for this stage is used up";
    return "effort: " + word;
  }

  // Decides the query on all that can influence it, if that takes no more than so many states.
  bool explore_whole(const FeasibilityQuery& query, uint64_t states, Feasibility* result) {
    states = std::min(states, most_states_);
    if (states <= explored_whole_) return false;
    explored_whole_ = states;
    Slice slice(index_);
    slice.add(static_cast<uint32_t>(raw(query.remote)));
    slice.add(static_cast<uint32_t>(raw(query.second)));
    for (;;) {
      if (slice.events() > options_.whole) return false;
      Cone cone(trace_, index_, slice, derived_, query, options_.model);
      std::vector<uint32_t> outside = cone.outside();
      for (uint32_t event : outside) slice.add(event);
      if (!outside.empty()) continue;
      Exploration got = explore(trace_, index_, cone, query, options_, states);
      result->states += got.states;
      result->slice_events = slice.events();
      if (got.outcome == Exploration::Outcome::GaveUp) return false;
      if (got.outcome == Exploration::Outcome::Found) {
        feasible(cone, got, result);
      } else {
        result->answer = Answer::Infeasible;
      }
      whole_decides_ = true;
      return true;
    }
  }

  // All that was recorded up to the triple, in the order in which it was recorded as far as the triple lets
  // it be. Where the threads' paths depend on the values of many others, this finds what neither slices nor
  // other orders do; and such an order is one that the program can be made to follow.
  bool guess(const FeasibilityQuery& query, Feasibility* result) {
    auto [low, high] =
        std::minmax({static_cast<uint32_t>(raw(query.first)), static_cast<uint32_t>(raw(query.remote)),
                     static_cast<uint32_t>(raw(query.second))});
    if (out_of_time()) throw OutOfTime();
    if (options_.states == 0 || high - low > kLargestWindow) return false;
    const bool whole = high <= options_.whole;
    Slice slice(index_, whole || low <= options_.window ? 0 : index_.awake_before(low - options_.window));
    for (size_t t = 0; t < trace_.trace().threads().size(); ++t) {
      auto mine = index_.thread_events(id_of<ThreadId>(t));
      auto after = std::upper_bound(mine.begin(), mine.end(), high);
      if (after != mine.begin()) slice.add(*std::prev(after));
    }
    if (slice.events() > kLargestWindow) return false;
    return search_along(query, slice, result);
  }

  // The least of each thread that has to happen, alone.
  bool search_least(const FeasibilityQuery& query, Feasibility* result) {
    if (!query_order_) return false;
    Slice slice(index_);
    slice.add(static_cast<uint32_t>(raw(query.remote)));
    slice.add(static_cast<uint32_t>(raw(query.second)));
    for (uint32_t event : query_order_->required_events()) slice.add(event);
    return search_along(query, slice, result);
  }

  // With what must come before what in this slice, in the recorded order as far as that and the triple let it
  // be.
  bool search_along(const FeasibilityQuery& query, const Slice& slice, Feasibility* result) {
    Cone cone(trace_, index_, slice, derived_, query, options_.model);
    std::optional<ImpliedOrder> order;
    if (propagates() && unpaid_searches_ <= kUnpaid) {
      auto layout = std::make_shared<const OrderLayout>(trace_, index_, cone, derived_);
      if (layout->applicable)
        order.emplace(
            ImpliedOrder(layout, kQueryWork).with(query, options_.same_value_is_violation, kQueryWork));
      if (order) unpaid_searches_ += 2 * order->work();
      if (order && !order->possible()) return false;
    }
    for (auto [guide, switches] : {std::pair{Guide::Recorded, Switches::BetweenRuns},
                                   {Guide::RemoteFirst, Switches::BetweenRuns},
                                   {Guide::RemoteFirst, Switches::Anywhere}}) {
      Exploration got = explore(trace_, index_, cone, query, options_, 2 * slice.events() + kGlance, switches,
                                guide, order ? &*order : nullptr);
      result->states += got.states;
      if (got.outcome != Exploration::Outcome::Found) continue;
      result->slice_events = slice.events();
      feasible(cone, got, result);
      unpaid_searches_ = 0;
      return true;
    }
    return false;
  }

  // Long before the triple the run is left as it was recorded: what is found behind that is feasible, what is
  // not found is not decided.
  bool look_through_window(const FeasibilityQuery& query, Feasibility* result) {
    auto [low, high] =
        std::minmax({static_cast<uint32_t>(raw(query.first)), static_cast<uint32_t>(raw(query.remote)),
                     static_cast<uint32_t>(raw(query.second))});
    if (most_states_ == 0 || high - low > kLargestWindow) return false;
    const uint32_t from = index_.awake_before(low > options_.window ? low - options_.window : 0);
    Slice slice(index_, from);
    slice.add(static_cast<uint32_t>(raw(query.remote)));
    slice.add(static_cast<uint32_t>(raw(query.second)));
    for (int round = 0; round < 4 && slice.events() <= kLargestWindow; ++round) {
      Cone cone(trace_, index_, slice, derived_, query, options_.model);
      Exploration got = explore(trace_, index_, cone, query, options_, std::min(most_states_, kLook));
      result->states += got.states;
      if (got.outcome == Exploration::Outcome::Found) {
        result->slice_events = slice.events();
        feasible(cone, got, result);
        return true;
      }
      bool grown = false;
      for (uint32_t event : cone.outside()) {
        if (event > high + options_.window) break;
        slice.add(event);
        grown = true;
      }
      if (!grown) break;
    }
    return false;
  }

  bool switches_within_runs(const std::vector<EventIndex>& order) const {
    std::vector<EventIndex> last_of(trace_.trace().threads().size(), kNone<EventIndex>);
    ThreadId previous = kNone<ThreadId>;
    for (EventIndex at : order) {
      const ThreadId thread = trace_.trace().event(at).thread;
      EventIndex& last = last_of[raw(thread)];
      if (previous != thread && last != kNone<EventIndex> && trace_.run_of(last) == trace_.run_of(at))
        return true;
      last = at;
      previous = thread;
    }
    return false;
  }

  // The order goes from one thread to another in the middle of straight code, where no scheduler does. There
  // may be an order that does not; with inputs as they were, since the states are looked through for it.
  void prefer_executable(const FeasibilityQuery& query, Feasibility* result) {
    for (const SymbolInfo& symbol : trace_.symbols()) {
      auto chosen = symbol.input ? result->inputs.find(symbol.name) : result->inputs.end();
      if (chosen != result->inputs.end() && chosen->second != symbol.recorded) return;
    }
    Slice slice(index_);
    slice.add(static_cast<uint32_t>(raw(query.remote)));
    slice.add(static_cast<uint32_t>(raw(query.second)));
    while (slice.events() <= options_.whole) {
      Cone cone(trace_, index_, slice, derived_, query, options_.model);
      Exploration got = explore(trace_, index_, cone, query, options_, std::min(options_.states, kLook),
                                Switches::BetweenRuns);
      result->states += got.states;
      if (got.outcome == Exploration::Outcome::Found) return feasible(cone, got, result);
      std::vector<uint32_t> outside = cone.outside();
      if (outside.empty()) return;
      for (uint32_t event : outside) slice.add(event);
    }
  }

  static bool decided(const Feasibility& result) { return result.answer != Answer::Unknown; }
  void feasible(const Cone& cone, const Exploration& got, Feasibility* result) {
    result->answer = Answer::Feasible;
    result->order = cone.complete(index_, got.order);
    for (const SymbolInfo& symbol : trace_.symbols()) {
      if (symbol.input) result->inputs[symbol.name] = symbol.recorded;
    }
  }
  static void feasible(Encoding& closed, Feasibility* result) {
    z3::model model = closed.model();
    result->answer = Answer::Feasible;
    result->order = closed.order(model);
    result->inputs = closed.inputs(model);
  }

  static void unknown(Feasibility* result, std::string why) {
    result->answer = Answer::Unknown;
    result->why = std::move(why);
  }

  SymbolicTrace& trace_;
  FeasibilityOptions options_;
  SliceIndex index_;
  std::vector<std::vector<Section>> derived_;
  CoReachability meetings_;
  uint64_t unpaid_proofs_ = 0, unpaid_searches_ = 0;
  std::optional<ImpliedOrder> order_, query_order_;  // of the run; of the query that is asked
  bool whole_decides_ = false;                  // the query before was decided on its whole cone, by states
  uint64_t explored_whole_ = 0;                 // of this query: with how many states at most
  uint64_t most_effort_ = 0, most_states_ = 0;  // for this query
  uint32_t growths_ = 0;
};

FeasibilityChecker::FeasibilityChecker(SymbolicTrace& trace, FeasibilityOptions options)
    : impl_(std::make_unique<Impl>(trace, options)) {}
FeasibilityChecker::~FeasibilityChecker() = default;
void FeasibilityChecker::propagate(std::span<const FeasibilityQuery> queries) { impl_->propagate(queries); }
bool FeasibilityChecker::excluded(const FeasibilityQuery& query) const { return impl_->excluded(query); }
void FeasibilityChecker::survey(std::span<const FeasibilityQuery> queries) { impl_->survey(queries); }
Feasibility FeasibilityChecker::decide(const FeasibilityQuery& query, Effort effort) {
  return impl_->decide(query, effort);
}

}  // namespace cleave
