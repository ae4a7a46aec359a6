#include "trace/recorded/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

#include "base/random.h"
#include "trace/core/load.h"
#include "trace/damage.h"
#include "trace/fake_program.h"
#include "trace/text/text.h"

namespace cleave {
namespace {

std::string saved(const FakeRecorder& recorder) {
  std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  std::replace(name.begin(), name.end(), '/', '.');
  std::string path = testing::TempDir() + "reader_test." + name + ".cleave";
  recorder.save(path);
  return path;
}

Trace load(const FakeRecorder& recorder) {
  std::string path = saved(recorder);
  Result<Trace> trace = load_trace(path);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().sentence());
  std::remove(path.c_str());
  return trace.ok() ? std::move(trace).value() : Trace();
}

// One line an event: thread, word, name, value.
std::vector<std::string> lines(const Trace& trace) {
  std::vector<std::string> out;
  for (const Event& event : trace.events()) {
    std::string line = trace.thread(event.thread).name + " " + std::string(word_of(event.kind));
    if (is_access(event.kind))
      line += " " + trace.variable(event.variable()).name + " " + std::to_string(event.value);
    if (event.kind == EventKind::Acquire || event.kind == EventKind::Release)
      line += " " + trace.sync(event.sync()).name;
    if (event.kind == EventKind::Fork || event.kind == EventKind::Join)
      line += " " + trace.thread(event.other()).name;
    if (event.kind == EventKind::Begin) line += " " + trace.unit_name(event.unit()).name;
    out.push_back(line);
  }
  return out;
}

TEST(Reader, RecordsOfTwoThreadsBecomeOneOrder) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.start(0, UINT32_MAX);
  program.write(0, 0, 5);
  r.fork(0, 1);
  r.start(1, 0);
  r.on_object(1, RecordKind::mutex_lock, program.lock(0));
  program.read(1, 0, 5);
  program.write(1, 0, 6);
  r.on_object(1, RecordKind::mutex_unlock, program.lock(0));
  r.on_object(0, RecordKind::mutex_lock, program.lock(0));
  program.read(0, 0, 6);
  r.on_object(0, RecordKind::mutex_unlock, program.lock(0));
  r.exit(1);
  r.join(0, 1);
  r.exit(0);
  r.flush(1);
  r.flush(0);
  r.end();
  Trace trace = load(r);
  EXPECT_EQ(lines(trace), (std::vector<std::string>{
                              "main start", "main write g0 5", "main fork T1", "T1 start", "T1 acquire m0",
                              "T1 read g0 5", "T1 write g0 6", "T1 release m0", "main acquire m0",
                              "main read g0 6", "main release m0", "T1 exit", "main join T1", "main exit"}));
  EXPECT_TRUE(trace.remarks().empty());
  EXPECT_EQ(trace.thread(ThreadId{1}).path, "0.1");
  EXPECT_EQ(trace.thread(ThreadId{1}).parent, ThreadId{0});
}

TEST(Reader, TheWholeCallStackIsKnownForEveryEvent) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.start(0, UINT32_MAX);
  r.segment(0, FakeProgram::kEnter, {1});  // from outside: no call site
  r.segment(0, FakeProgram::kCall, {});    // line 7 calls helper
  r.segment(0, FakeProgram::kEnter, {2});
  r.segment(0, FakeProgram::kInlined, {program.global(0), 0});  // inlined at line 10
  r.segment(0, FakeProgram::kExit, {});
  r.segment(0, FakeProgram::kInlined, {program.global(0), 0});
  r.exit(0);
  r.flush_all();
  r.end();
  Trace trace = load(r);
  auto stack = [&](size_t event) {
    std::vector<uint32_t> found{trace.site(trace.events()[event].site).line};
    for (ContextId at = trace.events()[event].context; at != kNone<ContextId>;
         at = trace.context(at).parent) {
      found.push_back(trace.site(trace.context(at).call_site).line);
    }
    return found;
  };
  ASSERT_EQ(trace.size(), 4u);
  EXPECT_EQ(stack(1), (std::vector<uint32_t>{51, 10, 7}));
  EXPECT_EQ(stack(2), (std::vector<uint32_t>{51, 10}));
}

