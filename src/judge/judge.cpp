#include <fmt/format.h>

#include <algorithm>

#include "judge/blocks.h"
#include "judge/conditions.h"
#include "judge/judge.h"
#include "judge/memory_index.h"
#include "judge/projection.h"
#include "judge/serial_search.h"

namespace cleave::judge {
namespace {

// More units than this around one unit are not searched: building the question would take longer than the
// budget.
constexpr size_t kMostSteps = 200'000;

}  // namespace

struct Judge::State {
  const Trace& trace;
  std::vector<UnitSpan> units;
  std::vector<std::vector<size_t>> of_thread;  // indexes into units
  JudgeOptions options;
  MemoryIndex memory;
  // Of the last triple's level; triples of one level in a row cost no rebuilding.
  std::unique_ptr<Blocks> blocks;
  std::unique_ptr<ValueFlows> flows;
  UnitNameId level = kNone<UnitNameId>;

  State(const Trace& judged, std::vector<UnitSpan> spans, const JudgeOptions& judge_options)
      : trace(judged), units(std::move(spans)), options(judge_options), memory(judged) {
    std::sort(units.begin(), units.end(), [](const UnitSpan& a, const UnitSpan& b) {
      return a.first != b.first ? a.first < b.first : a.last > b.last;
    });
    of_thread.resize(trace.threads().size());
    for (size_t i = 0; i < units.size(); ++i) of_thread[raw(units[i].thread)].push_back(i);
  }

  // Name of the smallest unit around both accesses of the triple: the last of the thread that begins before
  // the first and has not ended at the second. Walks back over the thread's own units only, as far as the
  // enclosing one.
  UnitNameId level_of(const EventTriple& triple) const {
    const auto& own = of_thread[raw(trace.event(triple.first).thread)];
    auto it = std::upper_bound(own.begin(), own.end(), triple.first,
                               [&](EventIndex index, size_t unit) { return index < units[unit].first; });
    while (it != own.begin()) {
      const UnitSpan& unit = units[*--it];
      if (unit.last >= triple.second) return unit.name;
    }
    return kNone<UnitNameId>;
  }

  // Nothing is wrong with the question, or why it cannot be judged.
  std::string refusal(const EventTriple& triple) const {
    if (raw(triple.second) >= trace.size() ||
        !(triple.first < triple.remote && triple.remote < triple.second)) {
      return "the three accesses are not in the trace in the order first, remote, second";
    }
    const Event &first = trace.event(triple.first), &remote = trace.event(triple.remote),
                &second = trace.event(triple.second);
    if (!is_access(first.kind) || !is_access(remote.kind) || !is_access(second.kind) ||
        first.object != remote.object || first.object != second.object || first.thread != second.thread ||
        first.thread == remote.thread) {
      return "the three events are not accesses of one location, two of them by one thread";
    }
    if (blocks->of(triple.first) != blocks->of(triple.second)) return "the two accesses are not in one unit";
    if (!memory.explained(first.variable())) {
      return fmt::format("reads of {} return what no recorded write wrote",
                         trace.variable(first.variable()).name);
    }
    return {};
  }

  Case case_of(const EventTriple& triple) const {
    return {trace, memory, *blocks, *flows, triple, options.final_writes};
  }

  // Sets up blocks and answers what can be said without looking: a pattern, or why it cannot be judged.
  Proof open(const EventTriple& triple) {
    if (raw(triple.first) >= trace.size()) return {.reason = "the three accesses are not in the trace"};
    const UnitNameId wanted = level_of(triple);
    if (blocks == nullptr || level != wanted) {
      blocks = std::make_unique<Blocks>(trace, units, wanted);
      flows = std::make_unique<ValueFlows>(trace, memory, *blocks);
      level = wanted;
    }
    Proof proof{.reason = refusal(triple)};
    if (proof.reason.empty()) {
      proof.pattern = pattern_of(trace.event(triple.first).kind, trace.event(triple.remote).kind,
                                 trace.event(triple.second).kind);
    }
    return proof;
  }

