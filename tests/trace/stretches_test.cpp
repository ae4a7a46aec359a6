// Ranges that are one location until a part of them is touched (ReadOptions::stretches): byte by byte the
// same accesses, in memory of the same objects and sets, as when every word is a location of its own.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <set>

#include "trace/any_program.h"
#include "trace/core/no_value.h"
#include "trace/damage.h"
#include "trace/live/read_ahead.h"
#include "trace/recorded/reader.h"

namespace cleave {
namespace {

constexpr uint64_t kHeap = FakeProgram::kHeapBase;

std::string test_file() {
  return testing::TempDir() + "stretches_test." +
         testing::UnitTest::GetInstance()->current_test_info()->name() + ".cleave";
}

struct Byte {
  uint64_t address = 0;
  Event event{};        // without what depends on how memory is divided
  int value = -1;       // of this byte; -1: not said
  std::string belongs;  // object, and what decides the set; empty where that may have become known later
};

std::string belongs(const Trace& tables, VariableId id) {
  const VariableInfo& info = tables.variable(id);
  std::string text = fmt::format("{}|{}|{}", info.flags, info.home, info.set);
  ObjectId object = info.object;
  for (int depth = 0; object != kNone<ObjectId> && depth < 100; ++depth) {
    text += fmt::format("<{}|{}|{:x}>", tables.object(object).name, tables.object(object).type,
                        tables.object(object).address);
    object = tables.object(object).outer;
  }
  return text;
}

struct Streamed {
  std::vector<Byte> bytes;
  size_t events = 0, accesses = 0, stretches = 0, splits = 0, batches = 0;
  size_t variables = 0, freed = 0;
  uint64_t unexplained = 0;
  std::string wrong;
};

// Every access, byte by byte.
Streamed stream(const std::string& path, bool stretches) {
  Streamed result;
  auto source = open_binary_trace(path, {.reuse_ids = true, .stretches = stretches});
  if (!source.ok()) return result;
  for (;; ++result.batches) {
    auto batch = source.value()->next();
    if (!batch.ok() || batch.value().empty()) break;
    const Trace& tables = source.value()->tables();
    std::set<VariableId> wholes;
    for (const VariableSplit& split : source.value()->splits()) {
      wholes.insert(split.whole);
      uint64_t at = tables.variable(split.whole).address;
      for (VariableId part : split.parts) {
        if (tables.variable(part).address != at) result.wrong = "parts with a gap";
        at += tables.variable(part).size;
      }
      if (at != tables.variable(split.whole).address + tables.variable(split.whole).size)
        result.wrong = "parts are not the whole";
    }
    result.splits += source.value()->splits().size();
    result.freed += source.value()->freed().variables.size();
    result.events += batch.value().size();
    for (const Event& event : batch.value()) {
      if (!is_access(event.kind)) continue;
      const VariableInfo& info = tables.variable(event.variable());
      ++result.accesses;
      result.stretches += info.size > 8;
      if (info.size > 8 && event.value != kNoValue && event.value != kFreed)
        result.wrong = "a value of a stretch";
      Event plain = event;
      plain.object = 0, plain.value = 0, plain.branches = 0;
      plain.set_width(0);
      const std::string whose = wholes.contains(event.variable()) ? "" : belongs(tables, event.variable());
      for (uint32_t i = 0; i < info.size; ++i) {
        int value = info.size > 8           ? -1
                    : event.value == kFreed ? 256
                                            : static_cast<int>(event.value >> (8 * i) & 255);
        result.bytes.push_back({info.address + i, plain, value, whose});
      }
    }
  }
  result.variables = source.value()->tables().variable_count();
  result.unexplained = source.value()->notes().unexplained_reads;
  return result;
}

std::vector<Byte> by_thread(const std::vector<Byte>& bytes) {
  std::map<ThreadId, std::vector<Byte>> threads;
  for (const Byte& byte : bytes) threads[byte.event.thread].push_back(byte);
  std::vector<Byte> all;
  for (const auto& [thread, own] : threads) all.insert(all.end(), own.begin(), own.end());
  return all;
}

// Accesses that race may come in another order where a batch ends earlier; those of one thread may not.
std::string difference(Streamed stretched, Streamed words, bool values) {
  if (!stretched.wrong.empty()) return stretched.wrong;
  if (words.batches > 1) {
    values = false;
    stretched.bytes = by_thread(stretched.bytes);
    words.bytes = by_thread(words.bytes);
  }
  if (stretched.bytes.size() != words.bytes.size()) return "not the same bytes";
  for (size_t i = 0; i < words.bytes.size(); ++i) {
    const Byte &a = stretched.bytes[i], &b = words.bytes[i];
    if (a.address != b.address || !(a.event == b.event)) return fmt::format("access of byte {}", i);
    if (values && a.value >= 0 && a.value != b.value)
      return fmt::format("value of byte {}: {} instead of {}", i, a.value, b.value);
    // What becomes known later in a batch is known of all that is left in it.
    if (words.batches > 1 || a.belongs.empty() || b.belongs.empty()) continue;
    if (a.belongs != b.belongs)
      return fmt::format("byte {} belongs to {} instead of {}", i, a.belongs, b.belongs);
  }
  return {};
}

void finish(FakeRecorder& r, uint32_t threads) {
  for (uint32_t t = threads; t-- > 0;) r.exit(t);
  r.flush_all();
  r.end();
  r.save(test_file());
}

void range(FakeRecorder& r, uint32_t thread, RecordKind kind, uint64_t address, uint64_t bytes,
           uint64_t value) {
  std::vector<uint64_t> words{3 + (bytes <= 1024 ? (bytes + 7) / 8 : 1),
                              r.segment_address(FakeProgram::kHook), address, bytes};
  words.resize(1 + words[0], value);
  r.record(thread, kind, std::move(words));
}

TEST(Stretches, AnyProgramDoesTheSameToEveryByte) {
  size_t stretches = 0, splits = 0, saved = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    AnyProgram any(seed, seed % 10 == 0 ? 20000 : 700);
    finish(any.r(), AnyProgram::kThreads);
    Streamed stretched = stream(test_file(), true), words = stream(test_file(), false);
    ASSERT_EQ(difference(stretched, words, true), "") << "seed " << seed;
    ASSERT_EQ(stretched.events - stretched.accesses, words.events - words.accesses);
    stretches += stretched.stretches;
    splits += stretched.splits;
    saved += words.events - stretched.events;
    // What has ended leaves its id to others, stretches too.
    if (seed % 10 == 0) EXPECT_LT(stretched.variables, stretched.freed / 4) << "seed " << seed;
  }
  std::remove(test_file().c_str());
  EXPECT_GT(stretches, 1000u);
  EXPECT_GT(splits, 5000u);
  EXPECT_GT(saved, 3000u);
}

TEST(Stretches, ACopyOfTheSameBytesIsOneAccess) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.start(0, UINT32_MAX);
  r.record(0, RecordKind::alloc, {kHeap, 8192, r.stamp()});
  for (int i = 0; i < 10; ++i) {
    range(r, 0, RecordKind::range_write, kHeap, 800, 7);
    range(r, 0, RecordKind::range_read, kHeap, 800, 7);
  }
  range(r, 0, RecordKind::range_write, kHeap + 800, 7000,
        0);  // contents that are not in the trace, and two pages
  range(r, 0, RecordKind::range_write, kHeap + 100, 8, 9);  // bounds in two words
  finish(r, 1);
  Streamed stretched = stream(test_file(), true), words = stream(test_file(), false);
  EXPECT_EQ(difference(stretched, words, true), "");
  EXPECT_EQ(words.accesses, 20u * 100 + 875 + 2);
  EXPECT_EQ(stretched.accesses, 20u + 2 + 2);
  EXPECT_EQ(stretched.unexplained, 0u);
  std::remove(test_file().c_str());
}