TEST(Reader, ALandingClosesTheUnitsOfTheFramesThatAreGone) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.start(0, UINT32_MAX);
  r.segment(0, FakeProgram::kEnter, {77});
  r.segment(0, FakeProgram::kEnter, {78});
  r.segment(0, FakeProgram::kUnitBegin, {});
  r.segment(0, FakeProgram::kLanding, {77});  // thrown out of the inner frame
  program.write(0, 0, 1);
  r.segment(0, FakeProgram::kUnitBegin, {});
  r.exit(0);  // and the thread ends within a unit
  r.flush_all();
  r.end();
  EXPECT_EQ(lines(load(r)),
            (std::vector<std::string>{"main start", "main begin unit", "main end", "main write g0 1",
                                      "main begin unit", "main end", "main exit"}));
}

TEST(Reader, AccessesWithOtherBoundsSplitALocation) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.start(0, UINT32_MAX);
  r.segment(0, FakeProgram::kWrite, {program.global(0), 0x0000000200000001});
  r.segment(0, FakeProgram::kRead4, {program.global(0) + 4, 2});
  r.segment(0, FakeProgram::kRead, {program.global(0), 0x0000000200000001});
  r.exit(0);
  r.flush_all();
  r.end();
  Trace trace = load(r);
  EXPECT_EQ(lines(trace), (std::vector<std::string>{"main start", "main write g0 1", "main write g0+4 2",
                                                    "main read g0+4 2", "main read g0 1", "main read g0+4 2",
                                                    "main exit"}));
  EXPECT_EQ(trace.variables().size(), 2u);
  // Streaming, the same is told by a split.
  std::string path = saved(r);
  auto source = open_binary_trace(path);
  ASSERT_TRUE(source.ok());
  auto batch = source.value()->next();
  ASSERT_TRUE(batch.ok());
  ASSERT_EQ(batch.value().size(), 6u);
  ASSERT_EQ(source.value()->splits().size(), 1u);
  const VariableSplit& split = source.value()->splits()[0];
  ASSERT_EQ(split.parts.size(), 2u);
  EXPECT_EQ(split.before, 2u);  // start and the write of the whole
  EXPECT_EQ(batch.value()[1].variable(), split.whole);
  EXPECT_EQ(batch.value()[2].variable(), split.parts[1]);
  EXPECT_EQ(batch.value()[3].variable(), split.parts[0]);
  EXPECT_TRUE(source.value()->next().value().empty());
  std::remove(path.c_str());
}

TEST(Reader, ReusedMemoryIsADifferentVariable) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  uint64_t block = FakeProgram::kHeapBase;
  r.start(0, UINT32_MAX);
  r.segment(0, FakeProgram::kCall, {});
  for (int i = 0; i < 2; ++i) {
    r.record(0, RecordKind::alloc, {block, 16, r.stamp()});
    r.segment(0, FakeProgram::kWrite, {block, 1});
    r.segment(0, FakeProgram::kField, {block + 8, 2});
    r.record(0, RecordKind::free, {block, r.stamp()});
  }
  r.exit(0);
  r.flush_all();
  r.end();
  Trace trace = load(r);
  ASSERT_EQ(trace.variables().size(), 4u);
  EXPECT_EQ(trace.variables()[0].name, "malloc@fake.cpp:7+0");
  EXPECT_EQ(trace.variables()[1].name, "Account::balance");
  EXPECT_EQ(trace.variables()[1].field, "balance");
  ASSERT_NE(trace.variables()[1].object, kNone<ObjectId>);
  EXPECT_EQ(trace.object(trace.variables()[1].object).type, "Account");
  EXPECT_EQ(trace.object(trace.variables()[1].object).name, "Account#1");
  EXPECT_NE(trace.variables()[1].object, trace.variables()[3].object);
  EXPECT_EQ(trace.events()[1].allocation(), trace.variables()[1].object);  // the block is the account
}

