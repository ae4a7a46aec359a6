#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "abi/order.h"
#include "runtime/recording.h"

namespace cleave::test {
namespace {

using Names = std::vector<std::string>;

TEST(Record, BasicProgramLeavesExactlyItsEvents) {
  Recording run = record_program("basic");
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_EQ(run.said, "");
  EXPECT_FALSE(run.truncated);
  ASSERT_EQ(run.trace.modules.size(), 1u);
  EXPECT_EQ(run.trace.modules[0].name, "basic.c");
  EXPECT_EQ(run.trace.modules[0].tables, "tables");
  EXPECT_EQ(run.trace.modules[0].identity, 4711u);
  ASSERT_EQ(run.trace.threads.size(), 3u);
  EXPECT_EQ(run.trace.names(0),
            (Names{"thread_start", "alloc", "free", "fork", "fork", "join", "join", "thread_exit"}));
  Names worker{"thread_start"};
  for (int i = 0; i < 3; ++i)
    for (const char* name : {"mutex_lock", "read", "write", "mutex_unlock", "atomic"}) worker.push_back(name);
  worker.push_back("thread_exit");
  EXPECT_EQ(run.trace.names(1), worker);
  EXPECT_EQ(run.trace.names(2), worker);
  ASSERT_EQ(run.trace.end_texts.size(), 1u);
  EXPECT_NE(run.trace.end_texts[0].find("\"ended\": \"exit\", \"status\": 0, \"threads\": 3"),
            std::string::npos);
}

// Every number of a stripe is given once, locks alternate with unlocks, and the counter goes up in ticket
// order.
TEST(Record, TicketsOrderLocksAndAtomicsExactly) {
  RawTrace trace = record_program("basic").trace;
  struct Step {
    uint64_t ticket;
    bool lock;
    uint32_t thread;
  };
  std::vector<Step> steps;
  std::vector<std::pair<uint64_t, uint64_t>> updates;  // ticket, old value
  std::set<uint64_t> tickets;
  for (const auto& [thread, records] : trace.threads)
    for (const RawRecord& record : records) {
      if (record.is("mutex_lock") || record.is("mutex_unlock")) {
        steps.push_back({record.words[1], record.is("mutex_lock"), thread});
        EXPECT_TRUE(tickets.insert(record.words[1]).second);
        EXPECT_EQ(CLEAVE_TICKET_STRIPE(record.words[1]),
                  cleave_stripe_of(reinterpret_cast<void*>(record.words[0])));
      } else if (record.is("atomic")) {
        updates.emplace_back(record.words[2], record.words[4]);
        EXPECT_EQ(record.words[3], 2u | 5u << 8 | 8u << 16);
        EXPECT_EQ(record.words[5], record.words[4] + 10);
        EXPECT_TRUE(tickets.insert(record.words[2]).second);
      }
    }
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.ticket < b.ticket; });
  ASSERT_EQ(steps.size(), 12u);
  for (size_t i = 0; i < steps.size(); i += 2) {
    EXPECT_TRUE(steps[i].lock);
    EXPECT_FALSE(steps[i + 1].lock);
    EXPECT_EQ(steps[i].thread, steps[i + 1].thread);
  }
  std::sort(updates.begin(), updates.end());
  ASSERT_EQ(updates.size(), 6u);
  for (size_t i = 0; i < updates.size(); ++i) EXPECT_EQ(updates[i].second, 10 * i);
}

TEST(Record, ExitStatusIsTheProgramsOwn) { EXPECT_EQ(record_program("basic", "7").status, 7); }

TEST(Record, WithoutARecorderTheProgramRunsAsUsual) {
  std::string said;
  EXPECT_EQ(run_command(program_path("basic") + " 3", &said), 3);
  EXPECT_EQ(said, "");
}

TEST(Record, WorksWithAndWithoutAddressRandomization) {
  EXPECT_EQ(record_program("basic", "", "setarch -R").trace.threads.size(), 3u);
}

}  // namespace
}  // namespace cleave::test
