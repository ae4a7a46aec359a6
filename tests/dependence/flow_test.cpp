// The tables of what depends on what, of small functions that cleave-cc compiles.
#include "dependence/flow.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "dependence/bitcode/extract.h"
#include "dependence/summaries.h"
#include "program/program.h"

namespace cleave::dependence {
namespace {

class Flow : public testing::Test {
 protected:
  // The tables of an object file.
  void compile(const std::string& source) {
    std::string folder = (std::filesystem::temp_directory_path() / "cleave-flow-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    std::ofstream(folder + "/code.c") << source;
    const std::string command = std::string(CLEAVE_BINARY_DIR) + "/bin/cleave-cc -O0 -g -c " + folder +
                                "/code.c -o " + folder + "/code.o";
    const int status = std::system(command.c_str());
    Result<Program> program = Program::open(folder + "/code.o");
    std::filesystem::remove_all(folder);
    ASSERT_EQ(status, 0);
    ASSERT_TRUE(program) << program.error().sentence();
    program_ = flow_of_program(program.value());
    ASSERT_EQ(program_.modules.size(), 1u);
    ASSERT_TRUE(program_.remarks.empty());
  }
  FunctionRef function(const std::string& linkage) const { return {0, program_.modules[0].find(linkage)}; }
  const FunctionFlow& flow(const std::string& linkage) const {
    return program_.modules[0].functions[function(linkage).function];
  }
  static uint32_t nth(const FunctionFlow& flow, ElementKind kind, size_t n = 0) {
    for (uint32_t e = 0; e < flow.elements.size(); ++e) {
      if (flow.elements[e].kind == kind && n-- == 0) return e;
    }
    return kNoElement;
  }
  static bool from_element(const Origins& origins, uint32_t element) {
    return std::find(origins.begin(), origins.end(), Origin{Origin::Kind::Element, element}) != origins.end();
  }
  static bool from_parameter(const Origins& origins, uint32_t parameter) {
    return std::find(origins.begin(), origins.end(), Origin{Origin::Kind::Parameter, parameter}) !=
           origins.end();
  }
  // Whether a branch that looks at the element decides the other one.
  static bool decides(const FunctionFlow& flow, uint32_t by, uint32_t what) {
    const std::vector<uint32_t>& branches = flow.elements[what].decided_by;
    return std::any_of(branches.begin(), branches.end(),
                       [&](uint32_t b) { return from_element(flow.branches[b].condition, by); });
  }
  ProgramFlow program_;
};

TEST_F(Flow, AWrittenValueDependsOnTheReadAndOnTheParameter) {
  compile("int x, y; void f(int a, int b) { int t = x + a; y = t; }");
  const FunctionFlow& f = flow("f");
  const Element& write = f.elements[nth(f, ElementKind::Write)];
  EXPECT_TRUE(from_element(write.value, nth(f, ElementKind::Read)));
  EXPECT_TRUE(from_parameter(write.value, 0));
  EXPECT_FALSE(from_parameter(write.value, 1));
  EXPECT_TRUE(write.decided_by.empty());
}

TEST_F(Flow, ABranchDecidesWhatIsInItAndNothingBehindIt) {
  compile("int x, y, z; void f(void) { if (x > 3) y = 1; z = 2; }");
  const FunctionFlow& f = flow("f");
  EXPECT_TRUE(decides(f, nth(f, ElementKind::Read), nth(f, ElementKind::Write, 0)));
  EXPECT_FALSE(decides(f, nth(f, ElementKind::Read), nth(f, ElementKind::Write, 1)));
}

TEST_F(Flow, AnEarlyReturnDecidesTheRest) {
  compile("int x, y; void f(void) { if (x > 3) return; y = 1; }");
  const FunctionFlow& f = flow("f");
  EXPECT_TRUE(decides(f, nth(f, ElementKind::Read), nth(f, ElementKind::Write)));
}

TEST_F(Flow, WhatComesBeforeABranchInALoopIsNotDecidedByIt) {
  compile("int x, y; void f(void) { do { y = 1; } while (x > 3); }");
  const FunctionFlow& f = flow("f");
  EXPECT_FALSE(decides(f, nth(f, ElementKind::Read), nth(f, ElementKind::Write)));
}

TEST_F(Flow, AnIndexThatALoopFoundDependsOnWhatEndedTheLoop) {
  compile("int a[8]; int f(int k) { int i; for (i = 0; i < 8; i++) if (a[i] == k) break; return i; }");
  const FunctionFlow& f = flow("f");
  EXPECT_TRUE(from_element(f.returned, nth(f, ElementKind::Read)));
  EXPECT_TRUE(from_parameter(f.returned, 0));
}

TEST_F(Flow, AChosenConstantDependsOnTheChoice) {
  compile("int x; int f(void) { return x > 3 ? 7 : 9; }");
  const FunctionFlow& f = flow("f");
  EXPECT_TRUE(from_element(f.returned, nth(f, ElementKind::Read)));
}

TEST_F(Flow, AnOutsideCallPassesOnWhatItIsGivenAlsoThroughALocal) {
  compile("void fill(int*, int); int x, y; void f(void) { int t; fill(&t, x); y = t; }");
  const FunctionFlow& f = flow("f");
  const uint32_t call = nth(f, ElementKind::Opaque);
  ASSERT_NE(call, kNoElement);
  EXPECT_TRUE(from_element(f.elements[call].arguments[1], nth(f, ElementKind::Read)));
  EXPECT_TRUE(from_element(f.elements[nth(f, ElementKind::Write)].value, nth(f, ElementKind::Read, 1)) ||
              from_element(f.elements[nth(f, ElementKind::Write)].value, call));
}

TEST_F(Flow, ACheckThatAbortsIsKnown) {
  compile(
      "void abort(void) __attribute__((noreturn)); int x, y; void f(void) { if (x < 0) abort(); y = 1; }");
  const FunctionFlow& f = flow("f");
  ASSERT_EQ(f.branches.size(), 1u);
  EXPECT_TRUE(f.branches[0].fails);
}

TEST_F(Flow, ACompareExchangeIsKnown) {
  compile("_Atomic int x; int f(int e) { return __c11_atomic_compare_exchange_strong(&x, &e, 1, 5, 5); }");
  const FunctionFlow& f = flow("f");
  const uint32_t update = nth(f, ElementKind::Update);
  ASSERT_NE(update, kNoElement);
  EXPECT_TRUE(f.elements[update].compares);
}

TEST_F(Flow, SummariesFollowGetAndSetThroughTheirCaller) {
  compile(
      "int x; int get(void) { return x; } void set(int v) { x = v; }"
      "void add(int n) { set(get() + n); } void either(void) { if (get() > 3) set(1); }");
  const Summaries summaries(program_);
  EXPECT_EQ(summaries.of(function("get")).returned_reads.size(), 1u);
  ASSERT_EQ(summaries.of(function("set")).parameter_reaches[0].size(), 1u);
  EXPECT_EQ(summaries.of(function("set")).parameter_reaches[0][0].how, Reach::Data);
  const std::vector<Summaries::Dependence> add = summaries.dependences(function("add"));
  ASSERT_EQ(add.size(), 1u);
  EXPECT_EQ(add[0].how, Reach::Data);
  const std::vector<Summaries::Dependence> either = summaries.dependences(function("either"));
  ASSERT_EQ(either.size(), 1u);
  EXPECT_EQ(either[0].how, Reach::Control);
}

TEST_F(Flow, SummariesEndForRecursion) {
  compile("int x; int f(int n) { return n == 0 ? x : f(n - 1); }");
  const Summaries summaries(program_);
  EXPECT_EQ(summaries.of(function("f")).returned_reads.size(), 1u);
  EXPECT_TRUE(summaries.of(function("f")).returned_parameters[0]);
}

TEST_F(Flow, TwoReadsMeetInAResult) {
  compile(
      "int a, b; int ga(void) { return a; } int gb(void) { return b; } int f(void) { return ga() - gb(); }");
  const Summaries summaries(program_);
  const std::vector<Summaries::Meeting> meetings = summaries.meetings(function("f"));
  ASSERT_EQ(meetings.size(), 1u);
  EXPECT_EQ(meetings[0].where, Summaries::Meeting::Where::Result);
}

}  // namespace
}  // namespace cleave::dependence