TEST(Reader, RangesReachEveryLocationInThem) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.start(0, UINT32_MAX);
  r.segment(0, FakeProgram::kWrite4, {program.global(1), 9});
  r.record(0, RecordKind::range_write,
           {5, r.segment_address(FakeProgram::kHook), program.global(0), 16, 7, 0x0000000300000002});
  program.read(0, 0, 7);
  r.exit(0);
  r.flush_all();
  r.end();
  EXPECT_EQ(lines(load(r)),
            (std::vector<std::string>{"main start", "main write g1 9", "main write g0 7", "main write g1 2",
                                      "main write g1+4 3", "main read g0 7", "main exit"}));
}

TEST(Reader, AnInterruptedSegmentShowsHowFarItCame) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.start(0, UINT32_MAX);
  r.segment(0, FakeProgram::kReadWrite, {program.global(0), 0, 5});
  r.record(0, RecordKind::cut, {2});
  r.segment(0, FakeProgram::kRead, {0, 0});  // reserved, never reached
  r.flush_all();
  EXPECT_EQ(lines(load(r)), (std::vector<std::string>{"main start", "main read g0 0"}));
}

TEST(Reader, BranchesAreCounted) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.start(0, UINT32_MAX);
  r.record(0, RecordKind::branches, {}, 0xffff);                      // 15
  r.segment(0, FakeProgram::kWrite, {program.global(0), 1}, 0b1101);  // 3
  r.flush_all();
  r.end();
  EXPECT_EQ(load(r).events()[1].branches, 18);
}

// Both forms that chunks of records have.
class ReaderOfChunks : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Reader, ReaderOfChunks, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& form) {
                           return form.param ? "Raw" : "Coded";
                         });

TEST_P(ReaderOfChunks, RecordsOfAThreadCanBeReachedByTheirNumber) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.raw = GetParam();
  r.start(0, UINT32_MAX);
  for (uint64_t i = 1; i < 100; ++i) {
    program.write(0, 0, i);
    if (i % 7 == 0) r.flush(0);
  }
  r.flush_all();
  r.end();
  std::string path = saved(r);
  Result<RecordedTrace> recorded = load_recorded_trace(path);
  ASSERT_TRUE(recorded.ok());
  RecordCursor cursor(*recorded.value().file, 0);
  for (uint64_t number : {50u, 3u, 99u, 7u, 8u, 0u}) {
    cursor.seek(number);
    const Record* record = cursor.next();
    ASSERT_NE(record, nullptr);
    EXPECT_EQ(record->number, number);
    if (number > 0) EXPECT_EQ(record->words[1], number);
    const Record* next = cursor.next();
    EXPECT_EQ(next == nullptr, number == 99);
    if (next != nullptr) EXPECT_EQ(next->number, number + 1);
  }
  for (size_t i = 0; i < recorded.value().trace.size(); ++i) EXPECT_EQ(recorded.value().origins[i].record, i);
  std::remove(path.c_str());
}

// A longer trace with several threads, chunks and kinds of records.
FakeRecorder busy(bool raw = false) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.raw = raw;
  Random random(5);
  r.other_chunk(CLEAVE_CHUNK_PROCESS, "{\"program\": \"fake\", \"arguments\": [\"fake\", \"x\"]}");
  r.start(0, UINT32_MAX);
  for (uint32_t t = 1; t < 4; ++t) r.fork(0, t), r.start(t, 0);
  for (int i = 0; i < 300; ++i) {
    auto t = static_cast<uint32_t>(random.below(4));
    switch (random.below(8)) {
      case 0:
        r.on_object(t, RecordKind::cond_signal, 0x30000);
        break;
      case 1:
        program.atomic(t, program.global(7), 2, static_cast<uint64_t>(i), static_cast<uint64_t>(i) + 1);
        break;
      case 2:
        r.record(t, RecordKind::alloc, {FakeProgram::kHeapBase + 64 * random.below(9), 48, r.stamp()});
        break;
      case 3:
        r.segment(t, FakeProgram::kField, {FakeProgram::kHeapBase + 64 * random.below(9) + 8, 4});
        break;
      case 4: {
        const auto segment = static_cast<uint32_t>(FakeProgram::kEnter + random.below(5));
        std::vector<uint64_t> words;
        if (segment == FakeProgram::kEnter)
          words.push_back(static_cast<uint64_t>(i));  // the others have none
        r.segment(t, segment, words);
        break;
      }
      case 5:
        r.record(t, RecordKind::range_read,
                 {4, r.segment_address(FakeProgram::kHook), program.global(2), 8, 1});
        break;
      default:
        program.write(t, static_cast<uint32_t>(random.below(7)), random.below(5));
        break;
    }
    if (random.chance(1, 15)) r.flush(t);
  }
  r.flush_all();
  r.end();
  return r;
}

