// Programs compiled by cleave-c++, recorded, and walked again: every value the walk computes must be the recorded one.
#include "symbolic/walk.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "solve/feasibility.h"

namespace cleave {
namespace {

struct Walked {
  RecordedTrace recorded;
  WalkReport report;
  std::string program;
};

int shell(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()); }

// Compiles, records serially where the recorder can, and loads.
std::unique_ptr<Walked> record(const std::string& name, const std::string& source, const std::string& flags) {
  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("cleave-walk-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::string base = (folder / name).string(), bin = CLEAVE_BINARY_DIR "/bin/";
  std::ofstream(base + ".cpp") << source;
  EXPECT_EQ(shell(bin + "cleave-c++ -std=c++20 -pthread " + flags + " " + base + ".cpp -o " + base), 0) << name << flags;
  EXPECT_EQ(shell(bin + "cleave record -o " + base + ".cleave -- " + base), 0) << name << flags;
  Result<RecordedTrace> loaded = load_recorded_trace(base + ".cleave");
  EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().sentence());
  if (!loaded.ok()) return nullptr;
  return std::make_unique<Walked>(Walked{std::move(loaded).value(), {}, base});
}

const char* kComputations = R"(
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
struct Shape { virtual ~Shape() = default; virtual long area() const = 0; };
struct Square : Shape { long a; explicit Square(long x) : a(x) {} long area() const override { return a * a; } };
struct Strip : Shape { int w, h; Strip(int x, int y) : w(x), h(y) {} long area() const override { return long{w} * h; } };
std::mutex m;
long total = 1;
unsigned narrow = 250;
int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
short small = -7;
bool flag = true;
double real = 2.5;
struct Pair { int a; char b; long c; } pair{1, 'x', 3};
int recursive(int n) { return n < 2 ? n : recursive(n - 1) + recursive(n - 2); }
long pick(int kind, long v) {
  switch (kind) {
    case 0: return v + 1;
    case 1: return v * 3;
    case 2: case 3: return v - 7;
    case 100: return v ^ 0x55;
    default: return -v;
  }
}
void work(int seed) {
  std::vector<Shape*> shapes{new Square(seed + 2), new Strip(seed, 3)};
  for (int i = 0; i < 6; ++i) {
    std::lock_guard<std::mutex> hold(m);
    total = total * 3 + i - (total >> 2);
    total += pick(static_cast<int>(total % 5), total);
    narrow = static_cast<uint8_t>(narrow + 9);
    table[total & 7] += recursive(6) + small;
    small = static_cast<short>(small * 3);
    flag = !flag && total > 0;
    real = real * 1.5 + static_cast<double>(narrow);
    if (real > 1000) real /= 3;
    Pair copy = pair;
    copy.a += static_cast<int>(shapes[i & 1]->area());
    copy.b ^= 1;
    copy.c = copy.c << 1 | (flag ? 1 : 0);
    pair = copy;
    try {
      if (total % 3 == 0) throw std::runtime_error("three");
      total ^= 12345;
    } catch (const std::exception& e) {
      total += e.what()[0];
    }
    std::string text = std::to_string(total);
    table[i] = static_cast<int>(text.size()) + std::min(table[i], 40);
  }
  for (Shape* s : shapes) delete s;
}
int main() {
  std::thread a(work, 1), b(work, 2);
  a.join();
  b.join();
  std::printf("%ld %u %d %g\n", total, narrow, pair.a, real);
}
)";

class Levels : public testing::TestWithParam<const char*> {};

TEST_P(Levels, WhatIsComputedIsWhatWasRecorded) {
  auto walked = record(std::string("compute") + (GetParam() + 1), kComputations, GetParam());
  ASSERT_TRUE(walked);
  Result<SymbolicTrace> symbolic = walk_recorded_paths(walked->recorded, walked->program, &walked->report);
  ASSERT_TRUE(symbolic.ok()) << symbolic.error().sentence();
  const WalkReport& r = walked->report;
  std::string remarks;
  for (const std::string& remark : r.remarks) remarks += remark + "\n";
  EXPECT_EQ(r.threads_lost, 0u) << remarks;
  EXPECT_EQ(r.mismatches, 0u) << remarks;
  EXPECT_GT(r.values_compared, 100u);
  EXPECT_GT(r.shared_writes_symbolic, 0u);
  EXPECT_GT(r.branches_symbolic, 0u);
}

