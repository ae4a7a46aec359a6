// Ids of what has ended are used again, and nobody can tell (ReadOptions::reuse_ids).
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "base/random.h"
#include "trace/any_program.h"
#include "trace/damage.h"
#include "trace/live/read_ahead.h"
#include "trace/recorded/reader.h"
#include "trace/same_stream.h"

namespace cleave {
namespace {

std::string test_file() {
  return testing::TempDir() + "reuse_ids_test." +
         testing::UnitTest::GetInstance()->current_test_info()->name() + ".cleave";
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

constexpr uint64_t kHeap = FakeProgram::kHeapBase;

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

// With several threads what was given back stays known for a while, but not for ever, also where no address
// is ever used again.
TEST(ReuseIds, WhatWasGivenBackIsForgottenInTheEnd) {
  constexpr size_t kStay = 1024;  // blocks, kMostFreedBlocks
  size_t variables = 0, objects = 0;
  for (uint32_t rounds : {9000u, 27000u}) {
    Bank bank;
    FakeRecorder& r = bank.r();
    r.start(0, UINT32_MAX);
    r.start(1, 0);
    for (uint32_t t : {0u, 1u}) r.segment(t, FakeProgram::kCall, {});
    for (uint32_t i = 0; i < rounds; ++i) {
      const uint64_t block = kHeap + 64 * uint64_t{i};
      r.record(i % 2, RecordKind::alloc, {block, 32, r.stamp()});
      r.segment(i % 2, FakeProgram::kWrite, {block + 8, i});
      r.record(i % 2, RecordKind::free, {block, r.stamp()});
    }
    StreamComparison result = compared(r, 2, false);
    ASSERT_EQ(result.difference, "");
    EXPECT_GE(result.all_objects, size_t{rounds});
    EXPECT_EQ(result.freed_variables, rounds - kStay);
    EXPECT_EQ(result.freed_objects, rounds - kStay);
    EXPECT_LT(result.variables, 6000u);
    EXPECT_LT(result.objects, 6000u);
    if (objects != 0) {
      EXPECT_EQ(result.variables, variables);
      EXPECT_EQ(result.objects, objects);
    }
    variables = result.variables, objects = result.objects;
  }
}

// What a container holds may outlive the object that the container was in; that object's id is its own until
// then.
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
    for (uint64_t n = 1 + random.below(6); n > 0; --n)
      bytes[random.below(bytes.size())] = static_cast<char>(random.next());
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
