// Programs compiled by cleave-c++, recorded, and walked again: every value the walk computes must be the
// recorded one.
#include "feasibility/lift/walk.h"

#include <gtest/gtest.h>

#include "walk/recorded_program.h"

namespace cleave {
namespace {

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
  auto walked = record_program(std::string("compute") + (GetParam() + 1) + ".cpp", kComputations, GetParam());
  ASSERT_TRUE(walked);
  Result<SymbolicTrace> symbolic = walk_recorded_paths(walked->recorded, {walked->program}, &walked->report);
  ASSERT_TRUE(symbolic.ok()) << symbolic.error().sentence();
  const WalkReport& r = walked->report;
  std::string remarks;
  for (const std::string& remark : r.remarks) remarks += remark + "\n";
  EXPECT_EQ(r.threads_lost, 0u) << remarks;
  EXPECT_EQ(r.mismatches, 0u) << remarks;
  EXPECT_GT(r.values_compared, 100u);
  EXPECT_GT(r.shared_writes_symbolic, 0u);
  EXPECT_GT(r.branches_symbolic, 0u);
  uint64_t pins = 0;
  for (const auto& [instruction, count] : r.pins_at) pins += count;
  EXPECT_EQ(pins, r.pins) << "each is counted where it is needed";
  EXPECT_GT(r.pins, 0u);
}

INSTANTIATE_TEST_SUITE_P(Optimisation, Levels, testing::Values("-O0", "-O1", "-O2", "-O3"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace cleave
