// The checker against the full conflict graph, on generated traces, including which event first closes a
// cycle.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "analysis/conflict/check.h"
#include "analysis/conflict/full_graph.h"
#include "analysis/conflict/generated_traces.h"

namespace cleave::conflict {
namespace {

std::string show(const Trace& trace) {
  std::string text;
  for (const Event& e : trace.events()) {
    text += fmt::format("{} {} {} {}\n", trace.thread(e.thread).name, word_of(e.kind),
                        static_cast<int32_t>(e.object), static_cast<int32_t>(e.object2));
  }
  return text;
}

CheckReport run(const Trace& trace, const FullGraphRules& rules) {
  CheckOptions options;
  options.sets.one = rules.one;
  options.units.annotated = !rules.locks;
  options.units.locks = rules.locks;
  options.units.split_at_waits = rules.split_at_waits;
  TraceSource source(trace);
  return check(source, options).value();
}

// Each finding must really be a cycle: units differ, edges follow one another, conflicts are conflicts.
void expect_well_formed(const Finding& finding) {
  size_t n = finding.units.size();
  ASSERT_GE(n, 2u);
  ASSERT_EQ(finding.edges.size(), n);
  for (size_t i = 0; i < n; ++i) {
    const EdgeReport& edge = finding.edges[i];
    EXPECT_EQ(edge.from, i);
    EXPECT_EQ(edge.to, (i + 1) % n);
    EXPECT_EQ(edge.first.thread, finding.units[edge.from].thread);
    EXPECT_EQ(edge.second.thread, finding.units[edge.to].thread);
    if (edge.conflict != "order") EXPECT_TRUE(edge.first.op != "read" || edge.second.op != "read");
  }
}

struct Totals {
  unsigned traces = 0, with_cycle = 0;
};

Totals compare(uint64_t seed, unsigned count, FullGraphRules rules) {
  Random random(seed);
  Totals totals;
  for (unsigned i = 0; i < count; ++i) {
    TraceShape shape = random_shape(random);
    Trace trace = TraceGenerator(random, shape).make();
    std::optional<size_t> expected = FullGraph(trace, rules).first_cycle();
    CheckReport report = run(trace, rules);
    ++totals.traces;
    totals.with_cycle += expected.has_value();
    std::optional<size_t> got;
    if (report.first_violation) got = raw(*report.first_violation);
    EXPECT_EQ(got, expected) << "seed " << seed << " trace " << i << "\n" << show(trace);
    EXPECT_EQ(report.findings.empty(), !expected.has_value());
    for (const Finding& finding : report.findings) expect_well_formed(finding);
    if (testing::Test::HasFailure()) break;
  }
  return totals;
}

// Neither nearly all nor nearly none of the traces may have a cycle, or the comparison says little.
void expect_balanced(const Totals& totals) {
  EXPECT_GT(totals.with_cycle, totals.traces / 20);
  EXPECT_LT(totals.with_cycle, totals.traces * 19 / 20);
}

TEST(Oracle, AtomicSetsAnnotatedUnits) { expect_balanced(compare(1, 8000, {})); }
TEST(Oracle, AtomicSetsLockSections) { expect_balanced(compare(2, 3000, {.locks = true})); }
TEST(Oracle, AtomicSetsUnsplit) { compare(3, 2000, {.split_at_waits = false}); }
TEST(Oracle, OneSetAnnotatedUnits) { expect_balanced(compare(4, 8000, {.one = true})); }
TEST(Oracle, OneSetLockSections) { compare(5, 3000, {.one = true, .locks = true}); }
TEST(Oracle, OneSetUnsplit) { compare(6, 2000, {.one = true, .split_at_waits = false}); }

}  // namespace
}  // namespace cleave::conflict
