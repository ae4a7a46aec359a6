// The order that the reader finds, against the order in which a made-up program really ran.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/random.h"
#include "trace/core/validate.h"
#include "trace/fake_program.h"
#include "trace/recorded/reader.h"

namespace cleave {
namespace {

// What happened, in real order: "T1 read g0 5" and the object it is about.
struct Happening {
  std::string thread, what, object;
};

std::vector<std::string> lines_of(const std::vector<Happening>& all,
                                  const std::function<bool(const Happening&)>& wanted) {
  std::vector<std::string> out;
  for (const Happening& one : all) {
    if (wanted(one)) out.push_back(one.thread + " " + one.what + " " + one.object);
  }
  return out;
}

// Runs threads step by step in a random interleaving, and keeps both sides: the records and the truth.
class Simulator {
 public:
  Simulator(uint64_t seed, bool race) : random_(seed), race_(race), threads_(2 + random_.below(3)) {}

  FakeProgram program;
  std::vector<Happening> truth;

  void run() {
    FakeRecorder& r = program.recorder;
    note(0, "start", "");
    r.start(0, UINT32_MAX);
    for (uint32_t t = 1; t < threads_; ++t) {
      note(0, "fork", name(t));
      r.fork(0, t);
    }
    std::vector<uint32_t> steps(threads_, 0), held(threads_, UINT32_MAX);
    std::vector<bool> started(threads_, false), ended(threads_, false);
    started[0] = true;
    uint32_t live = threads_ - 1;
    while (live > 0) {
      auto t = static_cast<uint32_t>(1 + random_.below(threads_ - 1));
      if (ended[t]) continue;
      if (!started[t]) {
        started[t] = true;
        note(t, "start", "");
        r.start(t, 0);
      } else if (held[t] == UINT32_MAX && steps[t] > 30) {
        ended[t] = true;
        --live;
        note(t, "exit", "");
        r.exit(t);
      } else {
        step(t, held[t]);
        ++steps[t];
      }
      if (random_.chance(1, race_ ? 200 : 20))
        r.flush(t);  // look-ahead ends with a chunk, and real ones are long
      if (random_.chance(1, 10)) r.record(t, RecordKind::stamp, {r.stamp()});
    }
    for (uint32_t t = 1; t < threads_; ++t) {
      note(0, "join", name(t));
      r.join(0, t);
    }
    note(0, "exit", "");
    r.exit(0);
    r.flush_all();
    r.end();
  }

 private:
  static std::string name(uint32_t t) { return t == 0 ? "main" : fmt::format("T{}", t); }
  void note(uint32_t t, std::string what, std::string object) {
    truth.push_back({name(t), std::move(what), std::move(object)});
  }

  void step(uint32_t t, uint32_t& held) {
    FakeRecorder& r = program.recorder;
    if (race_) return access(t, static_cast<uint32_t>(random_.below(FakeProgram::kGlobals)));
    if (random_.chance(1, 5)) return atomic(t);
    if (held != UINT32_MAX) {
      if (random_.chance(1, 3)) {
        note(t, "release", fmt::format("m{}", held));
        r.on_object(t, RecordKind::mutex_unlock, program.lock(held));
        owner_.erase(held);
        held = UINT32_MAX;
        return;
      }
      return access(t, held);  // global i is guarded by lock i
    }
    auto lock = static_cast<uint32_t>(random_.below(FakeProgram::kLocks));
    if (owner_.contains(lock)) return;
    owner_[lock] = t;
    held = lock;
    note(t, "acquire", fmt::format("m{}", lock));
    r.on_object(t, RecordKind::mutex_lock, program.lock(lock));
  }

  void access(uint32_t t, uint32_t global) {
    std::string object = fmt::format("g{}", global);
    if (random_.chance(1, 2)) {
      note(t, fmt::format("read {}", memory_[global]), object);
      return program.read(t, global, memory_[global]);
    }
    memory_[global] = ++fresh_;
    note(t, fmt::format("write {}", fresh_), object);
    program.write(t, global, fresh_);
  }

  void atomic(uint32_t t) {
    uint32_t global = FakeProgram::kGlobals - 1 - static_cast<uint32_t>(random_.below(2));
    uint64_t old_value = memory_[global];
    memory_[global] = ++fresh_;
    note(t, fmt::format("update {}", fresh_), fmt::format("g{}", global));
    program.atomic(t, program.global(global), 2, old_value, fresh_);
  }

