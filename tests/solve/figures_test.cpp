// The figures of the CTP paper, as text traces. The same from C programs: tests/walk/figures_test.cpp.
#include <gtest/gtest.h>

#include "feasibility/solve/feasibility.h"
#include "solve/brute_force.h"
#include "trace/text/text.h"

namespace cleave {
namespace {

// Of `x`: T1's first two accesses with T2's first write between them.
Answer decide(const std::string& text, Pattern pattern, DataModel model = DataModel::Program) {
  Result<Trace> trace = parse_text_trace("# cleave text trace 1\n" + text, "figure");
  EXPECT_TRUE(trace.ok()) << trace.error().sentence();
  if (!trace.ok()) return Answer::Unknown;
  std::vector<EventIndex> unit, remote;
  for (size_t i = 0; i < trace.value().size(); ++i) {
    const Event& e = trace.value().events()[i];
    if (!is_access(e.kind) || trace.value().variable(e.variable()).name != "x") continue;
    bool first = trace.value().thread(e.thread).name == "T1";
    if (first) unit.push_back(id_of<EventIndex>(i));
    if (!first && writes(e.kind)) remote.push_back(id_of<EventIndex>(i));
  }
  Result<SymbolicTrace> lifted = lift_annotations(trace.value());
  EXPECT_TRUE(lifted.ok()) << lifted.error().sentence();
  Answer answer = Answer::Unknown;
  for (uint64_t states : {uint64_t{0}, uint64_t{100'000}}) {  // by the solver alone, and as users have it
    FeasibilityOptions options;
    options.states = states;
    options.model = model;
    Feasibility got =
        FeasibilityChecker(lifted.value(), options).decide({unit.at(0), remote.at(0), unit.at(1), pattern});
    EXPECT_NE(got.answer, Answer::Unknown) << got.why;
    if (answer != Answer::Unknown) EXPECT_EQ(got.answer, answer);
    answer = got.answer;
    if (answer == Answer::Feasible && model == DataModel::Program) {
      std::string why;
      EXPECT_TRUE(
          oracle::runs(trace.value(), got.order, unit[0], remote[0], unit[1], pattern, got.inputs, &why))
          << why;
    }
  }
  return answer;
}

std::string figure_1a(const std::string& condition) {
  return "T1 begin u\nT1 read x 0 -> a\nT1 write x 1 = (+ a 1)\nT1 end\n"
         "T2 read x 1 -> b\nT2 assume " +
         condition + "\nT2 write x 5 = 5\n";
}

const char* const kFigure1b =
    "T2 acquire m\nT2 wait c m\n"
    "T1 begin u\nT1 write x 1 = 1\nT1 read x 1 -> a\nT1 end\n"
    "T1 acquire m\nT1 signal c\nT1 release m\n"
    "T2 wake c m\nT2 release m\nT2 write x 3 = 3\n";
const char* const kFigure1bUnordered =
    "T1 begin u\nT1 write x 1 = 1\nT1 read x 1 -> a\nT1 end\nT2 write x 3 = 3\n";

// Figure 1: data and synchronization rule out what ignoring them would report; the variants are real.
TEST(Figure1, TheConditionRulesItOut) {
  EXPECT_EQ(decide(figure_1a("(> b 0)"), Pattern::RWW), Answer::Infeasible);
}
TEST(Figure1, AWeakerConditionLetsItHappen) {
  EXPECT_EQ(decide(figure_1a("(>= b 0)"), Pattern::RWW), Answer::Feasible);
}
TEST(Figure1, SignalAndWaitRuleItOut) { EXPECT_EQ(decide(kFigure1b, Pattern::WWR), Answer::Infeasible); }
TEST(Figure1, WithoutThemItHappens) { EXPECT_EQ(decide(kFigure1bUnordered, Pattern::WWR), Answer::Feasible); }

// Figure 2: with the values of the run alone, the real violations of the variants are missed.
TEST(Figure2, ConcreteEventsMissTheRealOnes) {
  EXPECT_EQ(decide(figure_1a("(> b 0)"), Pattern::RWW, DataModel::Recorded), Answer::Infeasible);
  EXPECT_EQ(decide(figure_1a("(>= b 0)"), Pattern::RWW, DataModel::Recorded), Answer::Infeasible);
  EXPECT_EQ(decide(kFigure1b, Pattern::WWR, DataModel::Recorded), Answer::Infeasible);
  EXPECT_EQ(decide(kFigure1bUnordered, Pattern::WWR, DataModel::Recorded), Answer::Infeasible);
}

// Figure 6: the violation takes the thread off its recorded path afterwards; only the prefix has to be
// feasible.
TEST(Figure6, APrefixIsEnough) {
  EXPECT_EQ(decide("T1 begin u\nT1 write x 0 = 0\nT1 read x 0 -> v\nT1 end\nT1 assume (= (+ v 1) 1)\nT1 "
                   "write x 2 = 2\n"
                   "T2 write x 3 = 3\nT2 read x 3 -> b\n",
                   Pattern::WWR),
            Answer::Feasible);
}

// Figure 7: the model that ignores data reports the first example wrongly, and not the second.
TEST(Figure7, WithoutDataTheFirstIsReportedAndTheSecondIsNot) {
  EXPECT_EQ(decide(figure_1a("(> b 0)"), Pattern::RWW, DataModel::Ignored), Answer::Feasible);
  EXPECT_EQ(decide(figure_1a("(>= b 0)"), Pattern::RWW, DataModel::Ignored), Answer::Feasible);
  EXPECT_EQ(decide(kFigure1b, Pattern::WWR, DataModel::Ignored), Answer::Infeasible);
  EXPECT_EQ(decide(kFigure1bUnordered, Pattern::WWR, DataModel::Ignored), Answer::Feasible);
}

}  // namespace
}  // namespace cleave
