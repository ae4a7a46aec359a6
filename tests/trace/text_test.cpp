#include "trace/text/text.h"

#include <gtest/gtest.h>

#include "trace/generate.h"

namespace cleave {
namespace {

Trace parse(std::string_view text) {
  Result<Trace> trace = parse_text_trace(text, "t.txt");
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().sentence());
  return trace.ok() ? std::move(trace).value() : Trace();
}

std::string error_of(std::string_view text) {
  Result<Trace> trace = parse_text_trace(text, "t.txt");
  return trace.ok() ? "no error" : trace.error().sentence();
}

constexpr std::string_view kContract = R"(# cleave text trace 1
init     x 20              # value before the first event; 0 where not said
main     fork    T1
T1       begin   withdraw  # a unit; units nest
T1       acquire m         # release m
T1       read    x 20
T1       write   x 10      @bank.cpp:12
T1       update  n 3 4     # read 3 and wrote 4 in one step
T1       branch  2         # so many conditional branches since the thread's last line
T1       wait    c m
T1       wake    c m
T1       signal  c
T1       broadcast c
T1       post    s
T1       down    s
T1       arrive  b
T1       pass    b
T1       acquire-shared rw
T1       release-shared rw
T1       input  amount 10 -> amount
T1       read   x 10 -> b
T1       assume (<= amount b)            # the branch that was taken
T1       write  x 0 = (- b amount) @bank.cpp:13
T1       end
main     join    T1
)";

TEST(TextTrace, TheContractsExampleIsRead) {
  Trace t = parse(kContract);
  ASSERT_EQ(t.size(), 23u);
  EXPECT_EQ(t.threads().size(), 2u);
  EXPECT_EQ(t.thread(ThreadId{1}).parent, ThreadId{0});
  EXPECT_EQ(t.variable(VariableId{0}), (VariableInfo{.name = "x", .initial = 20, .initial_known = true}));
  EXPECT_EQ(t.events()[5].kind, EventKind::Update);
  EXPECT_EQ(t.old_value(EventIndex{5}), 3u);
  EXPECT_EQ(t.events()[5].value, 4u);
  EXPECT_EQ(t.site(t.events()[4].site), (SiteInfo{.file = "bank.cpp", .line = 12}));
  EXPECT_EQ(t.sync(t.events()[7].sync()).kind, SyncKind::Condition);
  EXPECT_EQ(t.sync(t.events()[7].mutex()).name, "m");
  EXPECT_EQ(t.sync(t.events()[15].sync()).kind, SyncKind::RwLock);
  EXPECT_EQ(t.symbolic(EventIndex{17})->bound, "amount");
  EXPECT_EQ(t.symbolic(EventIndex{19})->expression, "(<= amount b)");
  EXPECT_EQ(t.symbolic(EventIndex{20})->expression, "(- b amount)");
  EXPECT_EQ(parse(write_text_trace(t)), t);
}

TEST(TextTrace, AHandWrittenTraceIsWrittenBackWithoutDeclarations) {
  std::string text =
      "# cleave text trace 1\nset money a.checking a.savings\ninit a.checking 5\nT1 write a.checking -3 "
      "@f.c:1\nT2 read x 0\n";
  EXPECT_EQ(write_text_trace(parse(text)), text);
}

TEST(TextTrace, ADotMakesAnObjectAndAField) {
  Trace t = parse("T1 write acc.balance 1\nT1 write acc.inner.count 2\nT1 write malloc@f.c:12+8 1\n");
  ASSERT_EQ(t.objects().size(), 1u);
  EXPECT_EQ(t.object(t.variable(VariableId{0}).object).name, "acc");
  EXPECT_EQ(t.variable(VariableId{0}).field, "balance");
  EXPECT_EQ(t.variable(VariableId{1}).field, "inner.count");
  EXPECT_EQ(t.variable(VariableId{2}).object, kNone<ObjectId>);
}

TEST(TextTrace, SetsAreDeclared) {
  Trace t = parse("set money x y\nT1 write y 1\n");
  ASSERT_EQ(t.declared_sets().size(), 1u);
  EXPECT_EQ(t.declared_sets().at("money"), (std::vector<VariableId>{VariableId{0}, VariableId{1}}));
}