TEST(Reader, RawChunksAreTheSameTraceAsCodedOnes) {
  std::string texts[2];
  for (bool raw : {false, true}) {
    FakeProgram program;
    FakeRecorder& r = program.recorder;
    r.raw = raw;
    Random random(3);
    r.start(0, UINT32_MAX);
    r.fork(0, 1);
    r.start(1, 0);
    for (uint64_t i = 0; i < 500; ++i) {
      auto t = static_cast<uint32_t>(random.below(2));
      r.on_object(t, RecordKind::mutex_lock, program.lock(0));
      program.write(t, static_cast<uint32_t>(random.below(FakeProgram::kGlobals)), i);
      r.on_object(t, RecordKind::mutex_unlock, program.lock(0));
      if (random.chance(1, 15)) r.flush(t);
    }
    for (uint32_t t : {1u, 0u}) r.exit(t);
    r.flush_all();
    r.end();
    Trace trace = load(r);
    EXPECT_TRUE(trace.remarks().empty());
    EXPECT_GT(trace.size(), 1500u);
    texts[raw] = write_text_trace(trace);
  }
  EXPECT_EQ(texts[0], texts[1]);
}

// A fork in a signal handler takes away the record that the thread was about to write: its words stay 0.
TEST(Reader, AGapInARawChunkIsPassedOver) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.raw = true;
  r.start(0, UINT32_MAX);
  program.write(0, 0, 5);
  r.record(0, static_cast<RecordKind>(0), {0, 0}, 0);
  program.write(0, 1, 6);
  r.exit(0);
  r.flush(0);
  r.end();
  std::string path = saved(r);
  Result<Trace> trace = load_trace(path);
  ASSERT_TRUE(trace.ok());
  EXPECT_TRUE(trace.value().remarks().empty());
  std::vector<uint64_t> written;
  for (const Event& event : trace.value().events())
    if (event.kind == EventKind::Write) written.push_back(event.value);
  EXPECT_EQ(written, (std::vector<uint64_t>{5, 6}));
  std::remove(path.c_str());
}

// What a full disk leaves: half of a chunk, and another thread's behind it.
TEST(Reader, ARawChunkThatWasNotWrittenToItsEndIsNotUsed) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.raw = true;
  r.start(0, UINT32_MAX);
  r.fork(0, 1);
  r.flush(0);
  const size_t before = r.bytes().size();
  for (uint64_t i = 0; i < 40; ++i) program.write(0, 0, 1000 + i);
  r.flush(0);
  std::string half = r.bytes().substr(0, before + sizeof(cleave_chunk_header) + 400);
  const size_t behind = r.bytes().size();
  r.start(1, 0);
  for (uint64_t i = 0; i < 400; ++i) program.write(1, 1, 5000 + i);
  r.flush(1);
  std::string path = saved(r);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << half << r.bytes().substr(behind);
  Result<Trace> trace = load_trace(path);
  ASSERT_TRUE(trace.ok());
  EXPECT_FALSE(trace.value().remarks().empty());
  for (const Event& event : trace.value().events()) EXPECT_NE(event.kind, EventKind::Write);
  std::remove(path.c_str());
}