  Random random_;
  bool race_;
  uint32_t threads_;
  std::map<uint32_t, uint32_t> owner_;
  std::map<uint32_t, uint64_t> memory_;
  uint64_t fresh_ = 0;
};

std::vector<Happening> happenings(const Trace& trace) {
  std::vector<Happening> out;
  for (const Event& event : trace.events()) {
    Happening one{trace.thread(event.thread).name, std::string(word_of(event.kind)), ""};
    if (is_access(event.kind)) {
      one.what += fmt::format(" {}", event.value);
      one.object = trace.variable(event.variable()).name;
    } else if (event.kind == EventKind::Acquire || event.kind == EventKind::Release) {
      one.object = trace.sync(event.sync()).name;
    } else if (event.kind == EventKind::Fork || event.kind == EventKind::Join) {
      one.object = trace.thread(event.other()).name;
    }
    out.push_back(std::move(one));
  }
  return out;
}

RecordedTrace load(const FakeRecorder& recorder) {
  std::string path = testing::TempDir() + fmt::format("merge_test.{}.cleave", getpid());
  recorder.save(path);
  Result<RecordedTrace> trace = load_recorded_trace(path);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().sentence());
  std::remove(path.c_str());
  return trace.ok() ? std::move(trace).value() : RecordedTrace{};
}

TEST(Merge, SynchronizedProgramsComeBackInAnEquivalentOrder) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Simulator simulator(seed, false);
    simulator.run();
    RecordedTrace read = load(simulator.program.recorder);
    ASSERT_TRUE(read.trace.remarks().empty()) << read.trace.remarks()[0];
    ASSERT_EQ(read.notes.unexplained_reads, 0u) << "seed " << seed;
    std::vector<Happening> found = happenings(read.trace);
    ASSERT_EQ(found.size(), simulator.truth.size());
    auto same = [&](auto wanted) { return lines_of(found, wanted) == lines_of(simulator.truth, wanted); };
    for (const char* thread : {"main", "T1", "T2", "T3"}) {
      ASSERT_TRUE(same([&](const Happening& one) { return one.thread == thread; }))
          << "seed " << seed << " thread " << thread;
    }
    // All accesses of one location are ordered by its lock or by tickets, so their order is exact.
    for (const char* object : {"m0", "m1", "m2", "m3", "g0", "g1", "g2", "g3", "g4", "g5", "g6", "g7"}) {
      ASSERT_TRUE(same([&](const Happening& one) { return one.object == object; }))
          << "seed " << seed << " object " << object;
    }
  }
}

TEST(Merge, RacingThreadsKeepTheirOwnOrderAndNothingIsLost) {
  uint64_t reads = 0, unexplained = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Simulator simulator(seed, true);
    simulator.run();
    RecordedTrace read = load(simulator.program.recorder);
    std::vector<Happening> found = happenings(read.trace);
    ASSERT_EQ(found.size(), simulator.truth.size());
    for (const char* thread : {"main", "T1", "T2", "T3"}) {
      auto wanted = [&](const Happening& one) { return one.thread == thread; };
      ASSERT_EQ(lines_of(found, wanted), lines_of(simulator.truth, wanted)) << "seed " << seed;
    }
    for (const Happening& one : found) reads += one.what.starts_with("read") ? 1 : 0;
    unexplained += read.notes.unexplained_reads;
  }
  RecordProperty("reads", static_cast<int>(reads));
  RecordProperty("unexplained", static_cast<int>(unexplained));
  // Every read races here and stamps are rare; values must still place more than nine of ten.
  EXPECT_LT(unexplained * 10, reads) << unexplained << " of " << reads;
}

TEST(Merge, AReadThatMemoryContradictsLetsItsWriterGoFirst) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.start(0, UINT32_MAX);
  r.fork(0, 1);
  r.start(1, 0);
  program.write(1, 0, 1);  // thread 1 writes 1, 2, 3; main reads 1 and 2 in between; no stamps tell
  program.read(0, 0, 1);
  program.write(1, 0, 2);
  program.read(0, 0, 2);
  program.write(1, 0, 3);
  r.exit(1);
  r.join(0, 1);
  r.exit(0);
  r.flush_all();
  r.end();
  RecordedTrace read = load(r);
  EXPECT_EQ(read.notes.unexplained_reads, 0u);
}

