// Plans: followed where they can be, given up where not, with the reason.
#include "control/running.h"
#include "trace/load.h"

namespace cleave::exec {
namespace {

// A serial run's trace, and the events of one thread and kind on a variable.
struct Recorded {
  explicit Recorded(const std::string& program) : trace_path(folder.file("serial.cleave")) {
    RunRequest serial = request(program, Policy::Serial);
    serial.trace = trace_path;
    must_run(serial);
    Result<Trace> loaded = load_trace(trace_path);
    EXPECT_TRUE(loaded.ok()) << loaded.error().sentence();
    if (loaded.ok()) trace = std::move(loaded).value();
  }

  EventIndex find(const std::string& path, EventKind kind, const std::string& object, size_t number = 0) const {
    for (size_t i = 0; i < trace.size(); ++i) {
      const Event& event = trace.events()[i];
      if (event.kind != kind || trace.thread(event.thread).path != path) continue;
      std::string name = is_access(kind) ? trace.variable(event.variable()).name : trace.sync(event.sync()).name;
      if (name.find(object) == std::string::npos) continue;
      if (number-- == 0) return id_of<EventIndex>(i);
    }
    ADD_FAILURE() << "no " << word_of(kind) << " of " << object << " by " << path;
    return id_of<EventIndex>(0);
  }

  Plan plan(const std::vector<EventIndex>& events) const {
    Result<Plan> made = plan_of(trace, events);
    EXPECT_TRUE(made.ok()) << made.error().sentence();
    return made.ok() ? std::move(made).value() : Plan{};
  }

  RunOutcome follow(const std::string& program, const Plan& plan) const {
    RunRequest along = request(program, Policy::Plan);
    along.plan = plan;
    along.sites = trace_path;
    return must_run(along);
  }

  Folder folder;
  std::string trace_path;
  Trace trace;
};

TEST(Plan, MakesTheLostUpdateHappen) {
  Recorded recorded("lost_update");
  Plan plan = recorded.plan({recorded.find("0.1", EventKind::Read, "counter"), recorded.find("0.2", EventKind::Read, "counter"),
                             recorded.find("0.2", EventKind::Write, "counter"), recorded.find("0.1", EventKind::Write, "counter")});
  RunOutcome outcome = recorded.follow("lost_update", plan);
  EXPECT_EQ(outcome.plan.reached, 4u) << outcome.plan.why;
  EXPECT_TRUE(outcome.plan.complete());
  EXPECT_EQ(outcome.exit_status, 1);
}

TEST(Plan, OfTheSecondThreadFirstIsFollowedToo) {
  Recorded recorded("lost_update");
  Plan plan = recorded.plan({recorded.find("0.2", EventKind::Write, "counter"), recorded.find("0.1", EventKind::Read, "counter")});
  RunOutcome outcome = recorded.follow("lost_update", plan);
  EXPECT_TRUE(outcome.plan.complete()) << outcome.plan.why;
  EXPECT_EQ(outcome.exit_status, 0);
}

TEST(Plan, MakesTheDeadlockHappen) {
  Recorded recorded("deadlock");
  Plan plan = recorded.plan({recorded.find("0.1", EventKind::Acquire, "left"), recorded.find("0.2", EventKind::Acquire, "right"),
                             recorded.find("0.1", EventKind::Acquire, "right")});
  RunOutcome outcome = recorded.follow("deadlock", plan);
  EXPECT_EQ(outcome.end, RunEnd::Deadlock) << outcome.plan.why;
}

TEST(Plan, IsGivenUpWhenNobodyElseCanRun) {
  // The second thread shall write inside the lock that the first is held in.
  Recorded recorded("guarded");
  Plan plan = recorded.plan({recorded.find("0.1", EventKind::Read, "counter"), recorded.find("0.2", EventKind::Write, "counter"),
                             recorded.find("0.1", EventKind::Write, "counter")});
  RunOutcome outcome = recorded.follow("guarded", plan);
  EXPECT_EQ(outcome.plan.reached, 1u);
  EXPECT_NE(outcome.plan.why.find("waits for the mutex"), std::string::npos) << outcome.plan.why;
  EXPECT_NE(outcome.plan.why.find("is held by the plan"), std::string::npos) << outcome.plan.why;
  EXPECT_EQ(outcome.exit_status, 0) << "it runs on to the end";
}

TEST(Plan, ThatIsNeverReachedSaysSo) {
  Recorded recorded("lost_update");
  Plan plan = recorded.plan({recorded.find("0.1", EventKind::Read, "counter")});
  plan.milestones.push_back(plan.milestones[0]);
  plan.milestones[1].occurrence = 99;
  RunOutcome outcome = recorded.follow("lost_update", plan);
  EXPECT_EQ(outcome.plan.reached, 1u);
  EXPECT_NE(outcome.plan.why.find("thread 0.1 ended before"), std::string::npos) << outcome.plan.why;
  EXPECT_EQ(outcome.exit_status, 0);
}

TEST(Plan, IsGivenUpWhenTheOthersAreOutside) {
  // The one that shall come first waits for input that only comes when the other is through.
  Recorded recorded("held_beside");
  Plan plan = recorded.plan({recorded.find("0.1", EventKind::Write, "counter"), recorded.find("0.2", EventKind::Write, "counter")});
  RunOutcome outcome = recorded.follow("held_beside", plan);
  EXPECT_EQ(outcome.plan.reached, 0u);
  EXPECT_NE(outcome.plan.why.find("is in a system call"), std::string::npos) << outcome.plan.why;
  EXPECT_EQ(outcome.exit_status, 0) << "it runs on to the end";
}

TEST(Plan, StopsAtAnotherValue) {
  Recorded recorded("lost_update");
  Plan plan = recorded.plan({recorded.find("0.2", EventKind::Read, "counter")});
  plan.milestones[0].value = 5;
  RunOutcome outcome = recorded.follow("lost_update", plan);
  EXPECT_EQ(outcome.plan.reached, 0u);
  EXPECT_NE(outcome.plan.why.find("the value was"), std::string::npos) << outcome.plan.why;
}

TEST(Plan, OfAPlaceThatDoesNotExistIsAnError) {
  Recorded recorded("lost_update");
  RunRequest along = request("lost_update", Policy::Plan);
  along.plan = Plan{{{"0.1", EventKind::Read, "nowhere.cpp", 3, 0, "", 1, std::nullopt, ""}}};
  along.sites = recorded.trace_path;
  Result<RunOutcome> outcome = run(along);
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.error().sentence().find("no such place"), std::string::npos);
}

}  // namespace
}  // namespace cleave::exec
