#include "solve/feasibility.h"

#include <z3++.h>

#include <algorithm>

#include "solve/derived_locks.h"
#include "solve/encoding.h"
#include "solve/slice.h"
#include "solve/trace_index.h"

namespace cleave {
namespace {

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

}  // namespace

class FeasibilityChecker::Impl {
 public:
  Impl(SymbolicTrace& trace, FeasibilityOptions options) : trace_(trace), options_(options), index_(trace.trace()) {
    if (options_.derive_locks) derived_ = derived_locks(trace, index_);
    for (const std::vector<Section>& sections : derived_) index_.note_releases(sections);
  }

  Feasibility decide(const FeasibilityQuery& query) {
    Feasibility result;
    try {
      run(query, &result);
    } catch (const z3::exception& error) {
      result.answer = Answer::Unknown;
      result.why = std::string("solver: ") + error.msg();
    }
    return result;
  }

 private:
  void run(const FeasibilityQuery& query, Feasibility* result) {
    Slice slice(index_);
    slice.add(static_cast<uint32_t>(raw(query.remote)));
    slice.add(static_cast<uint32_t>(raw(query.second)));
    for (uint32_t growth = 0; growth <= options_.growths; ++growth) {
      result->slice_events = slice.events();
      if (result->slice_events > options_.largest_slice) return unknown(result, "the slice is too large");
      z3::context context;
      Encoding open(context, trace_, index_, slice, derived_, query, options_, Closing::Open);
      ++result->questions;
      z3::check_result outer = open.check(options_.effort);
      if (outer == z3::unsat) {
        result->answer = Answer::Infeasible;
        return;
      }
      if (outer == z3::unknown) return unknown(result, "effort: " + open.reason());
      std::vector<uint32_t> missing = open.missing(open.model());

      Encoding closed(context, trace_, index_, slice, derived_, query, options_, Closing::Closed);
      ++result->questions;
      z3::check_result inner = closed.check(options_.effort);
      if (inner == z3::sat) {
        z3::model model = closed.model();
        result->answer = Answer::Feasible;
        result->order = closed.order(model);
        result->inputs = closed.inputs(model);
        return;
      }
      if (missing.empty()) {
        if (inner == z3::unknown) return unknown(result, "effort: " + closed.reason());
        result->answer = Answer::Infeasible;  // nothing outside could help: the closed answer is the answer
        return;
      }
      slice.add(cheapest(slice, missing));
    }
    unknown(result, "the slice had to grow too often");
  }

  static void unknown(Feasibility* result, std::string why) {
    result->answer = Answer::Unknown;
    result->why = std::move(why);
  }

  SymbolicTrace& trace_;
  FeasibilityOptions options_;
  TraceIndex index_;
  std::vector<std::vector<Section>> derived_;
};

FeasibilityChecker::FeasibilityChecker(SymbolicTrace& trace, FeasibilityOptions options)
    : impl_(std::make_unique<Impl>(trace, options)) {}
FeasibilityChecker::~FeasibilityChecker() = default;
Feasibility FeasibilityChecker::decide(const FeasibilityQuery& query) { return impl_->decide(query); }

}  // namespace cleave
