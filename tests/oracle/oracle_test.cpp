// The oracle is small enough to be checked against cases worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "oracle/enumerator.h"
#include "oracle/generator.h"

namespace cleave::oracle {
namespace {

size_t interleavings(const Trace& trace, Model model) {
  size_t count = 0;
  for_each_interleaving(trace, {.model = model}, [&](std::span<const EventIndex>) { return ++count, true; });
  return count;
}

TEST(Enumerator, CountsInterleavingsOfTwoThreads) {
  TraceBuilder b;
  b.write("A", "x", 1);
  b.write("A", "x", 2);
  b.write("B", "y", 1);
  b.write("B", "y", 2);
  EXPECT_EQ(interleavings(std::move(b).build(), Model::Synchronization), 6u);
}

TEST(Enumerator, CriticalSectionsDoNotOverlap) {
  TraceBuilder b;
  for (const char* thread : {"A", "B"}) {
    b.acquire(thread, "m");
    b.write(thread, "x", 1);
    b.release(thread, "m");
  }
  EXPECT_EQ(interleavings(std::move(b).build(), Model::Synchronization), 2u);
}

TEST(Enumerator, ForkAndJoinOrderTheChild) {
  TraceBuilder b;
  b.write("A", "x", 1);
  b.fork("A", "B");
  b.write("B", "x", 2);
  b.join("A", "B");
  b.write("A", "x", 3);
  EXPECT_EQ(interleavings(std::move(b).build(), Model::Synchronization), 1u);
}

TEST(Enumerator, KeepsWritesForbidsWhatChangesAReadAndValuesStopsAtTheNextBranch) {
  TraceBuilder b;
  const EventIndex write = b.write("A", "x", 1);
  const EventIndex read = b.read("B", "x", 1);
  const EventIndex after = b.add({.kind = EventKind::Write,
                                  .branches = 1,
                                  .thread = b.thread("B"),
                                  .object = raw(b.variable("y")),
                                  .value = 7});
  const Trace trace = std::move(b).build();
  const EventIndex changed[] = {read, write}, beyond_branch[] = {read, after, write};
  EXPECT_TRUE(feasible(trace, changed, {.model = Model::Synchronization}));
  EXPECT_FALSE(feasible(trace, changed, {.model = Model::KeepsWrites}));
  EXPECT_TRUE(feasible(trace, changed, {.model = Model::Values}));
  EXPECT_TRUE(feasible(trace, beyond_branch, {.model = Model::Synchronization}));
  EXPECT_FALSE(feasible(trace, beyond_branch, {.model = Model::Values}));
}

TEST(Enumerator, ASignalWakesOneWaiterOnly) {
  TraceBuilder b;
  const SyncId c = b.sync("c", SyncKind::Condition), m = b.sync("m", SyncKind::Mutex);
  auto on = [&](const char* thread, EventKind kind, SyncId object, SyncId second = kNone<SyncId>) {
    return b.add({.kind = kind, .thread = b.thread(thread), .object = raw(object), .object2 = raw(second)});
  };
  on("A", EventKind::Acquire, m);
  on("A", EventKind::Wait, c, m);
  on("B", EventKind::Acquire, m);
  on("B", EventKind::Wait, c, m);
  on("C", EventKind::Signal, c);
  const EventIndex wake_a = on("A", EventKind::Wake, c, m);
  on("A", EventKind::Release, m);
  const EventIndex second_signal = on("C", EventKind::Signal, c);
  const EventIndex wake_b = on("B", EventKind::Wake, c, m);
  on("B", EventKind::Release, m);
  const Trace trace = std::move(b).build();
  const EventIndex both_early[] = {wake_a, wake_b, second_signal},
                   b_first[] = {wake_b, second_signal, wake_a};
  EXPECT_FALSE(feasible(trace, both_early, {}));
  EXPECT_TRUE(feasible(trace, b_first, {}));
}

TEST(Atomic, LostUpdateNeedsFinalWrites) {
  TraceBuilder b;
  b.begin("A", "u");
  b.read("A", "x", 0);
  b.write("B", "x", 1);
  b.write("A", "x", 2);
  b.end("A");
  const Trace trace = std::move(b).build();
  EXPECT_FALSE(atomic(trace));
  EXPECT_TRUE(atomic(trace, {.final_writes = false}));
}

TEST(Atomic, InitialisationBeforeForkStaysFirst) {
  // B's write could be explained before main's, but B did not exist then.
  TraceBuilder b;
  b.write("main", "x", 10);
  b.fork("main", "A");
  b.fork("main", "B");
  b.begin("A", "u");
  b.read("A", "x", 10);
  b.write("B", "x", 5);
  b.write("A", "x", 9);
  b.end("A");
  EXPECT_FALSE(atomic(std::move(b).build()));
}

TEST(Atomic, OtherComponentsDoNotCount) {
  TraceBuilder b;
  b.begin("A", "u");
  const EventIndex lost = b.read("A", "x", 0);
  b.write("B", "x", 1);
  b.write("A", "x", 2);
  b.end("A");
  b.begin("A", "v");
  const EventIndex clean = b.write("A", "y", 1);
  b.end("A");
  b.read("B", "y", 1);
  const Trace trace = std::move(b).build();
  EXPECT_FALSE(atomic(trace));
  EXPECT_FALSE(atomic_around(trace, lost));
  EXPECT_TRUE(atomic_around(trace, clean));
}

TEST(Generator, SameSeedSameTraceAndAllKindsAppear) {
  std::map<EventKind, size_t> kinds;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const Trace trace = generate(seed);
    if (seed < 50) EXPECT_EQ(trace, generate(seed));
    for (const Event& event : trace.events()) ++kinds[event.kind];
  }
  for (EventKind kind :
       {EventKind::Read, EventKind::Write, EventKind::Update, EventKind::Acquire, EventKind::Release,
        EventKind::AcquireShared, EventKind::Fork, EventKind::Join, EventKind::Begin, EventKind::Wait,
        EventKind::Wake, EventKind::Signal, EventKind::Broadcast, EventKind::Post, EventKind::Down,
        EventKind::Arrive, EventKind::Pass}) {
    EXPECT_GT(kinds[kind], 20u) << word_of(kind);
  }
}

TEST(Generator, TheRecordedOrderIsFeasibleInEveryModel) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const Trace trace = generate(seed);
    std::vector<EventIndex> recorded(trace.size());
    for (size_t i = 0; i < recorded.size(); ++i) recorded[i] = id_of<EventIndex>(i);
    for (Model model : {Model::Synchronization, Model::KeepsWrites, Model::Values}) {
      EXPECT_TRUE(feasible(trace, recorded, {.model = model})) << to_text(trace);
    }
  }
}

TEST(Enumerator, EachModelKeepsLessThanTheOneAbove) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Trace trace = generate(seed, {.max_threads = 3});
    const auto all = feasible_triples(trace, {.model = Model::Synchronization});
    const auto values = feasible_triples(trace, {.model = Model::Values});
    const auto kept = feasible_triples(trace, {.model = Model::KeepsWrites});
    EXPECT_TRUE(std::includes(all.begin(), all.end(), values.begin(), values.end())) << to_text(trace);
    EXPECT_TRUE(std::includes(values.begin(), values.end(), kept.begin(), kept.end())) << to_text(trace);
  }
}

TEST(Shrink, FindsTheThreeAccesses) {
  TraceBuilder b;
  b.write("C", "y", 1);
  b.begin("A", "u");
  b.acquire("A", "m");
  b.read("A", "x", 0);
  b.release("A", "m");
  b.read("B", "y", 1);
  b.write("B", "x", 1);
  b.write("A", "x", 2);
  b.end("A");
  const Trace small = shrink(std::move(b).build(), [](const Trace& trace) { return !atomic(trace); });
  EXPECT_EQ(small.size(), 5u) << to_text(small);
}

}  // namespace
}  // namespace cleave::oracle