INSTANTIATE_TEST_SUITE_P(Optimisation, Levels, testing::Values("-O0", "-O1", "-O2", "-O3"),
                         [](const auto& info) { return std::string(info.param + 1); });

// CTP figure 1 as C++: the accesses of `x` in units of their own thread, found by their place in the trace.
Answer decide(const std::string& name, const std::string& source, const char* variable, Pattern pattern) {
  auto walked = record(name, source, "-O1");
  if (!walked) return Answer::Unknown;
  Result<SymbolicTrace> symbolic = walk_recorded_paths(walked->recorded, walked->program, &walked->report);
  EXPECT_TRUE(symbolic.ok());
  if (!symbolic.ok()) return Answer::Unknown;
  EXPECT_EQ(walked->report.mismatches, 0u);
  EXPECT_EQ(walked->report.threads_lost, 0u);
  const Trace& trace = walked->recorded.trace;
  // T1's two accesses and the last write of T2.
  std::vector<EventIndex> unit;
  EventIndex remote = kNone<EventIndex>;
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& e = trace.events()[i];
    if (!is_access(e.kind) || trace.variable(e.variable()).name != variable) continue;
    if (trace.thread(e.thread).name == "T1") unit.push_back(id_of<EventIndex>(i));
    if (trace.thread(e.thread).name == "T2" && writes(e.kind)) remote = id_of<EventIndex>(i);
  }
  EXPECT_EQ(unit.size(), 2u);
  EXPECT_NE(remote, kNone<EventIndex>);
  if (unit.size() != 2 || remote == kNone<EventIndex>) return Answer::Unknown;
  FeasibilityChecker checker(symbolic.value(), {});
  Feasibility got = checker.decide({unit[0], remote, unit[1], pattern});
  EXPECT_NE(got.answer, Answer::Unknown) << got.why;
  return got.answer;
}

// The second thread is held back by sleeping, so that the run is the serial one of the figure.
std::string figure_1a(const char* condition) {
  return std::string(R"(
#include <mutex>
#include <thread>
#include <unistd.h>
std::mutex m;
long x = 0, sink;
long get() { std::lock_guard<std::mutex> g(m); return x; }
void set(long v) { std::lock_guard<std::mutex> g(m); x = v; }
int main() {
  std::thread one([] { long a = get(); set(a + 1); });
  std::thread two([] { usleep(200000); long b = get(); if ()") + condition + R"() set(5); });
  one.join();
  two.join();
}
)";
}

TEST(Figure1a, FromAProgram) {
  EXPECT_EQ(decide("fig1a", figure_1a("b > 0"), "x", Pattern::RWW), Answer::Infeasible);
  EXPECT_EQ(decide("fig1a_weaker", figure_1a("b >= 0"), "x", Pattern::RWW), Answer::Feasible);
}

std::string figure_1b(bool ordered) {
  return std::string(R"(
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unistd.h>
std::mutex m, mx;
std::condition_variable c;
bool ready = false;
long x = 0, sink;
void set(long v) { std::lock_guard<std::mutex> g(mx); x = v; }
long get() { std::lock_guard<std::mutex> g(mx); return x; }
int main() {
  std::thread one([] { set(1); sink = get(); )") +
         (ordered ? "{ std::lock_guard<std::mutex> g(m); ready = true; } c.notify_one();" : "") + R"( });
  std::thread two([] { usleep(200000); )" +
         (ordered ? "std::unique_lock<std::mutex> l(m); while (!ready) c.wait(l);" : "") + R"( set(3); });
  one.join();
  two.join();
}
)";
}

TEST(Figure1b, FromAProgram) {
  EXPECT_EQ(decide("fig1b", figure_1b(true), "x", Pattern::WWR), Answer::Infeasible);
  EXPECT_EQ(decide("fig1b_unordered", figure_1b(false), "x", Pattern::WWR), Answer::Feasible);
}

}  // namespace
}  // namespace cleave
