// Ids of what has ended are used again, and nobody can tell (ReadOptions::reuse_ids).
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "abi/owns.h"
#include "base/random.h"
#include "trace/damage.h"
#include "trace/fake_program.h"
#include "trace/read_ahead.h"
#include "trace/reader.h"
#include "trace/same_stream.h"

namespace cleave {
namespace {

std::string test_file() {
  return testing::TempDir() + "reuse_ids_test." + testing::UnitTest::GetInstance()->current_test_info()->name() + ".cleave";
}

StreamComparison compared(FakeRecorder& r, uint32_t threads, bool tables = true) {
  for (uint32_t t = threads; t-- > 0;) r.exit(t);
  r.flush_all();
  r.end();
  std::string path = test_file();
  r.save(path);
  StreamComparison result = compare_streams(path, tables);
  std::remove(path.c_str());
  return result;
}

// A program with classes in classes: Bank { long id; Account account; std::vector<int> log; }, methods on both, and a
// standard library whose vectors lie in them.
class Bank {
 public:
  enum Segment : uint32_t {
    kBankId,       // a write of Bank::id, at offset 0
    kVectorBegin,  // a write of std::vector<int>::_M_start, at offset 0
    kInBank,       // a unit on a Bank begins
    kInAccount,    // and on an Account
    kLeave
  };
  Bank() {
    SiteTables& t = r().tables;
    auto site = [&](uint32_t type, uint32_t offset) {
      t.sites.push_back({.file = 0, .line = 70, .function = 1, .type = 1, .object_type = type, .offset = offset});
      return static_cast<uint32_t>(t.sites.size() - 1);
    };
    t.types.push_back({.name = "std::vector<int>",
                       .size = 24,
                       .flags = TypeEntry::kSystemType,
                       .fields = {{.name = "_M_start", .offset = 0, .size = 8, .type_name = "int*"},
                                  {.name = "_M_finish", .offset = 8, .size = 8, .type_name = "int*"}}});
    t.types.push_back({.name = "Bank",
                       .size = 48,
                       .fields = {{.name = "id", .offset = 0, .size = 8, .type_name = "long"},
                                  {.name = "account", .offset = 8, .size = 16, .type_name = "Account", .type = 0},
                                  {.name = "log", .offset = 24, .size = 24, .type_name = "std::vector<int>", .type = 1}}});
    t.units.push_back({.name = "Bank::move", .source = 1, .function = 0, .type = 2});
    t.units.push_back({.name = "Account::add", .source = 1, .function = 0, .type = 0});
    uint32_t id = site(2, 0), begin = site(1, 0);
    Operand first{Source::Word, 0, 0}, second{Source::Word, 1, 0};
    base_ = static_cast<uint32_t>(t.segments.size());
    auto segment = [&](uint16_t words, Slot slot) {
      t.segments.push_back({.words = words, .flags = 1, .function = 0, .slots = {slot}});
    };
    segment(2, {.kind = SlotKind::Write, .width = 8, .address = first, .value = second, .site = id});
    segment(2, {.kind = SlotKind::Write, .width = 8, .address = first, .value = second, .site = begin});
    segment(1, {.kind = SlotKind::UnitBegin, .value = first, .site = 7, .aux = 1});
    segment(1, {.kind = SlotKind::UnitBegin, .value = first, .site = 7, .aux = 2});
    segment(0, {.kind = SlotKind::Exit, .site = 5});
    r().segments_address = 0x500000;
    r().write_module();
  }
  FakeRecorder& r() { return program.recorder; }
  void run(uint32_t thread, Segment segment, std::vector<uint64_t> words) { r().segment(thread, base_ + segment, std::move(words)); }

  FakeProgram program;

 private:
  uint32_t base_ = 0;
};

constexpr uint64_t kHeap = FakeProgram::kHeapBase;

// Anything may happen anywhere in a small heap: objects in objects, blocks that overlap, containers that pass on what they
// hold, locks that become conditions, memory that is given back in pieces.
class AnyProgram : public Bank {
 public:
  AnyProgram(uint64_t seed, uint32_t rounds) : random_(seed) {
    r().start(0, UINT32_MAX);
    r().segment(0, FakeProgram::kCall, {});
    for (uint32_t t = 1; t < kThreads; ++t) r().fork(0, t);
    for (uint32_t t = 1; t < kThreads; ++t) r().start(t, 0);
    for (uint32_t i = 0; i < rounds; ++i) step(static_cast<uint32_t>(random_.below(kThreads)));
  }
  static constexpr uint32_t kThreads = 3;

