// The figures of the CTP paper as C programs: recorded, walked, decided. The same as text traces:
// tests/solve.
#include "feasibility/solve/feasibility.h"
#include "walk/recorded_program.h"

namespace cleave {
namespace {

struct Answers {
  Answer program = Answer::Unknown, ignored = Answer::Unknown, recorded = Answer::Unknown;
};

// Of `x`: T1's first two accesses with T2's first write between them, under each model.
Answers decide(const std::string& name, const std::string& body, Pattern pattern) {
  // T2 is held back by sleeping, so that the run is the serial one of the figure.
  auto walked = record_program(
      name + ".c",
      "#include <pthread.h>\n#include <unistd.h>\n"
      "static pthread_mutex_t mx = PTHREAD_MUTEX_INITIALIZER, m = PTHREAD_MUTEX_INITIALIZER;\n"
      "static pthread_cond_t c = PTHREAD_COND_INITIALIZER;\n"
      "static int ready; static long x; long sink;\n"
      "static long get(void) { pthread_mutex_lock(&mx); long v = x; pthread_mutex_unlock(&mx); return v; }\n"
      "static void set(long v) { pthread_mutex_lock(&mx); x = v; pthread_mutex_unlock(&mx); }\n" +
          body +
          "int main(void) { pthread_t a, b; pthread_create(&a, 0, one, 0); pthread_create(&b, 0, two, 0);\n"
          "  pthread_join(a, 0); pthread_join(b, 0); (void)c, (void)m; return ready > 1; }\n",
      "-O1");
  Answers answers;
  if (!walked) return answers;
  Result<SymbolicTrace> symbolic = walk_recorded_paths(walked->recorded, {walked->program}, &walked->report);
  EXPECT_TRUE(symbolic.ok());
  if (!symbolic.ok()) return answers;
  EXPECT_EQ(walked->report.mismatches, 0u) << walked->remarks();
  EXPECT_EQ(walked->report.threads_lost, 0u) << walked->remarks();
  const Trace& trace = walked->recorded.trace;
  std::vector<EventIndex> unit, remote;
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& e = trace.events()[i];
    if (!is_access(e.kind) || trace.variable(e.variable()).name != "x") continue;
    if (trace.thread(e.thread).name == "T1") unit.push_back(id_of<EventIndex>(i));
    if (trace.thread(e.thread).name == "T2" && writes(e.kind)) remote.push_back(id_of<EventIndex>(i));
  }
  EXPECT_GE(unit.size(), 2u);
  EXPECT_EQ(remote.size(), 1u);
  if (unit.size() < 2 || remote.empty()) return answers;
  auto ask = [&](DataModel model) {
    FeasibilityOptions options;
    options.model = model;
    Feasibility got =
        FeasibilityChecker(symbolic.value(), options).decide({unit[0], remote[0], unit[1], pattern});
    EXPECT_NE(got.answer, Answer::Unknown) << got.why;
    return got.answer;
  };
  answers = {ask(DataModel::Program), ask(DataModel::Ignored), ask(DataModel::Recorded)};
  return answers;
}

std::string first_example(const std::string& condition) {
  return "static void *one(void *u) { long a = get(); set(a + 1); return u; }\n"
         "static void *two(void *u) { usleep(200000); long b = get(); if (" +
         condition + ") set(5); return u; }\n";
}

std::string second_example(bool ordered) {
  return std::string("static void *one(void *u) { set(1); sink = get() + 1;\n") +
         (ordered
              ? "  pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);\n"
              : "") +
         "  return u; }\n" + "static void *two(void *u) { " +
         (ordered
              ? "pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);"
              : "usleep(200000);") +
         " set(3); return u; }\n";
}

// Figure 1, and what figures 2 (values of the run alone) and 7 (no data) make of it.
TEST(Figures127, FirstExample) {
  Answers answers = decide("first", first_example("b > 0"), Pattern::RWW);
  EXPECT_EQ(answers.program, Answer::Infeasible);
  EXPECT_EQ(answers.ignored, Answer::Feasible);
  EXPECT_EQ(answers.recorded, Answer::Infeasible);
}

TEST(Figures127, FirstExampleWithAWeakerCondition) {
  Answers answers = decide("first_weaker", first_example("b >= 0"), Pattern::RWW);
  EXPECT_EQ(answers.program, Answer::Feasible);
  EXPECT_EQ(answers.ignored, Answer::Feasible);
  EXPECT_EQ(answers.recorded, Answer::Infeasible);
}

// T2 may come to its wait before or after the signal: a flag makes both the same story.
TEST(Figures127, SecondExample) {
  Answers answers = decide("second", second_example(true), Pattern::WWR);
  EXPECT_EQ(answers.program, Answer::Infeasible);
  EXPECT_EQ(answers.recorded, Answer::Infeasible);
}

TEST(Figures127, SecondExampleWithoutSignalAndWait) {
  Answers answers = decide("second_unordered", second_example(false), Pattern::WWR);
  EXPECT_EQ(answers.program, Answer::Feasible);
  EXPECT_EQ(answers.ignored, Answer::Feasible);
  EXPECT_EQ(answers.recorded, Answer::Infeasible);
}

// A semaphore is synchronization that no flag helps: without data it still rules the second example out
// (figure 7).
TEST(Figure7, SynchronizationAloneRulesTheSecondExampleOut) {
  Answers answers = decide("second_semaphore",
                           "#include <semaphore.h>\nstatic sem_t s;\n"
                           "__attribute__((constructor)) static void prepare(void) { sem_init(&s, 0, 0); }\n"
                           "static void *one(void *u) { set(1); sink = get() + 1; sem_post(&s); return u; }\n"
                           "static void *two(void *u) { sem_wait(&s); set(3); return u; }\n",
                           Pattern::WWR);
  EXPECT_EQ(answers.program, Answer::Infeasible);
  EXPECT_EQ(answers.ignored, Answer::Infeasible);
}

TEST(Figure6, APrefixIsEnough) {
  Answers answers =
      decide("sixth",
             "static void *one(void *u) { set(0); long a = get() + 1; if (a == 1) set(2); return u; }\n"
             "static void *two(void *u) { usleep(200000); set(3); sink = get(); return u; }\n",
             Pattern::WWR);
  EXPECT_EQ(answers.program, Answer::Feasible);
}

}  // namespace
}  // namespace cleave