TEST(Merge, AnotherThreadMayComeBetweenTheAccessesOfASegment) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.start(0, UINT32_MAX);
  r.fork(0, 1);
  r.start(1, 0);
  for (uint32_t thread : {0u, 1u}) {
    r.record(thread, RecordKind::stamp, {r.stamp()});
    program.read(thread, 0, 0);
  }
  // Two threads add 1 to 0 at the same time: both have read before either writes.
  for (uint32_t thread : {0u, 1u}) {
    r.record(thread, RecordKind::stamp, {r.stamp()});
    r.segment(thread, FakeProgram::kUpdate, {program.global(0), 0, 1});
  }
  program.read(0, 0, 1);
  r.exit(1);
  r.join(0, 1);
  r.exit(0);
  r.flush_all();
  r.end();
  RecordedTrace read = load(r);
  EXPECT_EQ(read.notes.unexplained_reads, 0u);
  std::vector<std::string> all =
      lines_of(happenings(read.trace), [](const Happening& one) { return one.object == "g0"; });
  EXPECT_EQ(std::ranges::count_if(
                all, [](const std::string& line) { return line.find("write 1") != std::string::npos; }),
            2);
  auto first_write = std::ranges::find_if(
      all, [](const std::string& line) { return line.find("write") != std::string::npos; });
  EXPECT_EQ(std::count_if(all.begin(), first_write,
                          [](const std::string& line) { return line.find("read 0") != std::string::npos; }),
            4);
}

TEST(Merge, MissingTicketsAreRemarkedAndTheRestIsKept) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.start(0, UINT32_MAX);
  r.ticket(program.lock(0));  // taken by somebody whose buffer was lost
  r.on_object(0, RecordKind::mutex_lock, program.lock(0));
  r.on_object(0, RecordKind::mutex_unlock, program.lock(0));
  r.exit(0);
  r.flush_all();
  r.end();
  RecordedTrace read = load(r);
  EXPECT_EQ(read.trace.size(), 4u);
  EXPECT_FALSE(read.trace.ends_early());
  ASSERT_EQ(read.trace.remarks().size(), 1u);
  EXPECT_EQ(read.trace.remarks()[0],
            "1 synchronization operations stand before others that are missing from the file; their order "
            "there is a guess");
}

// The program was killed: what waits for a record that was never written may depend on it, and is left out.
TEST(Merge, WithoutAnEndAThreadStopsWhereItWaitsForWhatIsMissing) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.start(0, UINT32_MAX);
  r.fork(0, 1);
  r.start(1, 0);
  program.write(0, 0, 1);
  r.ticket(program.lock(0));  // taken by thread 1, in the part of its buffer that was lost
  r.on_object(0, RecordKind::mutex_lock, program.lock(0));
  program.write(0, 0, 2);
  r.on_object(0, RecordKind::mutex_unlock, program.lock(0));
  program.write(1, 1, 7);
  r.flush_all();
  RecordedTrace read = load(r);
  EXPECT_TRUE(read.trace.ends_early());
  EXPECT_EQ(lines_of(happenings(read.trace),
                     [](const Happening& one) { return one.object == "g0" || one.object == "g1"; }),
            (std::vector<std::string>{"main write 1 g0", "T1 write 7 g1"}));
}

TEST(Merge, WithoutAnEndNothingFollowsAJoinOfAThreadWhoseExitIsMissing) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.start(0, UINT32_MAX);
  r.fork(0, 1);
  r.start(1, 0);
  program.write(1, 0, 1);
  r.join(0, 1);
  program.write(0, 0, 2);
  r.start(2, 0);  // and nothing of a thread whose fork is missing
  program.write(2, 0, 3);
  r.flush_all();
  RecordedTrace read = load(r);
  EXPECT_TRUE(read.trace.ends_early());
  EXPECT_EQ(lines_of(happenings(read.trace), [](const Happening& one) { return one.object == "g0"; }),
            std::vector<std::string>{"T1 write 1 g0"});
}

TEST(Merge, TurnsOfAControlledRunAreExact) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.start(0, UINT32_MAX);
  r.record(0, RecordKind::turn, {1, 5000});
  r.fork(0, 1);
  program.write(0, 0, 1);
  r.start(1, 0);
  r.record(1, RecordKind::turn, {2, 100});  // stamps that mislead
  program.write(1, 0, 2);
  program.write(1, 0, 3);
  r.record(0, RecordKind::turn, {3, 90});
  program.read(0, 0, 3);
  program.write(0, 0, 4);
  r.record(1, RecordKind::turn, {4, 10});
  program.read(1, 0, 4);
  r.exit(1);
  r.record(0, RecordKind::turn, {5, 10});
  r.join(0, 1);
  r.exit(0);
  r.flush(1);
  r.flush(0);
  r.end();
  RecordedTrace read = load(r);
  EXPECT_EQ(lines_of(happenings(read.trace), [](const Happening& one) { return one.object == "g0"; }),
            (std::vector<std::string>{"main write 1 g0", "T1 write 2 g0", "T1 write 3 g0", "main read 3 g0",
                                      "main write 4 g0", "T1 read 4 g0"}));
}

}  // namespace
}  // namespace cleave
