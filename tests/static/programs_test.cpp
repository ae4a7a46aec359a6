// Small programs through the compiler and the analysis: the paper's figures, each rule, and what C and C++
// lock with.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analysis/static/static_analysis.h"

namespace cleave::static_analysis {
namespace {

class Programs : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("cleave_static_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string build(const std::string& text, bool c = false, const std::string& flags = "-O1") {
    const std::string source = (folder_ / (c ? "p.c" : "p.cpp")).string(), binary = (folder_ / "p").string();
    std::ofstream(source) << text;
    const std::string command = std::string(CLEAVE_BINARY_DIR) + "/bin/" +
                                (c ? "cleave-cc -std=c11" : "cleave-c++ -std=c++20") + " -g -pthread -I" +
                                CLEAVE_SOURCE_DIR + "/include " + flags + " " + source + " -o " + binary;
    EXPECT_EQ(std::system(command.c_str()), 0);
    return binary;
  }

  std::vector<Finding> analyze_text(const std::string& text, StaticOptions options = {}, bool c = false,
                                    const std::string& flags = "-O1") {
    Result<Program> program = Program::open(build(text, c, flags));
    EXPECT_TRUE(program.ok());
    Result<Findings> findings = analyze(program.value(), options);
    EXPECT_TRUE(findings.ok());
    return findings.value().findings;
  }

  static bool has(const std::vector<Finding>& findings, FindingKind kind, const std::string& variable,
                  const std::string& first, const std::string& second) {
    for (const Finding& finding : findings) {
      // A field of a global goes by the name of the global or by that of its class.
      const std::string field = variable.substr(variable.find_last_of(".:") + 1);
      if (finding.kind == kind && finding.variable.ends_with(field) && finding.units[0].name == first &&
          finding.units[1].name == second)
        return true;
    }
    return false;
  }

  std::filesystem::path folder_;
};

const char* const kHead = R"(
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>
#include "cleave/annotate.h"
std::mutex m;
int use;
template <class Work> void twice(Work work) {
  std::thread a(work), b(work);
  a.join();
  b.join();
}
)";

// Figure 1(a). The values meet in the comparison.
TEST_F(Programs, Figure1aIsAHighLevelRace) {
  const auto findings = analyze_text(std::string(kHead) + R"(
struct Pair { int a = 0, b = 0; } p;
int getA() { std::lock_guard l(m); return p.a; }
int getB() { std::lock_guard l(m); return p.b; }
void setPair(int a, int b) { std::lock_guard l(m); p.a = a; p.b = b; }
bool areEqual() { int a = getA(); int b = getB(); return a == b; }
int main() { twice([] { setPair(1, 1); if (!areEqual()) std::abort(); }); })");
  EXPECT_TRUE(has(findings, FindingKind::HighLevelRace, "p.a", "getA", "getB") ||
              has(findings, FindingKind::HighLevelRace, "Pair::a", "getA", "getB"));
  EXPECT_EQ(findings.size(), 1u);
}

// Definition 8: reads that never meet are no race.
TEST_F(Programs, ReadsThatAreUsedApartAreNoRace) {
  const auto findings = analyze_text(std::string(kHead) + R"(
struct Pair { int a = 0, b = 0; } p;
int first, second;
int getA() { std::lock_guard l(m); return p.a; }
int getB() { std::lock_guard l(m); return p.b; }
void setPair(int a, int b) { std::lock_guard l(m); p.a = a; p.b = b; }
int main() { std::thread w([] { setPair(1, 1); }); first = getA(); second = getB(); w.join(); })");
  EXPECT_TRUE(findings.empty());
}

// Figure 1(b), with the path through incX; figure 4: ASSIGN, METH CALL, RETURN, HEAP READ, HEAP WRITE.
TEST_F(Programs, Figure1bIsAStaleValue) {
  const std::string text = std::string(kHead) + R"(
struct Cell {
  int x = 0;
  int getX() { std::lock_guard l(m); return x; }
  void setX(int p0) { std::lock_guard l(m); x = p0; }
  void incX(int val) {
    int tmp = getX();
    tmp = tmp + val;
    setX(tmp);
  }
} cell;
int main() { twice([] { cell.incX(1); }); })";
  for (const char* flags : {"-O0", "-O1", "-O2"}) {
    const auto findings = analyze_text(text, {}, false, flags);
    EXPECT_TRUE(has(findings, FindingKind::StaleValue, "Cell::x", "Cell::getX", "Cell::setX")) << flags;
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(findings[0].rank, 1u);
    EXPECT_EQ(findings[0].unit, "Cell::incX");
  }
}

