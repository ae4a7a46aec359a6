// The judge against brute force: on all small traces of one location, and on random ones with everything in
// them.
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "judge/judge.h"
#include "oracle/enumerator.h"
#include "oracle/generator.h"

namespace cleave::judge {
namespace {

// Consecutive accesses of a unit with another thread's in between, in this very order.
std::vector<EventTriple> triples_that_happened(const Trace& trace) {
  std::vector<EventTriple> happened;
  for (const oracle::EventTriple& triple : oracle::unserializable_triples(trace)) {
    if (triple.first < triple.remote && triple.remote < triple.second) {
      happened.push_back({triple.first, triple.remote, triple.second});
    }
  }
  return happened;
}

struct Tally {
  size_t traces = 0, triples = 0, non_atomic = 0, recognised = 0;
  std::map<std::string, size_t> by_name;
};

// Compares all answers for all triples of one trace with brute force; the first difference, or nothing.
std::string difference(const Trace& trace, bool final_writes, Tally* tally = nullptr) {
  const std::vector<EventTriple> triples = triples_that_happened(trace);
  if (triples.empty()) return {};
  Judge judge(trace, units_of(trace), {.final_writes = final_writes});
  const bool whole = oracle::atomic(trace, {.final_writes = final_writes});
  for (const EventTriple& triple : triples) {
    const Proof quick = judge.conditions(triple), exact = judge.exact(triple);
    const bool around = oracle::atomic_around(trace, triple.first, {.final_writes = final_writes});
    if (quick.judgement == Judgement::NonAtomic && whole)
      return quick.name + " calls an atomic trace non-atomic";
    if (quick.judgement == Judgement::NonAtomic && around)
      return quick.name + " blames the wrong part of the trace";
    if (exact.judgement != (around ? Judgement::Atomic : Judgement::NonAtomic)) {
      return "the exact method says the opposite of brute force";
    }
    if (!around && whole) return "the part is not atomic but the whole is";
    if (tally == nullptr) continue;
    ++tally->triples;
    tally->non_atomic += around ? 0 : 1;
    tally->recognised += quick.judgement == Judgement::NonAtomic ? 1 : 0;
    if (quick.judgement == Judgement::NonAtomic) ++tally->by_name[quick.name];
  }
  return {};
}

void expect_same(const Trace& trace, bool final_writes, Tally* tally) {
  const std::string what = difference(trace, final_writes, tally);
  if (what.empty()) return;
  const Trace small =
      oracle::shrink(trace, [&](const Trace& smaller) { return !difference(smaller, final_writes).empty(); });
  FAIL() << difference(small, final_writes) << (final_writes ? "" : " (without final writes)") << "\n"
         << oracle::to_text(small);
}

// All traces of one location: at every step one of the threads (numbered as they appear) reads, or writes 0,
// 1 or 2, in the same unit as its previous access or in a new one.
class AllTraces {
 public:
  AllTraces(size_t events, size_t threads, uint64_t values)
      : events_(events), threads_(threads), values_(values) {}

  template <typename Visit>
  void visit(Visit visit) {
    extend(visit, 0);
  }

 private:
  struct Choice {
    size_t thread;
    bool writes;
    uint64_t value;
    bool new_unit;
  };

  template <typename Visit>
  void extend(Visit& visit, size_t threads_so_far) {
    if (choices_.size() == events_) return visit(build());
    for (size_t thread = 0; thread <= threads_so_far && thread < threads_; ++thread) {
      for (uint64_t action = 0; action <= values_; ++action) {
        for (bool new_unit : {false, true}) {
          if (thread == threads_so_far && !new_unit) continue;
          choices_.push_back({thread, action > 0, action - 1, new_unit});
          extend(visit, std::max(threads_so_far, thread + 1));
          choices_.pop_back();
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }

  Trace build() const {
    TraceBuilder builder;
    const std::array<const char*, 4> names = {"A", "B", "C", "D"};
    builder.set_initial(builder.variable("x"), 0);
    uint64_t memory = 0;
    std::vector<bool> open(threads_, false);
    for (const Choice& choice : choices_) {
      const char* name = names[choice.thread];
      if (choice.new_unit) {
        if (open[choice.thread]) builder.end(name);
        builder.begin(name, "u");
        open[choice.thread] = true;
      }
      if (choice.writes) memory = choice.value;
      choice.writes ? builder.write(name, "x", memory) : builder.read(name, "x", memory);
    }
    for (size_t thread = 0; thread < threads_; ++thread) {
      if (open[thread]) builder.end(names[thread]);
    }
    return std::move(builder).build();
  }

  size_t events_, threads_;
  uint64_t values_;
  std::vector<Choice> choices_;
};

void print(const char* what, const Tally& tally) {
  std::printf("%s: %zu traces, %zu triples, %zu non-atomic, recognised by conditions %.1f %%", what,
              tally.traces, tally.triples, tally.non_atomic,
              100.0 * static_cast<double>(tally.recognised) /
                  static_cast<double>(std::max<size_t>(1, tally.non_atomic)));
  for (const auto& [name, count] : tally.by_name) std::printf("  %s %zu", name.c_str(), count);
  std::printf("\n");
}

TEST(Exhaustive, AllTracesOfFiveEventsOnOneLocation) {
  for (bool final_writes : {true, false}) {
    Tally tally;
    AllTraces(5, 3, 3).visit([&](const Trace& trace) {
      ++tally.traces;
      ASSERT_NO_FATAL_FAILURE(expect_same(trace, final_writes, &tally));
    });
    if (HasFatalFailure()) return;
    print(final_writes ? "with final writes" : "without", tally);
    EXPECT_GT(tally.non_atomic, 10000u);
  }
}

void compare_random(uint64_t traces, const oracle::GeneratorOptions& options, const char* what) {
  Tally tally;
  for (uint64_t seed = 0; seed < traces; ++seed) {
    const Trace trace = oracle::generate(seed, options);
    ++tally.traces;
    ASSERT_NO_FATAL_FAILURE(expect_same(trace, seed % 4 != 0, &tally)) << "seed " << seed;
  }
  print(what, tally);
  EXPECT_GT(tally.non_atomic, traces / 50);
  EXPECT_GT(tally.triples, tally.non_atomic);
}

TEST(Random, TracesWithAllSynchronization) {
  compare_random(40'000, {.events_per_thread = 6, .variables = 2}, "everything");
}

TEST(Random, TracesOfMemoryAlone) {
  oracle::GeneratorOptions options = oracle::memory_only();
  options.events_per_thread = 7;
  options.max_threads = 3;
  compare_random(40'000, options, "memory only");
}

TEST(Random, ManyThreadsAndForks) {
  oracle::GeneratorOptions options = oracle::memory_only();
  options.fork_join = true;
  options.values = 4;
  options.min_threads = 4;
  options.max_threads = 4;
  options.events_per_thread = 4;
  compare_random(20'000, options, "forks");
}

}  // namespace
}  // namespace cleave::judge