TEST_P(ReaderOfChunks, ATruncatedFileKeepsEverythingBeforeTheCut) {
  FakeRecorder r = busy(GetParam());
  std::string whole = r.bytes(), path = saved(r);
  size_t most = 0;
  for (size_t size = 0; size < whole.size(); size += size < 200 ? 1 : 97) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    Result<Trace> trace = load_trace(path);
    if (size < sizeof(cleave_file_header)) {
      EXPECT_FALSE(trace.ok());
      continue;
    }
    ASSERT_TRUE(trace.ok()) << size;
    EXPECT_FALSE(trace.value().remarks().empty()) << size;
    EXPECT_GE(trace.value().size() + 200, most);
    most = std::max(most, trace.value().size());
  }
  std::ofstream(path, std::ios::binary | std::ios::trunc) << whole;
  EXPECT_GE(load_trace(path).value().size(), most);
  EXPECT_EQ(load_trace(path).value().program(), "fake x");
  std::remove(path.c_str());
}

TEST_P(ReaderOfChunks, HostileBytesAreAnErrorOrATraceNeverACrash) {
  FakeRecorder r = busy(GetParam());
  std::string path = saved(r);
  Random random(9);
  for (int i = 0; i < 400; ++i) {
    std::string bytes = r.bytes();
    for (uint64_t n = 1 + random.below(6); n > 0; --n)
      bytes[random.below(bytes.size())] = static_cast<char>(random.next());
    correct_checksums(bytes);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    (void)load_trace(path);
  }
  std::remove(path.c_str());
}

// A chunk that says that it is another kind, of another thread or of another length must not be left out
// silently.
TEST_P(ReaderOfChunks, EveryChangedBitOfAChunkHeaderIsSeen) {
  FakeRecorder r = busy(GetParam());
  std::string path = saved(r);
  const std::string whole = r.bytes();
  cleave_chunk_header header;
  size_t chunks = 0;
  for (size_t at = sizeof(cleave_file_header); at + sizeof header <= whole.size() && chunks < 12; ++chunks) {
    std::memcpy(&header, whole.data() + at, sizeof header);
    for (size_t bit = 0; bit < 8 * sizeof header; ++bit) {
      std::string bytes = whole;
      bytes[at + bit / 8] = static_cast<char>(bytes[at + bit / 8] ^ (1 << bit % 8));
      std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
      Result<Trace> trace = load_trace(path);
      ASSERT_TRUE(!trace.ok() || !trace.value().remarks().empty()) << "chunk " << chunks << " bit " << bit;
    }
    at += sizeof header + header.stored_bytes;
  }
  EXPECT_GT(chunks, 4u);
  std::remove(path.c_str());
}

TEST_P(ReaderOfChunks, ALiveFileIsFollowedToItsEnd) {
  FakeRecorder r = busy(GetParam());
  std::string path = saved(r), whole = r.bytes();
  std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, 500);
  std::atomic<bool> alive = true;
  std::thread writer([&] {
    std::ofstream out(path, std::ios::binary | std::ios::app);
    for (size_t at = 500; at < whole.size(); at += 900) {
      out << whole.substr(at, 900) << std::flush;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    alive = false;
  });
  auto source = open_binary_trace(path, {.writer_alive = [&] { return alive.load(); }});
  ASSERT_TRUE(source.ok());
  std::vector<Event> live;
  for (;;) {
    auto batch = source.value()->next();
    ASSERT_TRUE(batch.ok());
    if (batch.value().empty()) break;
    live.insert(live.end(), batch.value().begin(), batch.value().end());
  }
  writer.join();
  EXPECT_TRUE(source.value()->complete()) << fmt::format("{}", fmt::join(source.value()->remarks(), "; "));
  auto after = open_binary_trace(path);
  size_t count = 0;
  for (auto batch = after.value()->next(); !batch.value().empty(); batch = after.value()->next())
    count += batch.value().size();
  EXPECT_EQ(live.size(), count);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace cleave