// Figure 5: CONDITIONAL.
TEST_F(Programs, ABranchCarriesTheValue) {
  const auto findings = analyze_text(std::string(kHead) + R"(
struct Seat {
  bool taken = false;
  bool free() { std::lock_guard l(m); return !taken; }
  void take() { std::lock_guard l(m); taken = true; use++; }
} seat;
int main() { twice([] { if (seat.free()) seat.take(); }); })");
  EXPECT_TRUE(has(findings, FindingKind::StaleValue, "Seat::taken", "Seat::free", "Seat::take"));
}

// What one lock holds throughout is one section; what one thread has is nobody's business.
TEST_F(Programs, OneSectionIsNoFinding) {
  EXPECT_TRUE(analyze_text(std::string(kHead) + R"(
int x;
void inc() { std::lock_guard l(m); int t = x; x = t + 1; }
int main() { twice([] { for (int i = 0; i < 3; i++) inc(); }); })")
                  .empty());
  EXPECT_TRUE(analyze_text(std::string(kHead) + R"(
int x;
int get() { std::lock_guard l(m); return x; }
void set(int v) { std::lock_guard l(m); x = v; }
int main() { set(get() + 1); std::thread t([] { std::lock_guard l(m); use = x; }); t.join(); set(get() + 1); })")
                  .empty());
}

// The paper merges the branches of a section into one view and misses this.
TEST_F(Programs, PathsOfASectionAreViewsOfTheirOwn) {
  const std::string text = std::string(kHead) + R"(
struct Vector {
  int first = 1, second = 2;
  bool flag = false;
  void set(int a) { std::lock_guard l(m); first = a; second = 2 * a; }
  int max() { std::lock_guard l(m); return flag ? first : second; }
  int min() { std::lock_guard l(m); return flag ? second : first; }
} v;
int main() {
  std::thread w([] { v.set(3); }), r([] { if (v.max() != 2 * v.min()) use = 1; });
  w.join();
  r.join();
})";
  EXPECT_TRUE(
      has(analyze_text(text), FindingKind::HighLevelRace, "Vector::second", "Vector::max", "Vector::min") ||
      has(analyze_text(text), FindingKind::HighLevelRace, "Vector::first", "Vector::max", "Vector::min"));
  StaticOptions paper;
  paper.paper = true;
  for (const Finding& finding : analyze_text(text, paper))
    EXPECT_NE(finding.kind, FindingKind::HighLevelRace);
}

// Two objects of a class are one to the paper only.
TEST_F(Programs, ObjectsAreToldApart) {
  const std::string text = std::string(kHead) + R"(
struct Counter {
  std::mutex own;
  int n = 0;
  int get() { std::lock_guard l(own); return n; }
  void set(int v) { std::lock_guard l(own); n = v; }
} mine, theirs;
int main() {
  std::thread t([] { theirs.set(5); });
  mine.set(mine.get() + 1);
  t.join();
})";
  EXPECT_TRUE(analyze_text(text).empty());
  StaticOptions paper;
  paper.paper = true;
  EXPECT_TRUE(
      has(analyze_text(text, paper), FindingKind::StaleValue, "Counter::n", "Counter::get", "Counter::set"));
}

// Rule `compared again`: the second section goes on only if the value still holds.
TEST_F(Programs, AComparedValueIsNotStale) {
  const std::string text = std::string(kHead) + R"(
struct Shared {
  int field = 0;
  int get() { std::lock_guard l(m); return field; }
  bool update(int old, int next) { std::lock_guard l(m); if (field != old) return false; field = next; return true; }
} s;
int main() { twice([] { int v; do v = s.get(); while (!s.update(v, v + 1)); }); })";
  EXPECT_TRUE(analyze_text(text).empty());
  StaticOptions all;
  all.all = true;
  EXPECT_FALSE(analyze_text(text, all).empty());
}

// Annotated units without a lock are the paper's atomic methods.
TEST_F(Programs, AnnotationsAloneAreAtomicMethods) {
  const auto findings = analyze_text(std::string(kHead) + R"(
int x;
CLEAVE_ATOMIC __attribute__((noinline)) int get() { int a = x; use = a; return a; }
CLEAVE_ATOMIC __attribute__((noinline)) void set(int v) { x = v; use = v; }
int main() { twice([] { set(get() + 1); }); })",
                                     StaticOptions{.paper = true});
  EXPECT_TRUE(has(findings, FindingKind::StaleValue, "x", "get", "set"));
}

