// The exact events of every primitive that the runtime interposes: tests/runtime/programs/primitives.c.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "runtime/recording.h"

namespace cleave::test {
namespace {

using Names = std::vector<std::string>;

RawTrace family(const std::string& name) {
  Recording run = record_program("primitives", name);
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_EQ(run.trace.end_texts.size(), 1u);
  return std::move(run.trace);
}

// Without what libgcc does once for each stack that it unwinds: known by its objects, which the first thread,
// that does nothing but end (unwind_once), uses too.
RawTrace without_unwinder(RawTrace trace) {
  auto once = [](const RawRecord& record) {
    return record.is("once_begin") || record.is("once_end") || record.is("once_seen");
  };
  std::set<uint64_t> objects;
  for (const RawRecord& record : trace.threads.at(1))
    if (once(record)) objects.insert(record.words[0]);
  EXPECT_FALSE(objects.empty());
  for (auto& [thread, records] : trace.threads)
    std::erase_if(records,
                  [&](const RawRecord& record) { return once(record) && objects.contains(record.words[0]); });
  return trace;
}

// The main thread's records without its start and exit, and without those named.
Names main_events(const RawTrace& trace, const std::set<std::string>& without = {}) {
  Names names = trace.names(0);
  EXPECT_GE(names.size(), 2u);
  EXPECT_EQ(names.front(), "thread_start");
  EXPECT_EQ(names.back(), "thread_exit");
  Names kept(names.begin() + 1, names.end() - 1);
  std::erase_if(kept, [&](const std::string& name) { return without.contains(name); });
  return kept;
}

Names repeated(const Names& names, int times) {
  Names result;
  for (int i = 0; i < times; ++i) result.insert(result.end(), names.begin(), names.end());
  return result;
}

// Tickets of one object, in order, with the records' names.
std::vector<std::pair<uint64_t, std::string>> by_ticket(const RawTrace& trace, const Names& names,
                                                        size_t ticket_word) {
  std::vector<std::pair<uint64_t, std::string>> result;
  for (const std::string& name : names)
    for (const RawRecord& record : trace.all(name)) result.emplace_back(record.words[ticket_word], name);
  std::sort(result.begin(), result.end());
  return result;
}

TEST(Primitives, Mutexes) {
  EXPECT_EQ(main_events(family("mutexes")), repeated({"mutex_lock", "mutex_unlock"}, 4));
}

TEST(Primitives, RecursiveMutexesRecordTheOutermostPairAndRefusedUnlocksNothing) {
  EXPECT_EQ(main_events(family("checked")), repeated({"mutex_lock", "mutex_unlock"}, 8));
}

TEST(Primitives, ARobustMutexIsFreeWhenItsOwnerEnds) {
  RawTrace trace = family("robust");
  EXPECT_EQ(main_events(trace), (Names{"fork", "join", "mutex_lock", "mutex_unlock"}));
  EXPECT_EQ(trace.names(1), (Names{"thread_start", "mutex_lock", "mutex_unlock", "thread_exit"}));
}

TEST(Primitives, SpinLocks) {
  EXPECT_EQ(main_events(family("spin")), repeated({"mutex_lock", "mutex_unlock"}, 2));
}

TEST(Primitives, ReaderWriterLocks) {
  Names expected = repeated({"shared_lock"}, 4);
  for (const std::string& name : repeated({"shared_unlock"}, 4)) expected.push_back(name);
  for (const std::string& name : repeated({"exclusive_lock", "exclusive_unlock"}, 4))
    expected.push_back(name);
  EXPECT_EQ(main_events(family("rwlocks")), expected);
}

TEST(Primitives, Conditions) {
  RawTrace trace = family("conditions");
  Names expected{"mutex_lock", "cond_wait", "cond_wake", "cond_wait", "cond_wake", "mutex_unlock"};
  for (const char* wakes : {"cond_signal", "cond_broadcast", "cond_signal"})
    for (const char* name : {"fork", "mutex_lock", wakes, "mutex_unlock", "join"}) expected.push_back(name);
  EXPECT_EQ(main_events(trace, {"sleep"}), expected);
  for (uint32_t waiter : {1u, 2u, 3u}) {
    EXPECT_EQ(trace.names(waiter),
              (Names{"thread_start", "mutex_lock", "cond_wait", "cond_wake", "mutex_unlock", "thread_exit"}));
  }
  // Timed out twice on the main thread, woken on the others.
  std::vector<uint64_t> outcomes;
  for (const RawRecord& wake : trace.all("cond_wake")) outcomes.push_back(wake.words[5]);
  EXPECT_EQ(outcomes, (std::vector<uint64_t>{1, 1, 0, 0, 0}));
  // In the order of the condition's tickets, the wait comes before the signal and the wake after it.
  auto waits = trace.all("cond_wait"), wakes = trace.all("cond_wake");
  std::vector<RawRecord> signals = {trace.all("cond_signal")[0], trace.all("cond_broadcast")[0],
                                    trace.all("cond_signal")[1]};
  for (size_t i = 0; i < signals.size(); ++i) {
    EXPECT_LT(waits[2 + i].words[2], signals[i].words[1]);
    EXPECT_GT(wakes[2 + i].words[2], signals[i].words[1]);
  }
}

TEST(Primitives, ACancelledWaitHasItsMutexAgain) {
  RawTrace trace = without_unwinder(family("cancelled_waits"));
  EXPECT_EQ(main_events(trace), (Names{"fork", "join", "fork", "cancel", "join"}));
  EXPECT_EQ(trace.names(2),
            (Names{"thread_start", "mutex_lock", "cond_wait", "cond_wake", "mutex_unlock", "thread_exit"}));
  EXPECT_EQ(trace.all("cond_wake")[0].words[5], 1u);
}

TEST(Primitives, Semaphores) {
  RawTrace trace = family("semaphores");
  EXPECT_EQ(main_events(trace),
            (Names{"sem_init", "sem_down", "sem_down", "sem_post", "sem_post", "sem_down", "sem_down"}));
  EXPECT_EQ(trace.all("sem_init")[0].words[3], 2u);
}

TEST(Primitives, HowManyTokensASharedSemaphoreHasIsNotSaid) {
  EXPECT_EQ(main_events(family("shared_semaphores"), {"alloc", "free", "map", "unmap"}),
            (Names{"sem_down", "sem_down", "sem_post"}));
}

TEST(Primitives, BarrierArrivalsComeBeforePassages) {
  RawTrace trace = family("barriers");
  EXPECT_EQ(main_events(trace), (Names{"barrier_init", "fork", "barrier_arrive", "barrier_pass",
                                       "barrier_arrive", "barrier_pass", "join"}));
  EXPECT_EQ(trace.names(1), (Names{"thread_start", "barrier_arrive", "barrier_pass", "barrier_arrive",
                                   "barrier_pass", "thread_exit"}));
  EXPECT_EQ(trace.all("barrier_init")[0].words[3], 2u);
  int arrived = 0, passed = 0;
  for (const auto& [ticket, name] : by_ticket(trace, {"barrier_arrive", "barrier_pass"}, 1)) {
    if (name == "barrier_arrive")
      ++arrived;
    else
      EXPECT_LE(++passed, arrived / 2 * 2);
  }
}

TEST(Primitives, Onces) {
  EXPECT_EQ(main_events(family("onces")), (Names{"once_begin", "once_begin", "write", "once_end", "write",
                                                 "once_end", "once_seen", "once_seen"}));
}

// By longjmp out of two, by pthread_exit, by cancellation; each attempt is left before the next begins.
TEST(Primitives, OncesThatAreLeftMayBeBegunAgain) {
  RawTrace trace = without_unwinder(family("left_onces"));
  EXPECT_EQ(main_events(trace), (Names{"fork",       "join",       "once_begin", "once_begin", "once_abort",
                                       "once_abort", "fork",       "join",       "fork",       "cancel",
                                       "join",       "once_begin", "write",      "once_end",   "once_begin",
                                       "once_begin", "write",      "once_end",   "write",      "once_end"}));
  EXPECT_EQ(trace.names(2), (Names{"thread_start", "once_begin", "once_abort", "thread_exit"}));
  EXPECT_EQ(trace.names(3), (Names{"thread_start", "once_begin", "once_abort", "thread_exit"}));
  std::map<uint64_t, std::vector<std::pair<uint64_t, std::string>>> by_object;
  for (const char* name : {"once_begin", "once_abort", "once_end"})
    for (const RawRecord& record : trace.all(name))
      by_object[record.words[0]].emplace_back(record.words[1], name);
  for (auto& [object, events] : by_object) {
    if (trace.all("once_abort")[0].words[0] != object && trace.all("once_abort")[1].words[0] != object)
      continue;
    std::sort(events.begin(), events.end());
    for (size_t i = 0; i < events.size(); ++i)
      EXPECT_EQ(events[i].second, i % 2 == 0               ? "once_begin"
                                  : i + 1 == events.size() ? "once_end"
                                                           : "once_abort");
  }
}

TEST(Primitives, Threads) {
  RawTrace trace = without_unwinder(family("threads"));
  EXPECT_EQ(main_events(trace, {"sleep"}),
            (Names{"fork", "join", "fork", "join", "fork", "join", "fork", "join", "fork", "join", "fork",
                   "cancel", "join", "fork", "detach", "fork", "fork", "detach"}));
  std::vector<uint64_t> forks;
  for (const RawRecord& fork : trace.all("fork")) forks.push_back(fork.words[0]);
  EXPECT_EQ(forks, (std::vector<uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  std::vector<uint64_t> joins;
  for (const RawRecord& join : trace.all("join")) joins.push_back(join.words[0]);
  EXPECT_EQ(joins, (std::vector<uint64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(trace.all("cancel")[0].words[0], 6u);
  for (uint32_t thread : {2u, 3u, 4u, 5u, 7u, 9u})
    EXPECT_EQ(trace.names(thread), (Names{"thread_start", "write", "thread_exit"})) << thread;
  EXPECT_EQ(trace.names(6),
            (Names{"thread_start", "write", "write", "thread_exit"}));  // clean-up handler, key
  EXPECT_EQ(trace.names(8), (Names{"thread_start", "detach", "write", "thread_exit"}));
  for (const RawRecord& start : trace.all("thread_start"))
    EXPECT_EQ(start.words[1], start.words[0] == 0 ? 0xffffffffu : 0u);
}

TEST(Primitives, C11Threads) {
  RawTrace trace = without_unwinder(family("c11"));
  EXPECT_EQ(main_events(trace), (Names{"fork", "join", "fork", "join", "fork", "join", "mutex_lock",
                                       "cond_wait", "cond_wake", "cond_signal", "cond_broadcast",
                                       "mutex_unlock", "once_begin", "write", "once_end", "once_seen"}));
  EXPECT_EQ(trace.names(2), (Names{"thread_start", "write", "thread_exit"}));
  EXPECT_EQ(trace.names(3), (Names{"thread_start", "write", "thread_exit"}));
}

TEST(Primitives, C11SlotsRecursiveMutexesWaitsAndDetached) {
  RawTrace trace = family("c11_more");
  EXPECT_EQ(main_events(trace, {"sleep"}),
            (Names{"fork", "join", "mutex_lock", "mutex_unlock", "fork", "mutex_lock", "cond_broadcast",
                   "mutex_unlock", "join", "fork", "detach"}));
  EXPECT_EQ(trace.names(1), (Names{"thread_start", "write", "thread_exit"})) << "the slot's destructor";
  EXPECT_EQ(trace.names(2),
            (Names{"thread_start", "mutex_lock", "cond_wait", "cond_wake", "mutex_unlock", "thread_exit"}));
  EXPECT_EQ(trace.names(3), (Names{"thread_start", "write", "thread_exit"}));
}

TEST(Primitives, HeapBlocksLiveAndDie) {
  RawTrace trace = family("heap");
  EXPECT_EQ(main_events(trace),
            (Names{"alloc", "range_read", "free",  "alloc", "range_write", "free", "alloc", "free",
                   "alloc", "free",       "alloc", "free",  "alloc",       "free", "alloc", "free",
                   "alloc", "free",       "alloc", "free",  "alloc",       "free"}));
  std::vector<uint64_t> sizes;
  for (const RawRecord& block : trace.all("alloc")) sizes.push_back(block.words[1]);
  EXPECT_EQ(sizes, (std::vector<uint64_t>{100, 200000, 15, 20, 640, 256, 300, 15, 50, 4096}));
  auto blocks = trace.all("alloc"), frees = trace.all("free");
  ASSERT_EQ(blocks.size(), frees.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(blocks[i].words[0], frees[i].words[0]);
    EXPECT_LT(blocks[i].words[2], frees[i].words[1]);
  }
  // realloc moved the contents: 104 usable bytes, within the limit for contents in the record.
  RawRecord moved = trace.all("range_write")[0];
  EXPECT_EQ(moved.words[1], 0u);
  EXPECT_EQ(moved.words[2], blocks[1].words[0]);
  EXPECT_EQ(moved.words[4], 0x0707070707070707u);
}

TEST(Primitives, HeapBlocksThatStayWhereTheyAre) {
  RawTrace trace = family("heap_again");
  Names expected{"alloc"};  // by realloc; then shrunk, refused, grown to its own size
  for (const std::string& name : repeated({"range_read", "free", "alloc", "range_write"}, 3))
    expected.push_back(name);
  expected.push_back("free");
  EXPECT_EQ(main_events(trace), expected);
  std::set<uint64_t> places;
  for (const RawRecord& block : trace.all("alloc")) places.insert(block.words[0]);
  EXPECT_EQ(places.size(), 1u);
}

TEST(Primitives, MappingsThatTakeTheirPlace) {
  RawTrace trace = family("mappings_again");
  EXPECT_EQ(main_events(trace), (Names{"map", "unmap", "map", "unmap", "map", "unmap", "map"}));
  uint64_t first = trace.all("map")[0].words[0];
  std::vector<std::pair<uint64_t, uint64_t>> pages;  // where and how many, maps before unmaps
  for (const char* name : {"map", "unmap"})
    for (const RawRecord& record : trace.all(name))
      pages.emplace_back((record.words[0] - first) / 4096, record.words[1] / 4096);
  EXPECT_EQ(pages, (std::vector<std::pair<uint64_t, uint64_t>>{
                       {0, 6}, {0, 1}, {1, 1}, {0, 1}, {0, 1}, {1, 1}, {3, 1}}));
}

TEST(Primitives, Mappings) { EXPECT_EQ(main_events(family("mappings")), (Names{"map", "unmap", "unmap"})); }

TEST(Primitives, BranchOutcomesAreAllKeptInOrder) {
  RawTrace trace = family("branches");
  std::string outcomes;
  for (const RawRecord& record : trace.threads.at(0)) {
    if (record.branches() == 1) continue;
    int top = 63 - __builtin_clzll(record.branches());
    for (int bit = top - 1; bit >= 0; --bit) outcomes += record.branches() >> bit & 1 ? '1' : '0';
  }
  std::string expected;
  for (int i = 0; i < 40; ++i) expected += i % 3 == 0 ? '1' : '0';
  EXPECT_EQ(outcomes, expected);
}

TEST(Primitives, RangesFencesAndInputs) {
  RawTrace trace = family("ranges");
  EXPECT_EQ(main_events(trace), (Names{"range_read", "range_write", "range_read", "range_write", "fence",
                                       "input", "input", "input"}));
  auto reads = trace.all("range_read"), writes = trace.all("range_write"), inputs = trace.all("input");
  EXPECT_EQ(reads[0].words[3], 20u);
  EXPECT_EQ(reads[0].words.size(), 4u + 3u);
  EXPECT_EQ(reads[0].words[4], 0x312a231c150e0700u);
  EXPECT_TRUE(std::equal(reads[0].words.begin() + 4, reads[0].words.end(), writes[0].words.begin() + 4));
  EXPECT_EQ(reads[1].words[3], 300u);
  EXPECT_EQ(reads[1].words.size(), 4u + 38u);
  EXPECT_TRUE(std::equal(reads[1].words.begin() + 4, reads[1].words.end(), writes[1].words.begin() + 4));
  EXPECT_EQ(inputs[0].words[1], 8u);
  EXPECT_EQ(static_cast<int64_t>(inputs[0].words[2]), -3);
  EXPECT_EQ(std::memcmp(&inputs[0].words[3], "amount\0\0", 8), 0);
  EXPECT_EQ(inputs[1].words[1], uint64_t{1} << 32 | 8u);
  EXPECT_EQ(inputs[2].words[1], uint64_t{2} << 32 | 6u);
  EXPECT_EQ(std::memcmp(&inputs[2].words[2], "bytes\0\0\0text\0\0\0\0", 16), 0);
}

}  // namespace
}  // namespace cleave::test
