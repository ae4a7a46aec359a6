// Ids of what has ended denote something else later. The answers must be those of the same execution with an
// id for everything there ever was, and what is held must not grow with the trace.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/conflict/check.h"
#include "analysis/conflict/generated_lives.h"

namespace cleave::conflict {
namespace {

std::string show(const AccessReport& access) {
  return fmt::format("{} {} {} {}", access.thread, access.op, access.variable, access.value);
}

std::string show(const CheckReport& report) {
  // Not the edges: a unit that will not be on a cycle is known to be dead earlier when its set is known to be
  // gone.
  std::string text = fmt::format("{} units, {} cycles, {} events, {} deep", report.units, report.cycles_seen,
                                 report.events, report.deepest);
  if (report.first_violation) text += fmt::format(", first at {}", raw(*report.first_violation));
  for (const auto& [size, count] : report.cycles_by_size) text += fmt::format("\n{} of {}", count, size);
  for (const Finding& finding : report.findings) {
    text += fmt::format("\n{} set {} unit {} variable {} split {} times {}: {}", finding.id, finding.set,
                        finding.unit, finding.variable, finding.split, finding.occurrences, finding.why);
    for (const UnitReport& unit : finding.units) text += fmt::format("\n  {} of {}", unit.name, unit.thread);
    for (const EdgeReport& edge : finding.edges) {
      text += fmt::format("\n  {} -> {} {} {}: {} / {}", edge.from, edge.to, edge.conflict, edge.variable,
                          show(edge.first), show(edge.second));
    }
  }
  return text;
}

LivesShape random_shape(Random& random) {
  return {.threads = 2 + static_cast<unsigned>(random.below(3)),
          .steps = 40 + static_cast<unsigned>(random.below(400)),
          .objects = 2 + static_cast<unsigned>(random.below(6)),
          .endless = random.chance(1, 4)};
}

CheckOptions random_options(Random& random, bool one) {
  CheckOptions options;
  options.sets.one = one;
  if (random.chance(1, 6)) options.sets.declared.push_back({"pair", {"v1*", "g"}});
  switch (random.below(4)) {
    case 0:
      options.units.annotated = true;
      break;
    case 1:
      options.units.locks = true;
      break;
    case 2:
      options.units.functions.push_back("*r*");
      break;
    default:
      options.units.methods = options.units.locks = true;
  }
  return options;
}

struct Totals {
  unsigned traces = 0, with_cycle = 0;
};

// `times`: how much longer the traces are; ids of sets are used again in long ones only.
Totals compare(uint64_t seed, unsigned count, bool one, unsigned times = 1) {
  Random random(seed);
  Totals totals;
  for (unsigned i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    LivesShape shape = random_shape(random);
    shape.steps *= times;
    shape.objects *= times > 1 ? 2 : 1;
    Lives lives = LivesGenerator(random, shape).make();
    CheckOptions options = random_options(random, one);
    const uint64_t batches = random.next();
    const size_t longest = 1 + random.below(60);
    LivesSource apart(lives, false, batches, longest), again(lives, true, batches, longest);
    CheckReport expected = check(apart, options).value(), got = check(again, options).value();
    EXPECT_EQ(show(got), show(expected)) << "seed " << seed << " trace " << i;
    ++totals.traces;
    totals.with_cycle += !expected.findings.empty();
  }
  return totals;
}

TEST(Lives, NoCycleHasOneThreadOnly) {
  Random random(15);
  unsigned cycles = 0;
  for (unsigned i = 0; i < 4000; ++i) {
    LivesShape shape = random_shape(random);
    if (i % 2 == 0) shape.threads = 1;
    Lives lives = LivesGenerator(random, shape).make();
    const CheckOptions options = random_options(random, random.chance(1, 4));
    LivesSource source(lives, random.chance(1, 2), random.next(), 60);
    const CheckReport report = check(source, options).value();
    cycles += static_cast<unsigned>(report.findings.size());
    for (const Finding& finding : report.findings) {
      const std::string& one = finding.units.front().thread;
      ASSERT_TRUE(std::any_of(finding.units.begin(), finding.units.end(),
                              [&](const UnitReport& unit) { return unit.thread != one; }))
          << "trace " << i << "\n"
          << show(report);
    }
  }
  EXPECT_GT(cycles, 1000u);
}

TEST(Reuse, AtomicSetsAnswerTheSame) {
  Totals totals = compare(11, 3000, false);
  EXPECT_GT(totals.with_cycle, totals.traces / 10);
}
TEST(Reuse, OneSetAnswersTheSame) {
  Totals totals = compare(12, 2000, true);
  EXPECT_GT(totals.with_cycle, totals.traces / 10);
}

// Each batch is handed on in pieces that begin with the splits, of which none is within.
void feed_in_pieces(Checker& checker, const LivesSource& source, std::span<const Event> batch) {
  std::vector<VariableSplit> first;
  size_t begin = 0;
  for (VariableSplit split : source.splits()) {
    if (split.before > begin) {
      checker.feed(batch.subspan(begin, split.before - begin), first);
      begin = split.before;
      first.clear();
    }
    split.before = 0;
    first.push_back(split);
  }
  checker.feed(batch.subspan(begin), first, source.freed());
}

TEST(Reuse, ASplitMayBeAnywhereInABatch) {
  Random random(14);
  unsigned within = 0;
  for (unsigned i = 0; i < 2000 && !testing::Test::HasFailure(); ++i) {
    Lives lives = LivesGenerator(random, random_shape(random)).make();
    CheckOptions options = random_options(random, i % 2 == 0);
    const uint64_t batches = random.next();
    LivesSource a(lives, true, batches, 60), b(lives, true, batches, 60);
    Checker whole(a.tables(), options), pieces(b.tables(), options);
    for (;;) {
      std::span<const Event> batch = a.next().value(), same = b.next().value();
      if (batch.empty()) break;
      for (const VariableSplit& split : a.splits()) within += split.before > 0;
      whole.feed(batch, a.splits(), a.freed());
      feed_in_pieces(pieces, b, same);
    }
    EXPECT_EQ(show(whole.report()), show(pieces.report())) << "trace " << i;
  }
  EXPECT_GT(within, 1000u);
}

TEST(Reuse, LongRunsAnswerTheSame) { compare(13, 80, false, 30); }

struct Held {
  size_t early = 0, late = 0;  // at most, in the first fifth and after it
};
Held held(const Lives& lives, bool reuse, const CheckOptions& options) {
  LivesSource source(lives, reuse, 1, 50);
  Checker checker(source.tables(), options);
  Held most;
  for (size_t done = 0;;) {
    std::span<const Event> batch = source.next().value();
    if (batch.empty()) return most;
    checker.feed(batch, source.splits(), source.freed());
    done += batch.size();
    size_t& now = done < lives.events.size() / 5 ? most.early : most.late;
    now = std::max(now, checker.held());
  }
}

void expect_bounded(const LivesShape& shape, const CheckOptions& options) {
  Random random(5);
  Lives lives = LivesGenerator(random, shape).make();
  Held again = held(lives, true, options), apart = held(lives, false, options);
  EXPECT_LT(again.late, 2 * again.early) << "grows with the trace";
  EXPECT_GT(apart.late, 4 * again.late) << "says nothing: there was not much to hold";
}
CheckOptions heuristics() {
  CheckOptions options;
  options.units.methods = options.units.locks = true;
  return options;
}
CheckOptions every_function() {
  CheckOptions options;
  options.units.functions.push_back("*");
  return options;
}
TEST(Reuse, HoldsWhatIsThere) {
  expect_bounded({.threads = 3, .steps = 60000, .objects = 6}, heuristics());
  expect_bounded({.threads = 3, .steps = 60000, .objects = 6}, every_function());
}
// One unit spans the whole run and touches whatever there is.
TEST(Reuse, HoldsWhatIsThereOfAnEndlessUnit) {
  expect_bounded({.threads = 1, .steps = 60000, .objects = 6, .endless = true, .flat = true}, heuristics());
  expect_bounded({.threads = 1, .steps = 60000, .objects = 6, .endless = true, .flat = true},
                 every_function());
}

}  // namespace
}  // namespace cleave::conflict
