// Calls whose target only the record knows, and exceptions: what goes in and comes out stays an expression.
#include <map>

#include "trace/core/no_value.h"
#include "walk/recorded_program.h"

namespace cleave {
namespace {

const char* kCalls = R"(
#include <mutex>
#include <thread>
std::mutex m;
long in_x = 5, in_y = 11, calls = 0;
long out_pointer, out_virtual, out_second_base, out_lambda, out_thrown, out_rethrown, out_nested;
struct Named { virtual ~Named() = default; virtual long name(long x) { return x; } };
struct Shape { virtual ~Shape() = default; virtual long area(long x) = 0; long scale = 2; };
struct Square : Shape { long area(long x) override { ++calls; return x * x + scale; } };
struct Strip : Named, Shape { long area(long x) override { ++calls; return x * scale - 3; } };  // through a thunk
struct Odd { long value; };
__attribute__((noinline)) long noting(long x, long y) { ++calls; return x * 5 - y; }
__attribute__((noinline)) long other(long x, long y) { ++calls; return x + y; }
long (*volatile pick)(long, long) = noting;
template <typename F> __attribute__((noinline)) long apply(F f, long x) { return f(x) + 1; }
__attribute__((noinline)) void fail(long x) { throw Odd{x * 3}; }
__attribute__((noinline)) long caught(long x) { try { fail(x); } catch (const Odd& odd) { return odd.value + 1; } return 0; }
__attribute__((noinline)) void again(long x) { try { fail(x); } catch (Odd& odd) { odd.value += 7; throw; } }
__attribute__((noinline)) long caught_again(long x) { try { again(x); } catch (const Odd& odd) { return odd.value; } return 0; }
__attribute__((noinline)) long outer(long x, long y) { return pick(x, y) + pick(y, x); }
long (*volatile pick_outer)(long, long) = outer;
void work(long seed, Shape* square, Shape* strip) {
  for (int round = 0; round < 3; ++round) {
    std::lock_guard<std::mutex> hold(m);
    long x = in_x, y = in_y;
    out_pointer = pick(x, y);
    out_virtual = square->area(x);
    out_second_base = strip->area(y);
    out_lambda = apply([&](long z) { ++calls; return z - y; }, x);
    out_thrown = caught(x);
    out_rethrown = caught_again(y);
    out_nested = pick_outer(x, y);
    in_x = x * 3 + seed;
    in_y = y - x;
    pick = round == 1 ? other : noting;
  }
}
int main() {
  Square square;
  Strip strip;
  std::thread a(work, 1, &square, &strip), b(work, 2, &square, &strip);
  a.join();
  b.join();
}
)";

class CallsAt : public testing::TestWithParam<const char*> {};

TEST_P(CallsAt, ThroughPointersAreFollowed) {
  auto walked = record_program(std::string("calls_") + (GetParam() + 1) + ".cpp", kCalls, GetParam());
  ASSERT_TRUE(walked);
  Result<SymbolicTrace> lifted = walk_recorded_paths(walked->recorded, {walked->program}, &walked->report);
  ASSERT_TRUE(lifted.ok()) << lifted.error().sentence();
  EXPECT_EQ(walked->report.mismatches, 0u) << walked->remarks();
  EXPECT_EQ(walked->report.threads_lost, 0u) << walked->remarks();
  EXPECT_GT(walked->report.calls_followed, 0u);
  const SymbolicTrace& symbolic = lifted.value();
  std::vector<uint64_t> recorded;
  for (const SymbolInfo& symbol : symbolic.symbols()) recorded.push_back(symbol.recorded);
  std::map<std::string, size_t> stores, expressions;
  for (size_t e = 0; e < walked->recorded.trace.size(); ++e) {
    const Event& event = walked->recorded.trace.events()[e];
    const EventIndex at{e};
    if (!writes(event.kind) || symbolic.stored(at) == kNone<ExpressionId>) continue;
    if (event.value == kFreed) continue;  // wider than the location
    const std::string& name = walked->recorded.trace.variable(event.variable()).name;
    EXPECT_EQ(symbolic.pool().evaluate(symbolic.stored(at), recorded), event.value)
        << name << ", event " << e;
    ++stores[name];
    expressions[name] += !symbolic.pool().is_constant(symbolic.stored(at));
  }
  for (const char* name : {"out_pointer", "out_virtual", "out_second_base", "out_lambda", "out_thrown",
                           "out_rethrown", "out_nested"}) {
    EXPECT_EQ(stores[name], 6u) << name;
    EXPECT_EQ(expressions[name], 6u) << name << " is not lifted";
  }
}

// A call that leaves no record, then one at the very end of the function: the records of the second are not
// taken for something that the first called back, nor the caller's for something that the second did.
const char* kEnds = R"(
#include <stdio.h>
#include <mutex>
#include <thread>
std::mutex m;
long in_x = 5, out_x, destroyed;
struct Counted { virtual void dispose() {} virtual void destroy() { destroyed += 2; } };
Counted* volatile counted = new Counted;
__attribute__((noinline)) void release(Counted* c) { c->dispose(); c->destroy(); }
__attribute__((noinline)) long last(long x) { ++destroyed; return x + 1; }
__attribute__((noinline)) long first(long x) { [[clang::musttail]] return last(x); }
long (*volatile pick)(long) = last;
__attribute__((noinline)) long through(long x) { [[clang::musttail]] return pick(x); }
__attribute__((noinline)) int closing(FILE* f) { [[clang::musttail]] return fflush(f); }
void work(long seed) {
  for (int round = 0; round < 3; ++round) {
    std::lock_guard<std::mutex> hold(m);
    release(counted);
    long x = first(in_x) + through(in_x);
    closing(stdout);
    out_x = x;
    in_x = x + seed;
  }
}
int main() {
  std::thread a(work, 1), b(work, 2);
  a.join();
  b.join();
}
)";

TEST_P(CallsAt, AtTheEndOfAFunctionLeaveItOnce) {
  auto walked = record_program(std::string("ends_") + (GetParam() + 1) + ".cpp", kEnds, GetParam());
  ASSERT_TRUE(walked);
  Result<SymbolicTrace> lifted = walk_recorded_paths(walked->recorded, {walked->program}, &walked->report);
  ASSERT_TRUE(lifted.ok()) << lifted.error().sentence();
  EXPECT_EQ(walked->report.mismatches, 0u) << walked->remarks();
  EXPECT_EQ(walked->report.threads_lost, 0u) << walked->remarks();
  std::map<std::string, size_t> expressions;
  for (size_t e = 0; e < walked->recorded.trace.size(); ++e) {
    const Event& event = walked->recorded.trace.events()[e];
    const ExpressionId stored =
        writes(event.kind) ? lifted.value().stored(EventIndex{e}) : kNone<ExpressionId>;
    if (stored == kNone<ExpressionId>) continue;
    expressions[walked->recorded.trace.variable(event.variable()).name] +=
        !lifted.value().pool().is_constant(stored);
  }
  EXPECT_EQ(expressions["out_x"], 6u);
  EXPECT_EQ(expressions["in_x"], 6u);
  EXPECT_EQ(expressions["destroyed"], 18u);
}

INSTANTIATE_TEST_SUITE_P(Levels, CallsAt, testing::Values("-O0", "-O1", "-O2", "-O3"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace cleave