// The values of a short range are known, so a read of a part is no riddle.
TEST(Stretches, APartHasItsPartOfTheContents) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.start(0, UINT32_MAX);
  r.record(0, RecordKind::alloc, {kHeap, 4096, r.stamp()});
  range(r, 0, RecordKind::range_write, kHeap, 640, 0x0000000200000001);
  r.segment(0, FakeProgram::kRead, {kHeap + 320, 0x0000000200000001});
  r.segment(0, FakeProgram::kRead4, {kHeap + 4, 2});
  range(r, 0, RecordKind::range_read, kHeap + 512, 128, 0x0000000200000001);
  r.segment(0, FakeProgram::kRead4, {kHeap + 600, 5});  // a riddle
  finish(r, 1);
  Streamed stretched = stream(test_file(), true);
  EXPECT_EQ(difference(stretched, stream(test_file(), false), true), "");
  EXPECT_EQ(stretched.unexplained, 1u);
  std::remove(test_file().c_str());
}

// A buffer that is filled once and then read word by word costs what its words cost, not its square.
TEST(Stretches, WordsOfABufferAreMadeOnce) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.start(0, UINT32_MAX);
  r.record(0, RecordKind::alloc, {kHeap, 4096, r.stamp()});
  range(r, 0, RecordKind::range_write, kHeap, 4096, 0);
  for (uint64_t at = 0; at < 4096; at += 8) r.segment(0, FakeProgram::kRead, {kHeap + at, 1});
  r.record(0, RecordKind::free, {kHeap, r.stamp()});
  finish(r, 1);
  Streamed stretched = stream(test_file(), true);
  EXPECT_EQ(stretched.splits, 64u);
  EXPECT_LT(stretched.freed, 700u);
  EXPECT_EQ(stretched.freed, stretched.variables);
  EXPECT_EQ(difference(stretched, stream(test_file(), false), false), "");
  std::remove(test_file().c_str());
}