  // The execution is non-atomic; is it so by the two units of the triple, or only together with others? Asked
  // again with these two as the only units: all other events may stand where they like, in the order of their
  // threads.
  void attribute(const EventTriple& triple, const Projection& all, Proof& proof) const {
    std::vector<UnitSpan> two;
    for (EventIndex index : {triple.first, triple.remote}) {
      const Block& block = blocks->block(blocks->of(index));
      two.push_back({block.thread, block.first, block.last, block.name});
    }
    if (two[1].first < two[0].first) std::swap(two[0], two[1]);
    const Blocks pair(trace, two, kNone<UnitNameId>);
    const ValueFlows pair_flows(trace, memory, pair);
    const std::optional<Projection> projection =
        project({trace, memory, pair, pair_flows, triple, options.final_writes}, kMostSteps);
    SearchOutcome outcome = SearchOutcome::OutOfBudget;
    if (projection) {
      const SearchResult result = search_all_orders(*projection, options.final_writes, options.budget);
      outcome = result.outcome;
      proof.states += result.states;
    }
    if (outcome == SearchOutcome::None) {
      proof.name = "exact";
      proof.why =
          "Every order of the events in which these two units run without interruption was ruled out: none "
          "gives these "
          "values.";
    } else {
      proof.name = "exact-trace";
      proof.why = fmt::format(
          "No serial order of the {} units that depend on each other here gives these values; {}.",
          all.steps.size(),
          outcome == SearchOutcome::Found
              ? "it takes more than the two units of this triple to show it"
              : "whether the two units of this triple alone show it is not decided");
    }
  }

  std::vector<UnitSpan> spans_of(const Projection& projection, const std::vector<uint32_t>& order) const {
    std::vector<UnitSpan> spans;
    for (uint32_t number : order) {
      const Step& step = projection.steps[number];
      if (projection.of(step).empty()) continue;  // a fork or join that is there for the order only
      const Block& block = blocks->block(step.block);
      spans.push_back({block.thread, block.first, block.last, block.name});
    }
    return spans;
  }
};

Judge::Judge(const Trace& trace, std::vector<UnitSpan> units, const JudgeOptions& options)
    : state_(std::make_unique<State>(trace, std::move(units), options)) {}
Judge::~Judge() = default;
Judge::Judge(Judge&&) noexcept = default;
Judge& Judge::operator=(Judge&&) noexcept = default;

Proof Judge::conditions(const EventTriple& triple) {
  Proof proof = state_->open(triple);
  if (!proof.reason.empty()) return proof;
  if (std::optional<ConditionProof> found = prove_by_conditions(state_->case_of(triple))) {
    proof.judgement = Judgement::NonAtomic;
    proof.name = found->name;
    proof.why = found->why;
  } else {
    proof.reason = "the sufficient conditions do not decide it";
  }
  return proof;
}

Proof Judge::exact(const EventTriple& triple) {
  Proof proof = state_->open(triple);
  if (!proof.reason.empty()) return proof;
  const std::optional<Projection> projection = project(state_->case_of(triple), kMostSteps);
  if (!projection) {
    proof.reason = fmt::format("more than {} units depend on each other", kMostSteps);
    return proof;
  }
  SearchResult result = order_by_conflicts(*projection);
  if (result.outcome != SearchOutcome::Found) {
    result = search_all_orders(*projection, state_->options.final_writes, state_->options.budget);
  }
  proof.states = result.states;
  switch (result.outcome) {
    case SearchOutcome::Found:
      proof.judgement = Judgement::Atomic;
      proof.name = "exact";
      proof.why = "This order of the units explains every value: the execution is atomic after all.";
      proof.serial_order = state_->spans_of(*projection, result.order);
      break;
    case SearchOutcome::None:
      proof.judgement = Judgement::NonAtomic;
      state_->attribute(triple, *projection, proof);
      break;
    case SearchOutcome::OutOfBudget:
      proof.reason =
          fmt::format("the search for a serial order stopped at its budget of {} states", result.states);
      break;
  }
  return proof;
}

Proof Judge::judge(const EventTriple& triple) {
  Proof proof = conditions(triple);
  if (proof.judgement == Judgement::NonAtomic || proof.pattern == Pattern::None) return proof;
  return exact(triple);
}

}  // namespace cleave::judge
