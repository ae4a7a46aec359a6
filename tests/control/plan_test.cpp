// Plans: followed where they can be, given up where not, with the reason.
#include <algorithm>
#include <map>
#include "control/running.h"

#include "confirm/visits.h"
#include "trace/core/load.h"
#include "trace/recorded/reader.h"

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

  EventIndex find(const std::string& path, EventKind kind, const std::string& object,
                  size_t number = 0) const {
    for (size_t i = 0; i < trace.size(); ++i) {
      const Event& event = trace.events()[i];
      if (event.kind != kind || trace.thread(event.thread).path != path) continue;
      std::string name =
          is_access(kind) ? trace.variable(event.variable()).name : trace.sync(event.sync()).name;
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
  Plan plan = recorded.plan(
      {recorded.find("0.1", EventKind::Read, "counter"), recorded.find("0.2", EventKind::Read, "counter"),
       recorded.find("0.2", EventKind::Write, "counter"), recorded.find("0.1", EventKind::Write, "counter")});
  RunOutcome outcome = recorded.follow("lost_update", plan);
  EXPECT_EQ(outcome.plan.reached, 4u) << outcome.plan.why;
  EXPECT_TRUE(outcome.plan.complete());
  EXPECT_EQ(outcome.exit_status, 1);
}

TEST(Plan, OfTheSecondThreadFirstIsFollowedToo) {
  Recorded recorded("lost_update");
  Plan plan = recorded.plan(
      {recorded.find("0.2", EventKind::Write, "counter"), recorded.find("0.1", EventKind::Read, "counter")});
  RunOutcome outcome = recorded.follow("lost_update", plan);
  EXPECT_TRUE(outcome.plan.complete()) << outcome.plan.why;
  EXPECT_EQ(outcome.exit_status, 0);
}

TEST(Plan, MakesTheDeadlockHappen) {
  Recorded recorded("deadlock");
  Plan plan = recorded.plan({recorded.find("0.1", EventKind::Acquire, "left"),
                             recorded.find("0.2", EventKind::Acquire, "right"),
                             recorded.find("0.1", EventKind::Acquire, "right")});
  RunOutcome outcome = recorded.follow("deadlock", plan);
  EXPECT_EQ(outcome.end, RunEnd::Deadlock) << outcome.plan.why;
}

TEST(Plan, IsGivenUpWhenNobodyElseCanRun) {
  // The second thread shall write inside the lock that the first is held in.
  Recorded recorded("guarded");
  Plan plan = recorded.plan({recorded.find("0.1", EventKind::Read, "counter"),
                             recorded.find("0.2", EventKind::Write, "counter"),
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
  Plan plan = recorded.plan(
      {recorded.find("0.1", EventKind::Write, "counter"), recorded.find("0.2", EventKind::Write, "counter")});
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

// The last visits of all places, in the order in which they were recorded. A count that is too high is never
// reached; one that is too low finds another value, where the visit has one.
TEST(Plan, VisitsAreCountedAsTheRuntimeCountsThem) {
  Recorded serial("same_place");
  Result<RecordedTrace> loaded = load_recorded_trace(serial.trace_path);
  ASSERT_TRUE(loaded.ok()) << loaded.error().sentence();
  const Trace& trace = loaded.value().trace;
  confirm::RecordedVisits visits(loaded.value());
  ASSERT_TRUE(visits.known());
  std::map<std::tuple<ThreadId, SiteId, EventKind>, EventIndex> last;
  size_t pairs = 0, without_line = 0;
  for (size_t e = 0; e < trace.size(); ++e) {
    const Event& event = trace.events()[e];
    if (event.site == kNone<SiteId> || !trace.site(event.site).file.ends_with("same_place.cpp")) continue;
    const bool lock = event.kind == EventKind::Acquire || event.kind == EventKind::Release;
    if ((!is_access(event.kind) && !lock) || visits.of(EventIndex{e}) == 0) continue;
    last[{event.thread, event.site, event.kind}] = EventIndex{e};
    without_line += trace.site(event.site).line == 0;
    pairs += trace.site(event.site).function.find("put") != std::string::npos;
  }
  EXPECT_EQ(pairs, 24u) << "two threads, four times, three at one place";
  EXPECT_EQ(without_line, 8u);
  std::vector<EventIndex> events;
  for (const auto& [place, event] : last) events.push_back(event);
  std::sort(events.begin(), events.end());
  EXPECT_GE(events.size(), 10u);
  Result<Plan> plan = plan_of(trace, events, [&](EventIndex event) { return visits.of(event); });
  ASSERT_TRUE(plan.ok()) << plan.error().sentence();
  uint64_t most = 0;
  for (size_t i = 0; i < plan.value().milestones.size(); ++i) {
    Milestone& milestone = plan.value().milestones[i];
    if (milestone.function.find("put") != std::string::npos) most = std::max(most, milestone.occurrence);
  }
  EXPECT_EQ(most, 12u) << "each of the twelve writes is a visit of its own";
  for (EventIndex event : events) {
    if (trace.event(event).kind != EventKind::Write) continue;
    for (Milestone& milestone : plan.value().milestones) {
      const Event& write = trace.event(event);
      const bool same = milestone.kind == EventKind::Write && milestone.line == trace.site(write.site).line &&
                        milestone.column == trace.site(write.site).column &&
                        milestone.occurrence == visits.of(event) &&
                        milestone.thread == trace.thread(write.thread).path;
      if (same) milestone.value = write.value;
    }
  }
  RunOutcome outcome = serial.follow("same_place", plan.value());
  EXPECT_TRUE(outcome.plan.complete()) << outcome.plan.why;
  EXPECT_EQ(outcome.exit_status, 0);
}

}  // namespace
}  // namespace cleave::exec
