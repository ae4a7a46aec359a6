#include "trace/live/read_ahead.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <fstream>

#include "base/random.h"
#include "trace/fake_program.h"
#include "trace/generate.h"
#include "trace/imported/imported_events.h"
#include "trace/recorded/reader.h"
#include "trace/text/rapid.h"

namespace cleave {
namespace {

// Several batches in which tables grow and entries change: blocks that come and go and turn out to be
// objects, locations that are split, locks, threads, updates.
FakeRecorder growing_program() {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  constexpr uint32_t kThreads = 3, kRounds = 3000;
  r.start(0, UINT32_MAX);
  r.segment(0, FakeProgram::kCall, {});
  for (uint32_t t = 1; t < kThreads; ++t) r.fork(0, t);
  for (uint32_t t = 1; t < kThreads; ++t) r.start(t, 0);
  constexpr uint64_t kEarly = FakeProgram::kHeapBase + 0x10000;
  r.record(0, RecordKind::alloc, {kEarly, 16, r.stamp()});
  std::vector<uint64_t> last(FakeProgram::kGlobals, 0);
  for (uint32_t i = 0; i < kRounds; ++i) {
    uint32_t t = i % kThreads, global = i % FakeProgram::kGlobals;
    uint64_t block = FakeProgram::kHeapBase + 64 * (i % 50);
    r.on_object(t, RecordKind::mutex_lock, program.lock(i % FakeProgram::kLocks));
    r.record(t, RecordKind::alloc, {block, 16, r.stamp()});
    r.segment(t, i % 3 == 0 ? FakeProgram::kField : FakeProgram::kWrite, {block + 8, i});
    if (i % 100 == 7) r.segment(t, FakeProgram::kRead4, {block + 8, i});
    program.read(t, global, last[global]);
    program.write(t, global, last[global] = i);
    program.atomic(t, 0x30000, 2, i, i + 1);
    if (i % 2 == 0) r.record(t, RecordKind::free, {block, r.stamp()});
    r.on_object(t, RecordKind::mutex_unlock, program.lock(i % FakeProgram::kLocks));
  }
  r.segment(0, FakeProgram::kField, {kEarly + 8, 5});  // an account, as it turns out
  for (uint32_t t = kThreads; t-- > 0;) r.exit(t);
  r.flush_all();
  r.end();
  return r;
}

std::string saved() {
  std::string path = testing::TempDir() + "read_ahead_test." +
                     testing::UnitTest::GetInstance()->current_test_info()->name() + ".cleave";
  growing_program().save(path);
  return path;
}

std::unique_ptr<BinarySource> open(const std::string& path) {
  Result<std::unique_ptr<BinarySource>> source = open_binary_trace(path);
  EXPECT_TRUE(source.ok());
  return std::move(source).value();
}

// Batch for batch the same events, splits, old values, and the same tables at that moment.
TEST(ReadAhead, GivesWhatTheSourceGives) {
  std::string path = saved();
  std::unique_ptr<BinarySource> source = open(path), under = open(path);
  ReadAhead ahead(*under);
  size_t batches = 0, splits = 0, updates = 0;
  std::string early;
  for (;; ++batches) {
    auto expected = source->next();
    auto got = ahead.next();
    ASSERT_TRUE(expected.ok() && got.ok());
    ASSERT_EQ(std::vector<Event>(got.value().begin(), got.value().end()),
              std::vector<Event>(expected.value().begin(), expected.value().end()));
    EXPECT_EQ(ahead.tables(), source->tables());
    if (batches == 0) early = ahead.tables().objects()[0].type;
    EXPECT_EQ(ahead.tables().changes().moved, source->tables().changes().moved);
    EXPECT_EQ(ahead.tables().changes().outer_set, source->tables().changes().outer_set);
    ASSERT_EQ(ahead.splits().size(), source->splits().size());
    if (expected.value().empty()) break;
    splits += ahead.splits().size();
    for (size_t i = 0; i < ahead.splits().size(); ++i) {
      EXPECT_EQ(ahead.splits()[i].whole, source->splits()[i].whole);
      EXPECT_EQ(ahead.splits()[i].parts, source->splits()[i].parts);
      EXPECT_EQ(ahead.splits()[i].before, source->splits()[i].before);
    }
    for (size_t i = 0; i < expected.value().size(); ++i) {
      if (expected.value()[i].kind != EventKind::Update) continue;
      ++updates;
      EXPECT_EQ(ahead.old_value(i), source->old_value(i));
    }
  }
  EXPECT_GT(batches, 5u);
  EXPECT_GT(splits, 5u);
  EXPECT_GT(updates, 1000u);
  EXPECT_EQ(early, "");
  EXPECT_EQ(ahead.tables().objects()[0].type, "Account");
  EXPECT_TRUE(ahead.complete());
  EXPECT_EQ(ahead.next().value().size(), 0u);
  std::remove(path.c_str());
}

TEST(ReadAhead, EndsEarlyAndLetsTheReaderDoOtherThingsMeanwhile) {
  std::string path = saved();
  std::unique_ptr<BinarySource> under = open(path);
  std::atomic<size_t> meanwhile = 0;
  ReadAhead ahead(*under, [&] { ++meanwhile; });
  ASSERT_FALSE(ahead.next().value().empty());
  while (meanwhile == 0) std::this_thread::yield();
  ahead.stop();
  size_t left = 0;
  while (!ahead.next().value().empty()) ++left;
  EXPECT_LE(left, 17u);
  std::remove(path.c_str());
}

// Text whose tables grow in every batch: threads that are forked after they were met, variables of both
// shapes of names, locks, places, units.
std::string rapid_text(size_t lines) {
  Random random(3);
  std::string text = "T0|begin|1\n";
  for (size_t i = 0; i < lines; ++i) {
    const size_t thread = random.below(2 + i / 1000), place = random.below(10 + i / 100);
    const char* shapes[] = {"r(V{})",   "w(V{})", "r(x.{})", "acq(l{})",
                            "rel(l{})", "begin",  "end",     "fork(T{})"};
    const size_t shape = random.chance(1, 50) ? 7 : random.below(7);
    const size_t number = random.below(shape == 7 ? 2 + i / 1000 : 5 + i / 10);
    const std::string operation = fmt::format(fmt::runtime(shapes[shape]), number);
    text += fmt::format("T{}|{}|{}\n", thread, operation, place);
  }
  return text;
}

std::unique_ptr<BatchSource> open_rapid(const std::string& text) {
  std::string path = testing::TempDir() + "read_ahead_test." +
                     testing::UnitTest::GetInstance()->current_test_info()->name() + ".std";
  std::ofstream(path, std::ios::binary) << text;
  Result<std::unique_ptr<BatchSource>> source = open_rapid_trace(path);
  EXPECT_TRUE(source.ok());
  std::remove(path.c_str());  // it stays mapped
  return std::move(source).value();
}

// Batch for batch the same, and in the end the same error or none.
void expect_same(EventSource& source, EventSource& ahead, size_t most_batches = SIZE_MAX) {
  size_t batches = 0;
  for (;; ++batches) {
    auto expected = source.next();
    auto got = ahead.next();
    ASSERT_EQ(expected.ok(), got.ok());
    if (!expected.ok()) {
      EXPECT_EQ(got.error().sentence(), expected.error().sentence());
      EXPECT_EQ(ahead.next().error().sentence(), expected.error().sentence());
      break;
    }
    ASSERT_EQ(std::vector<Event>(got.value().begin(), got.value().end()),
              std::vector<Event>(expected.value().begin(), expected.value().end()));
    for (size_t i = 0; i < got.value().size(); ++i) {
      if (got.value()[i].kind == EventKind::Update) EXPECT_EQ(ahead.old_value(i), source.old_value(i));
    }
    if (batches == most_batches) return;
    EXPECT_EQ(ahead.tables().variable_count(), source.tables().variable_count());
    if (batches % 5 == 4) EXPECT_EQ(ahead.tables(), source.tables());
    if (expected.value().empty()) break;
  }
  EXPECT_EQ(ahead.tables(), source.tables());
  EXPECT_GT(batches, 5u);
}

TEST(ReadAhead, RapidTextIsTheSame) {
  const std::string text = rapid_text(40'000);
  std::unique_ptr<BatchSource> source = open_rapid(text), under = open_rapid(text);
  ReadAhead ahead(*under);
  expect_same(*source, ahead);
  EXPECT_NE(ahead.tables().thread(ThreadId{0}).parent,
            kNone<ThreadId>);  // met in the first line, forked later
}

TEST(ReadAhead, AnErrorInTheMiddleOfTextComesAfterWhatStandsBeforeIt) {
  const std::string text = rapid_text(30'000) + "T1|jump(x)|3\n" + rapid_text(10);
  std::unique_ptr<BatchSource> source = open_rapid(text), under = open_rapid(text);
  ReadAhead ahead(*under);
  expect_same(*source, ahead);
  EXPECT_NE(ahead.next().error().sentence().find("line 30002"), std::string::npos)
      << ahead.next().error().sentence();
}

TEST(ReadAhead, TextNeedNotBeReadToItsEnd) {
  const std::string text = rapid_text(300'000);
  std::unique_ptr<BatchSource> unread = open_rapid(text), under = open_rapid(text), source = open_rapid(text);
  {
    ReadAhead ahead(*unread);
  }
  ReadAhead ahead(*under);
  expect_same(*source, ahead, 3);
  ahead.stop();
  size_t left = 0;
  while (!ahead.next().value().empty()) ++left;
  EXPECT_LE(left, 17u);
}

TEST(ReadAhead, ImportedEventsAreTheSame) {
  Trace trace = generate_trace(5, {.events = 20'000});
  std::string path = testing::TempDir() + "read_ahead_test.imported.cleave";
  std::ofstream(path, std::ios::binary) << write_binary_trace(trace);
  std::unique_ptr<BinarySource> source = open(path), under = open(path);
  ReadAhead ahead(*under);
  EXPECT_EQ(&ahead.tables(), &under->tables());
  expect_same(*source, ahead);
  EXPECT_TRUE(ahead.complete());
  std::remove(path.c_str());
}

// Whoever judges asks for names while the other thread reads.
TEST(ReadAhead, NamesThatAreReadLateMayBeAskedForMeanwhile) {
  TraceBuilder builder;
  builder.thread("T1");
  for (uint32_t i = 0; i < 50'000; ++i)
    builder.add({.kind = EventKind::Read,
                 .thread = ThreadId{0},
                 .object = raw(builder.add_variable(fmt::format("v{}", i)))});
  std::string path = testing::TempDir() + "read_ahead_test.names.cleave";
  std::ofstream(path, std::ios::binary) << write_binary_trace(std::move(builder).build());
  std::unique_ptr<BinarySource> under = open(path);
  EXPECT_TRUE(under->tables().variable_table().only_names());
  ReadAhead ahead(*under);
  size_t events = 0;
  for (;;) {
    auto batch = ahead.next();
    ASSERT_TRUE(batch.ok());
    if (batch.value().empty()) break;
    for (const Event& event : batch.value())
      ASSERT_EQ(ahead.tables().variable(event.variable()).name, fmt::format("v{}", events++));
  }
  EXPECT_EQ(events, 50'000u);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace cleave