TEST(TextTrace, ErrorsNameTheLine) {
  EXPECT_EQ(error_of("# cleave text trace 2\n"),
            "t.txt: line 1: a text trace of another version; this Cleave reads version 1");
  EXPECT_EQ(error_of("T1 read x 1\n\nT1 reed x 1\n"),
            "t.txt: line 3: 'reed' is not an event; a line is THREAD EVENT …");
  EXPECT_EQ(error_of("T1\n"), "t.txt: line 1: 'T1' stands alone; a line is THREAD EVENT …");
  EXPECT_EQ(error_of("T1 read x twenty\n"), "t.txt: line 1: 'twenty' is not a number of 64 bits");
  EXPECT_EQ(error_of("T1 read x 18446744073709551616\n"),
            "t.txt: line 1: '18446744073709551616' is not a number of 64 bits");
  EXPECT_EQ(error_of("T1 read\n"), "t.txt: line 1: read of what?");
  EXPECT_EQ(error_of("T1 read x\n"), "t.txt: line 1: a name and a value are needed");
  EXPECT_EQ(error_of("T1 wait c\n"), "t.txt: line 1: wait needs the condition and its mutex");
  EXPECT_EQ(error_of("T1 acquire m n\n"), "t.txt: line 1: 'n' is too much on this line");
  EXPECT_EQ(error_of("T1 acquire m @f.c\n"),
            "t.txt: line 1: '@f.c' is not a place; it is written @FILE:LINE");
  EXPECT_EQ(error_of("T1 read x 1 ->\n"), "t.txt: line 1: a name is missing after '->'");
  EXPECT_EQ(error_of("T1 read x 1 colour=red\n"), "t.txt: line 1: 'colour=' is not known here");
  EXPECT_EQ(error_of("T1 read x 1 context=4\n"), "t.txt: line 1: context 4 has not been declared");
  EXPECT_EQ(error_of("variable x\nvariable x\n"), "t.txt: line 2: 'x' is already there when it is declared");
}

TEST(TextTrace, GarbageIsNoExpression) {
  auto of = [](std::string expression) {
    return error_of("T1 read x 1 -> b\nT1 assume " + expression + "\n");
  };
  EXPECT_EQ(of("(<= b 1)"), "no error");
  EXPECT_EQ(of("(let ((y (+ b 1))) (ite (< y 3) true (= ((_ extract 7 0) b) #x0F))) # why"), "no error");
  EXPECT_EQ(of("(forall ((k Int)) (=> (< k b) true))"), "no error");
  EXPECT_EQ(of(""), "t.txt: line 2: an expression is missing");
  EXPECT_EQ(of("(<= b 1"), "t.txt: line 2: the expression ends before its brackets are closed");
  EXPECT_EQ(of("(<= c 1)"), "t.txt: line 2: 'c' is not bound by an earlier '-> c'");
  EXPECT_EQ(of("(frob b)"), "t.txt: line 2: 'frob' is not a function of SMT-LIB");
  EXPECT_EQ(of("(<= b 1))"), "t.txt: line 2: ')' follows the expression without a blank");
  EXPECT_EQ(of("(<= b 1) 7"), "t.txt: line 2: '7' is too much on this line");
  EXPECT_EQ(of("(<= b 12x)"), "t.txt: line 2: '12x' is neither a number nor a name");
  EXPECT_EQ(of("(<= b #q)"), "t.txt: line 2: a literal with # is #b and binary or #x and hexadecimal digits");
  EXPECT_EQ(of(std::string(20000, '(')), "t.txt: line 2: the expression ends before its brackets are closed");
  std::string deep;
  for (int i = 0; i < 20000; ++i) deep += "(not ";
  EXPECT_EQ(of(deep), "t.txt: line 2: the expression is nested too deeply");
}

TEST(TextTrace, HundredsOfTracesSurviveARoundTrip) {
  for (uint64_t seed = 0; seed < 600; ++seed) {
    Trace trace = generate_trace(seed, {.plain = seed % 3 == 0});
    std::string text = write_text_trace(trace);
    Result<Trace> back = parse_text_trace(text, "t");
    ASSERT_TRUE(back.ok()) << "seed " << seed << ": " << back.error().sentence() << "\n" << text;
    ASSERT_TRUE(back.value() == trace) << "seed " << seed << "\n" << text;
    ASSERT_EQ(write_text_trace(back.value()), text);
  }
}

TEST(TextTrace, DamagedTextIsAnErrorOrATraceNeverACrash) {
  Random random(7);
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    std::string text =
        seed % 2 ? std::string(kContract) : write_text_trace(generate_trace(seed % 50, {.events = 10}));
    for (uint64_t n = 1 + random.below(4); n > 0; --n) {
      size_t at = random.below(text.size());
      switch (random.below(4)) {
        case 0:
          text[at] = static_cast<char>(random.next());
          break;
        case 1:
          text.erase(at, random.below(5));
          break;
        case 2:
          text.insert(at, 1, " \n#=@()\\|"[random.below(9)]);
          break;
        default:
          text.insert(at, text.substr(random.below(text.size()), random.below(30)));
          break;
      }
    }
    (void)parse_text_trace(text, "t");
  }
}

}  // namespace
}  // namespace cleave