 private:
  static constexpr uint64_t kPlaces = 24, kApart = 64;
  uint64_t place() { return kHeap + kApart * random_.below(kPlaces); }
  uint64_t word() { return place() + 8 * random_.below(8); }
  void step(uint32_t t) {
    uint64_t value = random_.below(3);
    switch (random_.below(24)) {
      case 0: case 1: case 2:
        return r().record(t, RecordKind::alloc, {place(), 8 * random_.below(9), r().stamp()});
      case 3: case 4: case 5:
        return r().record(t, RecordKind::free, {place(), r().stamp()});
      case 6: {
        uint64_t from = word() + random_.below(8);
        if (random_.chance(1, 2)) return r().record(t, RecordKind::unmap, {from, random_.below(200), r().stamp()});
        return r().record(t, RecordKind::stack, {from, from + random_.below(200)});
      }
      case 7: case 8:
        return r().segment(t, FakeProgram::kWrite, {word(), value});
      case 9:
        return r().segment(t, FakeProgram::kRead4, {word() + 4 * random_.below(2), value});
      case 10:
        return r().segment(t, FakeProgram::kWrite4, {word() + random_.below(8), value});
      case 11:
        return r().segment(t, FakeProgram::kField, {word(), value});
      case 12:
        return run(t, kBankId, {word(), value});
      case 13:
        return run(t, kVectorBegin, {word(), value});
      case 14:
        return run(t, kInBank, {word()});
      case 15:
        return run(t, kInAccount, {word()});
      case 16: case 17: {
        uint64_t how = random_.below(6);
        return r().record(t, RecordKind::owned, {word(), place() + (how < 4 ? how : 0)});
      }
      case 18: {
        uint64_t bytes = random_.below(100);
        std::vector<uint64_t> words{3 + (bytes + 7) / 8, r().segment_address(FakeProgram::kHook), word() + random_.below(8), bytes};
        words.resize(4 + (bytes + 7) / 8, value);
        return r().record(t, random_.chance(1, 2) ? RecordKind::range_write : RecordKind::range_read, std::move(words));
      }
      case 19:
        return program.atomic(t, word(), static_cast<uint32_t>(random_.below(4)), value, value + 1);
      case 20: {
        constexpr RecordKind kKinds[] = {RecordKind::mutex_lock,  RecordKind::mutex_unlock,   RecordKind::exclusive_lock,
                                         RecordKind::cond_signal, RecordKind::barrier_arrive, RecordKind::once_begin};
        return r().on_object(t, kKinds[random_.below(6)], word());
      }
      case 21: {
        uint64_t address = word(), number = r().ticket(address);
        return r().record(t, RecordKind::sem_init, {address, number, r().stamp(), random_.below(3)});
      }
      case 22:
        return r().on_object(t, random_.chance(1, 2) ? RecordKind::sem_post : RecordKind::sem_down, word());
      default:
        return run(t, kLeave, {});
    }
  }
  Random random_;
};

TEST(ReuseIds, TheEventsAreTheSameForAnyProgram) {
  StreamComparison all;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    AnyProgram any(seed, seed % 10 == 0 ? 40000 : 1200);
    StreamComparison result = compared(any.r(), AnyProgram::kThreads);
    ASSERT_EQ(result.difference, "") << "seed " << seed;
    all.splits += result.splits;
    all.freed_variables += result.freed_variables;
    all.freed_objects += result.freed_objects;
    all.freed_syncs += result.freed_syncs;
    if (seed % 10 != 0) continue;
    // There are 24 places of 64 bytes and what sticks out of the last.
    EXPECT_LT(result.variables, result.all_variables / 4) << "seed " << seed;
    EXPECT_LT(result.objects, result.all_objects / 4) << "seed " << seed;
  }
  EXPECT_GT(all.splits, 1000u);
  EXPECT_GT(all.freed_variables, 10000u);
  EXPECT_GT(all.freed_objects, 5000u);
  EXPECT_GT(all.freed_syncs, 1000u);
}

// Allocates, uses and gives back, many times over: tables are as large as what a few batches hold.
TEST(ReuseIds, TablesOfALoopThatAllocatesStaySmall) {
  size_t variables = 0, objects = 0, syncs = 0;
  for (uint32_t rounds : {6000u, 18000u}) {
    Bank bank;
    FakeRecorder& r = bank.r();
    r.start(0, UINT32_MAX);
    r.segment(0, FakeProgram::kCall, {});
    for (uint32_t i = 0; i < rounds; ++i) {
      uint64_t block = kHeap + 4096 * (i % 700), inside = kHeap + 0x1000000 + 64 * (i % 300);
      r.record(0, RecordKind::alloc, {block, 64, r.stamp()});
      r.segment(0, FakeProgram::kField, {block + 16, i});  // Account, then the Bank around it
      bank.run(0, Bank::kBankId, {block, i});
      bank.run(0, Bank::kInBank, {block});
      r.record(0, RecordKind::alloc, {inside, 32, r.stamp()});
      r.record(0, RecordKind::owned, {block + 24, inside});
      r.segment(0, FakeProgram::kWrite, {inside + 8, i});
      r.segment(0, FakeProgram::kRead4, {inside + 8, i});
      r.on_object(0, RecordKind::mutex_lock, block + 56);
      r.on_object(0, RecordKind::mutex_unlock, block + 56);
      uint64_t semaphore = inside + 16, number = r.ticket(semaphore);
      r.record(0, RecordKind::sem_init, {semaphore, number, r.stamp(), 1});
      r.on_object(0, RecordKind::sem_down, semaphore);
      bank.run(0, Bank::kLeave, {});
      r.record(0, RecordKind::free, {i % 2 == 0 ? block : inside, r.stamp()});
      r.record(0, RecordKind::free, {i % 2 == 0 ? inside : block, r.stamp()});
    }
    StreamComparison result = compared(r, 1, false);
    ASSERT_EQ(result.difference, "");
    EXPECT_EQ(result.splits, rounds);
    EXPECT_GE(result.all_variables, 5 * size_t{rounds});
    EXPECT_GE(result.all_objects, 3 * size_t{rounds});
    EXPECT_GE(result.all_syncs, 2 * size_t{rounds});
    EXPECT_EQ(result.freed_variables, result.all_variables);
    EXPECT_EQ(result.freed_objects, result.all_objects);
    EXPECT_EQ(result.freed_syncs, result.all_syncs);
    EXPECT_LT(result.variables, 2000u);
    EXPECT_LT(result.objects, 2000u);
    EXPECT_LT(result.syncs, 2000u);
    if (variables != 0) {
      EXPECT_EQ(result.variables, variables);
      EXPECT_EQ(result.objects, objects);
      EXPECT_EQ(result.syncs, syncs);
    }
    variables = result.variables, objects = result.objects, syncs = result.syncs;
  }
}

// What a container holds may outlive the object that the container was in; that object's id is its own until then.
TEST(ReuseIds, AnObjectIsThereAsLongAsSomethingIsSaidToBeInIt) {
  Bank bank;
  FakeRecorder& r = bank.r();
  const uint64_t block = kHeap + 0x1000, inside = kHeap + 0x2000;
  r.start(0, UINT32_MAX);
  r.segment(0, FakeProgram::kCall, {});
  r.record(0, RecordKind::alloc, {block, 48, r.stamp()});
  bank.run(0, Bank::kBankId, {block, 1});
  r.record(0, RecordKind::alloc, {inside, 16, r.stamp()});
  r.record(0, RecordKind::owned, {block + 24, inside});
  r.segment(0, FakeProgram::kWrite, {inside, 1});
  r.record(0, RecordKind::free, {block, r.stamp()});
  for (uint32_t i = 0; i < 5000; ++i) {
    r.record(0, RecordKind::alloc, {block, 48, r.stamp()});
    bank.run(0, Bank::kBankId, {block, 1});
    r.segment(0, FakeProgram::kWrite, {inside, i});
    r.record(0, RecordKind::free, {block, r.stamp()});
  }
  r.record(0, RecordKind::free, {inside, r.stamp()});
  StreamComparison result = compared(r, 1);
  EXPECT_EQ(result.difference, "");
  EXPECT_EQ(result.freed_objects, result.all_objects);
  EXPECT_LT(result.objects, 3000u);
}

TEST(ReuseIds, HostileTracesAreReadAllTheSame) {
  AnyProgram any(3, 1500);
  for (uint32_t t = AnyProgram::kThreads; t-- > 0;) any.r().exit(t);
  any.r().flush_all();
  any.r().end();
  std::string path = test_file();
  Random random(5);
  for (int i = 0; i < 60; ++i) {
    std::string bytes = any.r().bytes();
    for (uint64_t n = 1 + random.below(6); n > 0; --n) bytes[random.below(bytes.size())] = static_cast<char>(random.next());
    correct_checksums(bytes);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    if (!open_binary_trace(path).ok()) continue;
    ASSERT_EQ(compare_streams(path, false).difference, "") << i;
  }
  std::remove(path.c_str());
}

// Without it nothing ever ends.
TEST(ReuseIds, IsOffUnlessAskedFor) {
  AnyProgram any(1, 3000);
  any.r().flush_all();
  any.r().end();
  std::string path = test_file();
  any.r().save(path);
  auto source = open_binary_trace(path);
  ASSERT_TRUE(source.ok());
  while (!source.value()->next().value().empty()) {
    EXPECT_TRUE(source.value()->freed().variables.empty());
    EXPECT_TRUE(source.value()->freed().objects.empty());
    EXPECT_TRUE(source.value()->freed().syncs.empty());
    EXPECT_EQ(source.value()->tables().changes().outer_set_dropped, 0u);
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace cleave
