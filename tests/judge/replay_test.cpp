#include <gtest/gtest.h>

#include "base/random.h"
#include "judge/judge.h"
#include "oracle/enumerator.h"
#include "oracle/generator.h"
#include "trace/text/text.h"

namespace cleave::judge {
namespace {

std::string complaint(std::string_view text) {
  Result<Trace> trace = parse_text_trace(std::string(kTextTraceHeader) + "\n" + std::string(text), "test");
  EXPECT_TRUE(trace.ok()) << trace.error().sentence();
  const Status status = consistent(trace.value());
  return status.ok() ? "" : status.error().sentence();
}

TEST(Consistent, EveryRuleHasItsSentence) {
  EXPECT_EQ(complaint("A acquire m\nA release m\nB acquire m"), "");
  EXPECT_EQ(complaint("A acquire m\nB acquire m"), "event 1: B acquire: m is held by A");
  EXPECT_EQ(complaint("A release m"), "event 0: A release: m is not held by the thread");
  EXPECT_EQ(complaint("A acquire-shared m\nB acquire-shared m\nC acquire m"),
            "event 2: C acquire: m is held by readers");
  EXPECT_EQ(complaint("init x 0\nA write x 1\nB read x 2"),
            "event 1: B read: reads 2 from x, but the last write left 1");
  EXPECT_EQ(complaint("init x 0\nA update x 1 2"),
            "event 0: A update: reads 1 from x, but the last write left 0");
  EXPECT_EQ(complaint("A down s"), "event 0: A down: the semaphore has no token");
  EXPECT_EQ(complaint("A arrive b\nA pass b\nB arrive b\nB pass b"),
            "event 1: A pass: not all parties have arrived");
  EXPECT_EQ(complaint("B write x 1\nA fork B"), "event 0: B write: the thread has not been forked yet");
  EXPECT_EQ(complaint("A fork B\nA join B\nB write x 1"),
            "event 2: B write: the thread has been joined already");
  EXPECT_EQ(complaint("A acquire m\nA wait c m\nB acquire m\nA wake c m"), "event 3: A wake: m is held by B");
  EXPECT_EQ(complaint("A acquire m\nA wake c m"), "event 1: A wake: the thread does not wait");
}

TEST(Consistent, GeneratedTracesAreAndTheirReorderingsExactlyWhenTheOracleSaysSo) {
  Random random(3);
  size_t accepted = 0, rejected = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    const Trace trace = oracle::generate(seed);
    ASSERT_TRUE(consistent(trace).ok()) << consistent(trace).error().sentence() << "\n"
                                        << oracle::to_text(trace);
    // Exchange two neighbours of different threads and ask both.
    if (trace.size() < 2) continue;
    const size_t at = random.below(trace.size() - 1);
    if (trace.events()[at].thread == trace.events()[at + 1].thread) continue;
    bool conditions = false;
    TraceBuilder builder;
    for (const ThreadInfo& thread : trace.threads()) builder.add_thread(thread);
    for (const VariableInfo& variable : trace.variables()) builder.add_variable(variable);
    for (const SyncInfo& sync : trace.syncs()) builder.add_sync(sync);
    for (const UnitNameInfo& name : trace.unit_names()) builder.add_unit_name(name);
    std::vector<EventIndex> order;
    for (size_t i = 0; i < trace.size(); ++i) {
      const EventIndex index = id_of<EventIndex>(i == at ? at + 1 : i == at + 1 ? at : i);
      order.push_back(index);
      Event event = trace.event(index);
      event.site = kNone<SiteId>;
      conditions = conditions || event.kind == EventKind::Wake;  // the oracle knows no spurious wake-ups
      event.kind == EventKind::Update ? builder.add_update(event, trace.old_value(index))
                                      : builder.add(event);
    }
    if (conditions) continue;
    const Trace exchanged = std::move(builder).build();
    bool same_values = true;
    std::vector<uint64_t> memory;
    for (const VariableInfo& variable : exchanged.variables()) memory.push_back(variable.initial);
    for (size_t i = 0; i < exchanged.size(); ++i) {
      const Event& event = exchanged.events()[i];
      const uint64_t seen =
          event.kind == EventKind::Update ? exchanged.old_value(id_of<EventIndex>(i)) : event.value;
      same_values = same_values && (!reads(event.kind) || memory[event.object] == seen);
      if (writes(event.kind)) memory[event.object] = event.value;
    }
    const bool possible =
        same_values && oracle::feasible(trace, order, {.model = oracle::Model::Synchronization});
    EXPECT_EQ(consistent(exchanged).ok(), possible) << oracle::to_text(exchanged);
    ++(possible ? accepted : rejected);
  }
  EXPECT_GT(accepted, 100u);
  EXPECT_GT(rejected, 100u);
}

}  // namespace
}  // namespace cleave::judge