// An object with fields comes to be known where a block was filled: they are locations of their own from then
// on.
TEST(Stretches, FieldsAreCutOutWhenTheyAreKnown) {
  Bank bank;
  FakeRecorder& r = bank.r();
  r.start(0, UINT32_MAX);
  r.segment(0, FakeProgram::kCall, {});
  r.record(0, RecordKind::alloc, {kHeap, 96, r.stamp()});
  range(r, 0, RecordKind::range_write, kHeap, 96, 0);
  bank.run(0, Bank::kInBank, {kHeap + 48});  // the second of two
  bank.run(0, Bank::kLeave, {});
  range(r, 0, RecordKind::range_write, kHeap, 96, 0);
  finish(r, 1);
  auto source = open_binary_trace(test_file(), {.reuse_ids = true, .stretches = true});
  ASSERT_TRUE(source.ok());
  auto batch = source.value()->next();
  ASSERT_TRUE(batch.ok());
  const Trace& tables = source.value()->tables();
  ASSERT_EQ(source.value()->splits().size(), 1u);
  std::vector<std::string> names;
  for (VariableId part : source.value()->splits()[0].parts) names.push_back(tables.variable(part).name);
  ASSERT_EQ(names.size(), 7u);
  EXPECT_EQ(names[1], "Bank::id");
  EXPECT_EQ(names[3], "Bank::account.balance");
  EXPECT_EQ(difference(stream(test_file(), true), stream(test_file(), false), true), "");
  std::remove(test_file().c_str());
}

// Notes in one block: a copy of the text of the second makes it known, and its text alone is one location.
TEST(Stretches, AFieldIsOneLocation) {
  Bank bank;
  FakeRecorder& r = bank.r();
  r.start(0, UINT32_MAX);
  r.segment(0, FakeProgram::kCall, {});
  r.record(0, RecordKind::alloc, {kHeap, 192, r.stamp()});
  r.record(0, RecordKind::range_write,
           {9, bank.address_of(Bank::kCopyText), kHeap + 72, 48, 1, 2, 3, 4, 5, 6});
  range(r, 0, RecordKind::range_write, kHeap, 192, 0);
  finish(r, 1);
  for (bool stretches : {true, false}) {
    auto source = open_binary_trace(test_file(), {.reuse_ids = true, .stretches = stretches});
    ASSERT_TRUE(source.ok());
    auto batch = source.value()->next();
    ASSERT_TRUE(batch.ok());
    const Trace& tables = source.value()->tables();
    size_t notes = 0;
    for (const ObjectInfo& object : tables.objects()) notes += object.type == "Note";
    EXPECT_EQ(notes, 1u);
    std::vector<std::pair<std::string, uint32_t>> touched;
    for (const Event& event : batch.value()) {
      if (is_access(event.kind))
        touched.emplace_back(tables.variable(event.variable()).set, tables.variable(event.variable()).size);
    }
    if (!stretches) continue;
    // The text; all before the Note, which is the first one and unknown; its first field, its text, its last,
    // and the third.
    EXPECT_EQ(touched, (std::vector<std::pair<std::string, uint32_t>>{
                           {"", 48}, {"", 64}, {"", 8}, {"", 48}, {"seen", 8}, {"", 64}}));
  }
  EXPECT_EQ(difference(stream(test_file(), true), stream(test_file(), false), true), "");
  std::remove(test_file().c_str());
}

TEST(Stretches, HostileTracesAreReadAllTheSame) {
  AnyProgram any(4, 1500);
  for (uint32_t t = AnyProgram::kThreads; t-- > 0;) any.r().exit(t);
  any.r().flush_all();
  any.r().end();
  Random random(6);
  for (int i = 0; i < 60; ++i) {
    std::string bytes = any.r().bytes();
    for (uint64_t n = 1 + random.below(6); n > 0; --n)
      bytes[random.below(bytes.size())] = static_cast<char>(random.next());
    correct_checksums(bytes);
    std::ofstream(test_file(), std::ios::binary | std::ios::trunc) << bytes;
    EXPECT_EQ(stream(test_file(), true).wrong, "") << i;
  }
  std::remove(test_file().c_str());
}

}  // namespace
}  // namespace cleave
