// Reading and judging in a thread each gives the answer that one thread gives.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "analysis/conflict/check.h"
#include "analysis/conflict/generated_traces.h"
#include "trace/imported/imported_events.h"
#include "trace/live/read_ahead.h"
#include "trace/text/rapid.h"

namespace cleave::conflict {
namespace {

// One after another, so that events come in several batches and tables grow on the way; threads and variables
// are others each time.
std::string rapid_text(Random& random, unsigned traces) {
  std::string text;
  for (unsigned i = 0; i < traces; ++i) {
    TraceShape shape = random_shape(random);
    shape.waits = false;
    shape.steps *= 20;
    const Trace trace = TraceGenerator(random, shape).make();
    for (const Event& event : trace.events()) {
      std::string what;
      switch (event.kind) {
        case EventKind::Read:
          what = fmt::format("r(V{})", event.object + 100 * i);
          break;
        case EventKind::Write:
        case EventKind::Update:
          what = fmt::format("w(V{})", event.object + 100 * i);
          break;
        case EventKind::Acquire:
          what = fmt::format("acq(l{})", event.object);
          break;
        case EventKind::Release:
          what = fmt::format("rel(l{})", event.object);
          break;
        case EventKind::Fork:
          what = fmt::format("fork(T{})", event.object + 10 * i);
          break;
        case EventKind::Join:
          what = fmt::format("join(T{})", event.object + 10 * i);
          break;
        case EventKind::Begin:
          what = "begin";
          break;
        case EventKind::End:
          what = "end";
          break;
        default:
          continue;
      }
      text += fmt::format("T{}|{}|{}\n", raw(event.thread) + 10 * i, what, random.below(30));
    }
  }
  return text;
}

CheckOptions options_of(bool one) {
  CheckOptions options;
  options.units.annotated = true;
  options.sets.one = one;
  return options;
}

void expect_same(const CheckReport& got, const CheckReport& expected) {
  EXPECT_EQ(got.first_violation, expected.first_violation);
  EXPECT_EQ(got.cycles_seen, expected.cycles_seen);
  EXPECT_EQ(got.events, expected.events);
  EXPECT_EQ(got.units, expected.units);
  EXPECT_EQ(got.edges, expected.edges);
  EXPECT_EQ(got.most_live, expected.most_live);
  ASSERT_EQ(got.findings.size(), expected.findings.size());
  for (size_t i = 0; i < got.findings.size(); ++i) {
    EXPECT_EQ(got.findings[i].id, expected.findings[i].id);
    EXPECT_EQ(got.findings[i].occurrences, expected.findings[i].occurrences);
    ASSERT_EQ(got.findings[i].edges.size(), expected.findings[i].edges.size());
    for (size_t e = 0; e < got.findings[i].edges.size(); ++e) {
      EXPECT_EQ(got.findings[i].edges[e].variable, expected.findings[i].edges[e].variable);
      EXPECT_EQ(got.findings[i].edges[e].first.line, expected.findings[i].edges[e].first.line);
      EXPECT_EQ(got.findings[i].edges[e].second.line, expected.findings[i].edges[e].second.line);
    }
  }
}

class CheckAhead : public testing::Test {
 protected:
  std::string path_ =
      testing::TempDir() + "check_ahead." + testing::UnitTest::GetInstance()->current_test_info()->name();
  void TearDown() override { std::remove(path_.c_str()); }

  template <typename Open>
  void compare(Open open, bool one) {
    auto source = open(path_), under = open(path_);
    ASSERT_TRUE(source.ok() && under.ok());
    const CheckReport expected = check(*source.value(), options_of(one)).value();
    ReadAhead ahead(*under.value());
    expect_same(check(ahead, options_of(one)).value(), expected);
    cycles_ += expected.cycles_seen;
    if (!expected.first_violation) return;
    CheckOptions first = options_of(one);
    first.stop_at_first = true;
    auto again = open(path_);
    ReadAhead early(*again.value());
    Checker checker(early.tables(), first);
    while (checker.feed(early.next().value())) {
    }
    EXPECT_EQ(checker.report().first_violation, expected.first_violation);
  }
  uint64_t cycles_ = 0;
};

TEST_F(CheckAhead, RapidText) {
  Random random(21);
  for (unsigned i = 0; i < 60; ++i) {
    std::ofstream(path_, std::ios::binary) << rapid_text(random, 1 + i % 30);
    compare(open_rapid_trace, i % 2 == 0);
    if (HasFailure()) break;
  }
  EXPECT_GT(cycles_, 100u);
}

TEST_F(CheckAhead, ImportedEvents) {
  Random random(22);
  for (unsigned i = 0; i < 60; ++i) {
    TraceShape shape = random_shape(random);
    shape.steps *= 100;
    std::ofstream(path_, std::ios::binary) << write_binary_trace(TraceGenerator(random, shape).make());
    compare([](const std::string& path) { return open_binary_trace(path); }, i % 2 == 0);
    if (HasFailure()) break;
  }
  EXPECT_GT(cycles_, 100u);
}

TEST_F(CheckAhead, AnErrorInTheMiddleIsTold) {
  Random random(23);
  const std::string text = rapid_text(random, 30);
  std::ofstream(path_, std::ios::binary) << text << "T1 leaps\n" << text;
  auto source = open_rapid_trace(path_), under = open_rapid_trace(path_);
  ReadAhead ahead(*under.value());
  Result<CheckReport> expected = check(*source.value(), options_of(true)),
                      got = check(ahead, options_of(true));
  ASSERT_FALSE(expected.ok() || got.ok());
  EXPECT_EQ(got.error().sentence(), expected.error().sentence());
}

}  // namespace
}  // namespace cleave::conflict