TEST_F(Programs, AtomicOperationsAreSections) {
  const auto findings = analyze_text(std::string(kHead) + R"(
struct Limit {
  std::atomic<int> n{0};
  bool enter() { if (n.load() >= 3) return false; n.fetch_add(1); return true; }
} limit;
int main() { twice([] { if (limit.enter()) use = 1; }); })");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, FindingKind::StaleValue);
  EXPECT_EQ(findings[0].unit, "Limit::enter");
}

// C, with a wrapper around the lock, threads in an array, and a function pointer.
TEST_F(Programs, PlainC) {
  const auto findings = analyze_text(R"(
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int stock = 5;
static void enter(void) { pthread_mutex_lock(&mutex); }
static void leave(void) { pthread_mutex_unlock(&mutex); }
int level(void) { enter(); int n = stock; leave(); return n; }
void take(void) { enter(); stock--; leave(); }
static void (*action)(void) = take;
static void* run(void* unused) { if (level() > 0) action(); return unused; }
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
  return level() < 0;
})",
                                     {}, true);
  EXPECT_TRUE(has(findings, FindingKind::StaleValue, "stock", "level", "take"));
}

TEST_F(Programs, TheSameAnswerEveryTime) {
  const std::string binary = build(std::string(kHead) + R"(
int x, y;
int getX() { std::lock_guard l(m); return x; }
int getY() { std::lock_guard l(m); return y; }
void set(int v) { std::lock_guard l(m); x = v; y = v; }
int main() { twice([] { set(getX() + getY()); }); })");
  Result<Program> program = Program::open(binary);
  ASSERT_TRUE(program.ok());
  std::string first;
  for (int round = 0; round < 3; ++round) {
    std::string text;
    const Result<Findings> findings = analyze(program.value(), {});
    ASSERT_TRUE(findings.ok());
    for (const Finding& finding : findings.value().findings) text += finding.id + finding.why + "\n";
    if (round == 0) first = text;
    EXPECT_EQ(text, first);
  }
  EXPECT_FALSE(first.empty());
}

TEST_F(Programs, DamagedBitcodeIsAnError) {
  Result<Program> program = Program::open(build("int main() { return 0; }"));
  ASSERT_TRUE(program.ok());
  for (ProgramModule& module : program.value().modules) module.packed.resize(module.packed.size() / 2);
  const Result<Findings> findings = analyze(program.value(), {});
  ASSERT_FALSE(findings.ok());
  EXPECT_NE(findings.error().message.find("bitcode"), std::string::npos);
}

// Rule `repeated`: one critical section that takes one branch, then the other, is two whole steps.
TEST_F(Programs, TheSameSectionTwiceIsNoRace) {
  const std::string text = std::string(kHead) + R"(
int x, y;
void step(int way) {
  std::lock_guard l(m);
  if (way) x = way; else y = use;
}
void look() { std::lock_guard l(m); use = x * 2 + y; }
int main(int argc, char**) { twice([argc] { step(argc); step(argc - 1); look(); }); }
)";
  for (const Finding& finding : analyze_text(text)) EXPECT_NE(finding.kind, FindingKind::HighLevelRace);
  StaticOptions all;
  all.all = true;
  bool ruled = false;
  for (const Finding& finding : analyze_text(text, all))
    ruled |= finding.note.find("`repeated`") != std::string::npos;
  EXPECT_TRUE(ruled);
  // Not where each of them writes one variable alone.
  const auto apart = analyze_text(std::string(kHead) + R"(
int x, y;
void set(int* at, int value) { std::lock_guard l(m); *at = value; }
void look() { std::lock_guard l(m); use = x * 2 + y; }
int main(int argc, char**) { twice([argc] { set(&x, argc); set(&y, argc); look(); }); }
)");
  EXPECT_TRUE(has(apart, FindingKind::HighLevelRace, "x", "set", "set"));
}

// A value that only starts another round, in which the variable is read anew, is not of the first rank.
TEST_F(Programs, ARetryHasALowerRank) {
  const auto findings = analyze_text(std::string(kHead) + R"(
int version, value;
int read(int* at) { std::lock_guard l(m); *at = version; use = value; return value; }
bool write(int at, int next) {
  std::lock_guard l(m);
  if (version != at) return false;
  value = next;
  version++;
  return true;
}
void add() { int at; int now; do { now = read(&at); } while (!write(at, now + 1)); }
int main() { twice(add); }
)");
  for (const Finding& finding : findings) {
    if (finding.units[0].name == "write" && finding.units[1].name == "read") EXPECT_NE(finding.rank, 1u);
  }
}

}  // namespace
}  // namespace cleave::static_analysis
