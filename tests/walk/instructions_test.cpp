// Every kind of instruction that the walk supports, on values that other threads may change: what is stored
// is an expression over them, and with the recorded values it gives the recorded result.
#include <map>

#include "walk/recorded_program.h"

namespace cleave {
namespace {

struct Instruction {
  const char* name;
  const char* code;  // sets out_NAME, of type `type`, from a and b
  const char* type = "long";
};

// a and b are long, of shared variables; p is a pair of them in a struct, v an array, f a bool.
const Instruction kInstructions[] = {
    {"add", "a + b"},
    {"subtract", "a - b"},
    {"multiply", "a * b"},
    {"signed_divide", "a / (b | 1)"},
    {"unsigned_divide", "(unsigned long)a / (unsigned long)(b | 1)", "unsigned long"},
    {"signed_remainder", "a % (b | 1)"},
    {"unsigned_remainder", "(unsigned long)a % (unsigned long)(b | 1)", "unsigned long"},
    {"and_", "a & b"},
    {"or_", "a | b"},
    {"xor_", "a ^ b"},
    {"shift_left", "a << (b & 31)"},
    {"shift_right", "a >> (b & 31)"},
    {"logical_shift_right", "(unsigned long)a >> (b & 31)", "unsigned long"},
    {"wraps_32", "(int)((unsigned)a * 2654435761u + (unsigned)b)", "int"},
    {"wraps_16", "(short)((int)a * 31 + (int)b)", "short"},
    {"wraps_8", "(unsigned char)(a + 250)", "unsigned char"},
    {"equal", "a == b", "int"},
    {"not_equal", "a != b", "int"},
    {"less", "a < b", "int"},
    {"less_equal", "a <= b", "int"},
    {"greater", "a > b", "int"},
    {"unsigned_less", "(unsigned long)a < (unsigned long)b", "int"},
    {"unsigned_greater_equal", "(unsigned long)a >= (unsigned long)b", "int"},
    {"truncate", "(int)a", "int"},
    {"sign_extend", "(long)(int)(a << 3)"},
    {"zero_extend", "(long)(unsigned)(a - 1000)"},
    {"select", "(a & 1) ? a + 3 : b - 7"},
    {"minimum", "a < b ? a : b"},
    {"maximum", "a > b ? a : b"},
    {"unsigned_minimum", "(unsigned long)a < (unsigned long)b ? (unsigned long)a : (unsigned long)b",
     "unsigned long"},
    {"saturating_subtract", "__builtin_elementwise_sub_sat((unsigned long)a, (unsigned long)b)",
     "unsigned long"},
    {"saturating_add", "__builtin_elementwise_add_sat((unsigned long)a, (unsigned long)b)", "unsigned long"},
    {"absolute", "__builtin_labs(a - b)"},
    {"negate", "-a"},
    {"invert", "~a"},
    {"not_", "!a", "int"},
    {"rotate", "(long)((unsigned)a << 5 | (unsigned)a >> 27)"},
    {"field", "pair_of(a, b).second"},
    {"call", "helper(a, b)"},
    {"recursion", "sum_down(a & 7, b)"},
    {"indirect_call", "chosen(a, b)"},
    {"indirect_call_noting", "chosen_noting(a, b)"},
    {"shared_copy", "shared_copied(a)"},
    {"copy", "copied(a, b)"},
    {"bytes", "middle_bytes(a)"},
    {"byte_swap", "(long)__builtin_bswap64((unsigned long)a)"},
    {"population", "(long)__builtin_popcountl((unsigned long)a)"},
    {"leading_zeros", "(long)__builtin_clzl((unsigned long)a | 1)"},
    {"trailing_zeros", "(long)__builtin_ctzl((unsigned long)a | 4096)"},
    {"switch_", "switched(a)"},
    {"loop", "summed(a)"},
    {"overflow_checked", "checked_add(a, b)"},
    {"atomic_add", "__atomic_fetch_add(&cell, a, __ATOMIC_SEQ_CST) + b"},
    {"atomic_sub", "__atomic_fetch_sub(&cell, b, __ATOMIC_SEQ_CST)"},
    {"atomic_and", "__atomic_fetch_and(&cell, a | 255, __ATOMIC_SEQ_CST)"},
    {"atomic_or", "__atomic_fetch_or(&cell, b & 15, __ATOMIC_SEQ_CST)"},
    {"atomic_xor", "__atomic_fetch_xor(&cell, a, __ATOMIC_SEQ_CST)"},
    {"atomic_exchange", "__atomic_exchange_n(&cell, a, __ATOMIC_SEQ_CST)"},
    {"compare_exchange", "exchanged(a, b)"},
    {"atomic_load", "__atomic_load_n(&cell, __ATOMIC_ACQUIRE) + a"},
};

// Whose value the walk takes as recorded, as the documentation says: the path, or a table, decides it; and a
// function that is called through a pointer and touches no memory leaves no record of which one it was.
bool concrete_by_design(const std::string& name) {
  static const std::map<std::string, bool> kConcrete = {{"population", true},
                                                        {"leading_zeros", true},
                                                        {"trailing_zeros", true},
                                                        {"switch_", true},
                                                        {"indirect_call", true}};
  return kConcrete.contains(name);
}

std::string program() {
  std::string text = R"(
#include <pthread.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long in_a = 12345, in_b = -77, cell = 9;
struct pair { long first, second; };
static struct pair pair_of(long a, long b) { struct pair p = {a + 1, a * 2 + b}; return p; }
__attribute__((noinline)) static long helper(long a, long b) { return a * 3 - b; }
__attribute__((noinline)) static long sum_down(long n, long b) { return n <= 0 ? b : n + sum_down(n - 1, b); }
static long (*volatile choice)(long, long) = helper;
static long chosen(long a, long b) { return choice(a, b) + 1; }
static long noted;
__attribute__((noinline)) static long noting(long a, long b) { noted++; return a * 5 - b; }
static long (*volatile choice_noting)(long, long) = noting;
static long chosen_noting(long a, long b) { return choice_noting(a, b) + 1; }
static struct block { long first; int second; char third; } in_block = {3, 4, 5};
static long shared_copied(long a) { struct block b; memcpy(&b, &in_block, sizeof b); return b.first ^ b.second ^ b.third ^ a; }
static long copied(long a, long b) { struct pair p = {a, b}, q; memcpy(&q, &p, sizeof q); return q.second - q.first; }
static long middle_bytes(long a) { char bytes[8]; int x; memcpy(bytes, &a, 8); memcpy(&x, bytes + 2, 4); return x; }
static long switched(long a) { switch (a & 3) { case 0: return 10; case 1: return 21; case 2: return 32; default: return 43; } }
static long summed(long a) { long s = 0; for (long i = 0; i < (a & 7) + 1; i++) s += a ^ i; return s; }
static long checked_add(long a, long b) { long r; return __builtin_add_overflow(a, b, &r) ? 0 : r; }
static long exchanged(long a, long b) { long e = a; int done = __atomic_compare_exchange_n(&cell, &e, b, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return e + done; }
)";
  for (const Instruction& i : kInstructions) text += std::string(i.type) + " out_" + i.name + ";\n";
  for (const Instruction& i : kInstructions) {
    text += std::string("__attribute__((noinline)) static void do_") + i.name +
            "(void) { long a = in_a, b = in_b; (void)a, (void)b; out_" + i.name + " = (" + i.type + ")(" +
            i.code + "); }\n";
  }
  text +=
      "static void *work(void *seed) {\n  for (int round = 0; round < 3; round++) {\n    "
      "pthread_mutex_lock(&m);\n";
  for (const Instruction& i : kInstructions) text += std::string("    do_") + i.name + "();\n";
  text +=
      "    in_a = in_a * 7 + (long)seed; in_b = in_b - in_a / 5; in_block.first += in_a; in_block.second ^= "
      "(int)in_b; in_block.third++;\n    pthread_mutex_unlock(&m);\n  }\n  return 0;\n}\n"
      "int main(void) { pthread_t s, t; pthread_create(&s, 0, work, (void *)3); pthread_create(&t, 0, work, "
      "(void *)4);\n"
      "  pthread_join(s, 0); pthread_join(t, 0); return 0; }\n";
  return text;
}

class InstructionsAt : public testing::TestWithParam<const char*> {};

TEST_P(InstructionsAt, AreLiftedAndGiveWhatWasRecorded) {
  auto walked = record_program(std::string("instructions_") + (GetParam() + 1) + ".c", program(),
                               std::string(GetParam()) + " -Wno-everything");
  ASSERT_TRUE(walked);
  Result<SymbolicTrace> lifted = walk_recorded_paths(walked->recorded, {walked->program}, &walked->report);
  ASSERT_TRUE(lifted.ok()) << lifted.error().sentence();
  EXPECT_EQ(walked->report.mismatches, 0u) << walked->remarks();
  EXPECT_EQ(walked->report.threads_lost, 0u) << walked->remarks();
  const SymbolicTrace& symbolic = lifted.value();
  const Trace& trace = walked->recorded.trace;
  std::vector<uint64_t> recorded;
  for (const SymbolInfo& symbol : symbolic.symbols()) recorded.push_back(symbol.recorded);

  std::map<std::string, size_t> stores, symbolic_stores;
  for (size_t e = 0; e < trace.size(); ++e) {
    const Event& event = trace.events()[e];
    EventIndex at = id_of<EventIndex>(e);
    if (ExpressionId condition = symbolic.condition(at); condition != kNone<ExpressionId>) {
      EXPECT_EQ(symbolic.pool().evaluate(condition, recorded), 1u) << "condition of event " << e;
    }
    if (!writes(event.kind) || symbolic.stored(at) == kNone<ExpressionId>) continue;
    const std::string& name = trace.variable(event.variable()).name;
    EXPECT_EQ(symbolic.pool().evaluate(symbolic.stored(at), recorded), event.value)
        << name << ", event " << e;
    if (!name.starts_with("out_")) continue;
    ++stores[name.substr(4)];
    symbolic_stores[name.substr(4)] += !symbolic.pool().is_constant(symbolic.stored(at));
  }
  for (const Instruction& i : kInstructions) {
    EXPECT_EQ(stores[i.name], 6u) << i.name;
    if (!concrete_by_design(i.name)) EXPECT_GT(symbolic_stores[i.name], 0u) << i.name << " is not lifted";
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, InstructionsAt, testing::Values("-O0", "-O1", "-O2", "-O3"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace cleave
