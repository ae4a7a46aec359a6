#include "solve/feasibility.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "solve/brute_force.h"

namespace cleave {
namespace {

// Small helpers on TraceBuilder so that a test reads like the text trace.
struct Program {
  TraceBuilder b;
  EventIndex read(const char* t, const char* v, uint64_t value, std::string bound = "") {
    EventIndex e = b.read(t, v, value);
    if (!bound.empty()) b.annotate(e, {bound, ""});
    return e;
  }
  EventIndex write(const char* t, const char* v, uint64_t value, std::string expression = "") {
    EventIndex e = b.write(t, v, value);
    if (!expression.empty()) b.annotate(e, {"", expression});
    return e;
  }
  EventIndex assume(const char* t, std::string condition) {
    EventIndex e = b.add({.kind = EventKind::Assume, .thread = b.thread(t)});
    b.annotate(e, {"", condition});
    return e;
  }
  EventIndex sync(const char* t, EventKind kind, const char* object, const char* object2 = nullptr) {
    Event e{.kind = kind, .thread = b.thread(t), .object = raw(b.sync(object))};
    if (object2) e.object2 = raw(b.sync(object2));
    return b.add(e);
  }
  Trace done() { return std::move(b).build(); }
};

Feasibility decide(const Trace& trace, EventIndex f, EventIndex r, EventIndex s, Pattern p, FeasibilityOptions options = {}) {
  Result<SymbolicTrace> lifted = lift_annotations(trace);
  EXPECT_TRUE(lifted.ok());
  FeasibilityChecker checker(lifted.value(), options);
  Feasibility result = checker.decide({f, r, s, p});
  if (result.answer == Answer::Feasible) {
    std::string why;
    EXPECT_TRUE(oracle::runs(trace, result.order, f, r, s, p, result.inputs, &why)) << why;
  }
  return result;
}

// CTP figure 1(a): the guard b > 0 makes the remote write impossible between the unit's accesses.
Answer figure_1a(const char* condition) {
  Program p;
  EventIndex t1 = p.read("T1", "x", 0, "a");
  EventIndex t2 = p.write("T1", "x", 1, "(+ a 1)");
  p.read("T2", "x", 1, "b");
  p.assume("T2", condition);
  EventIndex t5 = p.write("T2", "x", 5);
  Trace trace = p.done();
  return decide(trace, t1, t5, t2, Pattern::RWW).answer;
}

TEST(Figure1a, TheGuardRulesTheViolationOut) { EXPECT_EQ(figure_1a("(> b 0)"), Answer::Infeasible); }
TEST(Figure1a, AWeakerGuardLetsItHappen) { EXPECT_EQ(figure_1a("(>= b 0)"), Answer::Feasible); }

// CTP figure 1(b): signal and wait order the remote write behind the unit.
Answer figure_1b(bool ordered) {
  Program p;
  EventIndex t1 = p.write("T1", "x", 1, "1");
  if (ordered) {
    p.b.acquire("T2", "m");
    p.sync("T2", EventKind::Wait, "c", "m");
  }
  EventIndex t2 = p.read("T1", "x", 1, "a");
  if (ordered) {
    p.b.acquire("T1", "m");
    p.sync("T1", EventKind::Signal, "c");
    p.b.release("T1", "m");
    p.sync("T2", EventKind::Wake, "c", "m");
    p.b.release("T2", "m");
  }
  EventIndex t5 = p.write("T2", "x", 3, "3");
  Trace trace = p.done();
  return decide(trace, t1, t5, t2, Pattern::WWR).answer;
}

TEST(Figure1b, SignalAndWaitRuleItOut) { EXPECT_EQ(figure_1b(true), Answer::Infeasible); }
TEST(Figure1b, WithoutThemItHappens) { EXPECT_EQ(figure_1b(false), Answer::Feasible); }

TEST(GuardedIndependence, AWriteOfTheSameValueIsNoViolation) {
  Program p;
  EventIndex first = p.read("T1", "x", 0, "a");
  EventIndex second = p.read("T1", "x", 0, "b");
  EventIndex remote = p.write("T2", "x", 0, "0");
  Trace trace = p.done();
  EXPECT_EQ(decide(trace, first, remote, second, Pattern::RWR).answer, Answer::Infeasible);
  FeasibilityOptions conflicts;
  conflicts.same_value_is_violation = true;
  Result<SymbolicTrace> lifted = lift_annotations(trace);
  EXPECT_EQ(FeasibilityChecker(lifted.value(), conflicts).decide({first, remote, second, Pattern::RWR}).answer, Answer::Feasible);
}

TEST(Inputs, AreChosenSoThatTheConditionHolds) {
  Program p;
  EventIndex in = p.b.add({.kind = EventKind::Input, .thread = p.b.thread("T2"), .object = p.b.input_name("amount"), .value = 1});
  p.b.annotate(in, {"amount", ""});
  p.assume("T2", "(< amount 10)");
  EventIndex first = p.read("T1", "x", 0, "a");
  EventIndex second = p.read("T1", "x", 0, "b");
  EventIndex remote = p.write("T2", "x", 0, "(- amount 1)");
  Trace trace = p.done();
  Feasibility result = decide(trace, first, remote, second, Pattern::RWR);
  ASSERT_EQ(result.answer, Answer::Feasible);
  EXPECT_NE(result.inputs.at("amount"), 1u);
}

TEST(CommonLock, HeldThroughoutRulesItOut) {
  Program p;
  p.b.acquire("T1", "m");
  EventIndex first = p.read("T1", "x", 0, "a");
  EventIndex second = p.write("T1", "x", 1, "(+ a 1)");
  p.b.release("T1", "m");
  p.b.acquire("T2", "m");
  EventIndex remote = p.write("T2", "x", 7, "7");
  p.b.release("T2", "m");
  Trace trace = p.done();
  EXPECT_EQ(decide(trace, first, remote, second, Pattern::RWW).answer, Answer::Infeasible);
}

TEST(ATraceWithoutData, KeepsWhatReadsReturned) {
  Program p;
  EventIndex first = p.b.read("T1", "x", 0);
  EventIndex second = p.b.write("T1", "x", 1);
  p.b.read("T2", "x", 1);
  EventIndex remote = p.b.write("T2", "x", 5);
  Trace trace = p.done();
  Result<SymbolicTrace> lifted = lift_annotations(trace);
  FeasibilityChecker checker(lifted.value(), {});
  EXPECT_EQ(checker.decide({first, remote, second, Pattern::RWW}).answer, Answer::Infeasible);
}

// Random small programs, run once by a random scheduler to give the recorded trace; every triple of every unit against
// every interleaving.
struct Generated {
  Trace trace;
  std::vector<std::tuple<EventIndex, EventIndex, EventIndex, Pattern>> triples;
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  Generated make() {
    threads_ = 2 + random_.below(2);
    guarded_ = random_.chance(1, 3);
    size_t length = threads_ == 2 ? 7 : 5;
    std::vector<std::vector<Step>> code(threads_);
    for (auto& thread : code) thread = steps(length);
    std::vector<size_t> at(threads_, 0);
    for (int stuck = 0; stuck < 200;) {
      uint32_t t = static_cast<uint32_t>(random_.below(threads_));
      if (at[t] < code[t].size() && run(t, code[t][at[t]])) {
        ++at[t];
        stuck = 0;
      } else {
        ++stuck;
      }
    }
    Generated g{std::move(p_).done(), {}};
    find_triples(&g);
    return g;
  }

 private:
  enum class Kind { Read, Write, WriteExpression, Assume, Lock, Unlock, Post, Down, Signal, WaitWake, Update, Take, Give };
  struct Step {
    Kind kind;
    int variable;
    int64_t constant;
  };
  // A lock made by hand around a few accesses; now and then one that is not quite a lock.
  std::vector<Step> guarded_steps() {
    std::vector<Step> code{{Kind::Take, 0, 0}};
    for (uint64_t i = 1 + random_.below(2); i > 0; --i) {
      code.push_back({random_.chance(1, 2) ? Kind::Read : Kind::WriteExpression, 1, static_cast<int64_t>(random_.below(3))});
    }
    if (!random_.chance(1, 8)) code.push_back({Kind::Give, 0, 0});
    if (random_.chance(1, 2)) code.push_back({random_.chance(1, 2) ? Kind::Read : Kind::Write, 1, 1});
    if (random_.chance(1, 8)) code.insert(code.begin(), {Kind::Give, 0, 0});
    return code;
  }
  std::vector<Step> steps(size_t length) {
    if (guarded_) return guarded_steps();
    std::vector<Step> code;
    int held = -1;
    for (size_t i = 0; i < length; ++i) {
      int v = static_cast<int>(random_.below(2));
      int64_t k = static_cast<int64_t>(random_.below(3));
      switch (random_.below(12)) {
        case 0: case 1: case 2: code.push_back({Kind::Read, v, 0}); break;
        case 3: case 4: code.push_back({Kind::Write, v, k}); break;
        case 5: code.push_back({Kind::WriteExpression, v, k}); break;
        case 6: code.push_back({Kind::Assume, v, k}); break;
        case 7: case 8:
          if (held < 0) {
            code.push_back({Kind::Lock, held = v, 0});
          } else {
            code.push_back({Kind::Unlock, held, 0});
            held = -1;
          }
          break;
        case 9: code.push_back({random_.chance(2, 3) ? Kind::Post : Kind::Down, 0, 0}); break;
        case 10:
          if (held >= 0 && random_.chance(1, 2)) code.push_back({Kind::WaitWake, held, 0});
          else code.push_back({Kind::Signal, 0, 0});
          break;
        default: code.push_back({Kind::Update, v, k}); break;
      }
    }
    if (held >= 0) code.push_back({Kind::Unlock, held, 0});
    return code;
  }

  // Executes one step concretely and records it with its data. False when it would block.
  bool run(uint32_t t, const Step& s) {
    std::string thread = "T" + std::to_string(t), variable = "x" + std::to_string(s.variable),
                lock = "m" + std::to_string(s.variable), constant = std::to_string(s.constant);
    auto& mine = last_[t];
    int64_t& cell = memory_[s.variable];
    auto fresh = [&] { return "r" + std::to_string(t) + "_" + std::to_string(names_++); };
    switch (s.kind) {
      case Kind::Read: {
        std::string name = fresh();
        p_.read(thread.c_str(), variable.c_str(), static_cast<uint64_t>(cell), name);
        mine = {name, cell};
        return true;
      }
      case Kind::Write:
        p_.write(thread.c_str(), variable.c_str(), static_cast<uint64_t>(s.constant), constant);
        cell = s.constant;
        return true;
      case Kind::WriteExpression:
        if (mine.first.empty()) return true;
        cell = mine.second + s.constant;
        p_.write(thread.c_str(), variable.c_str(), static_cast<uint64_t>(cell), "(+ " + mine.first + " " + constant + ")");
        return true;
      case Kind::Assume:
        if (mine.first.empty()) return true;
        p_.assume(thread.c_str(), mine.second > s.constant ? "(> " + mine.first + " " + constant + ")"
                                                           : "(<= " + mine.first + " " + constant + ")");
        return true;
      case Kind::Lock:
        if (owner_[s.variable] >= 0) return false;
        owner_[s.variable] = static_cast<int>(t);
        p_.b.acquire(thread, lock);
        return true;
      case Kind::Unlock:
        owner_[s.variable] = -1;
        p_.b.release(thread, lock);
        return true;
      case Kind::Post:
        ++tokens_;
        p_.sync(thread.c_str(), EventKind::Post, "sem");
        return true;
      case Kind::Down:
        if (tokens_ == 0) return false;
        --tokens_;
        p_.sync(thread.c_str(), EventKind::Down, "sem");
        return true;
      case Kind::Signal:
        p_.sync(thread.c_str(), EventKind::Signal, "cond");
        if (!sleepers_.empty()) {
          woken_[sleepers_.front()] = true;
          sleepers_.erase(sleepers_.begin());
        }
        return true;
      case Kind::WaitWake:
        if (!waiting_[t]) {
          waiting_[t] = true;
          owner_[s.variable] = -1;
          sleepers_.push_back(t);
          p_.sync(thread.c_str(), EventKind::Wait, "cond", lock.c_str());
          return false;  // the wake is tried again later
        }
        if (!woken_[t] || owner_[s.variable] >= 0) return false;
        woken_[t] = waiting_[t] = false;
        owner_[s.variable] = static_cast<int>(t);
        p_.sync(thread.c_str(), EventKind::Wake, "cond", lock.c_str());
        return true;
      case Kind::Take: {
        if (owner_[0] >= 0 || memory_[0] != 0) return false;
        std::string name = fresh();
        p_.b.acquire(thread, "m0");
        p_.read(thread.c_str(), "x0", 0, name);
        p_.assume(thread.c_str(), "(= " + name + " 0)");
        p_.write(thread.c_str(), "x0", 1, "1");
        p_.b.release(thread, "m0");
        memory_[0] = 1;
        return true;
      }
      case Kind::Give:
        if (owner_[0] >= 0) return false;
        p_.b.acquire(thread, "m0");
        p_.write(thread.c_str(), "x0", 0, "0");
        p_.b.release(thread, "m0");
        memory_[0] = 0;
        return true;
      case Kind::Update: {
        std::string name = fresh();
        int64_t old_value = cell;
        cell = old_value + s.constant;
        EventIndex e = p_.b.update(thread, variable, static_cast<uint64_t>(old_value), static_cast<uint64_t>(cell));
        p_.b.annotate(e, {name, "(+ " + name + " " + constant + ")"});
        mine = {name, old_value};
        return true;
      }
    }
    return true;
  }

  static void find_triples(Generated* g) {
    auto events = g->trace.events();
    for (uint32_t i = 0; i < events.size(); ++i) {
      if (!is_access(events[i].kind)) continue;
      for (uint32_t k = i + 1; k < events.size(); ++k) {
        if (events[k].thread != events[i].thread || !is_access(events[k].kind) || events[k].object != events[i].object) continue;
        for (uint32_t j = 0; j < events.size(); ++j) {
          if (events[j].thread == events[i].thread || !is_access(events[j].kind) || events[j].object != events[i].object) continue;
          auto letters = [](EventKind kind) { return kind == EventKind::Read ? "R" : kind == EventKind::Write ? "W" : "RW"; };
          for (char a : std::string(letters(events[i].kind))) {
            for (char b : std::string(letters(events[j].kind))) {
              for (char c : std::string(letters(events[k].kind))) {
                std::string word{a, b, c};
                for (Pattern p : {Pattern::RWR, Pattern::RWW, Pattern::WWR, Pattern::WRW, Pattern::WWW}) {
                  if (word_of(p) == word) g->triples.emplace_back(EventIndex{i}, EventIndex{j}, EventIndex{k}, p);
                }
              }
            }
          }
        }
        break;  // consecutive accesses only
      }
    }
  }

  Random random_;
  Program p_;
  size_t threads_ = 2;
  bool guarded_ = false;
  int names_ = 0;
  int64_t memory_[2] = {0, 0};
  int owner_[2] = {-1, -1};
  int tokens_ = 0;
  std::map<uint32_t, std::pair<std::string, int64_t>> last_;
  std::vector<uint32_t> sleepers_;
  std::map<uint32_t, bool> woken_, waiting_;
};

TEST(GeneratedTraces, TheAnswerIsThatOfEveryInterleaving) {
  const uint64_t traces = std::getenv("CLEAVE_TRACES") ? std::stoull(std::getenv("CLEAVE_TRACES")) : 3000;
  size_t feasible = 0, infeasible = 0;
  for (uint64_t seed = 1; seed <= traces; ++seed) {
    Generated g = Generator(seed).make();
    if (g.triples.empty()) continue;
    Result<SymbolicTrace> lifted = lift_annotations(g.trace);
    ASSERT_TRUE(lifted.ok()) << lifted.error().sentence();
    FeasibilityChecker checker(lifted.value(), {});
    Random pick(seed);
    for (int n = 0; n < 2; ++n) {
      auto [f, r, s, p] = g.triples[pick.below(g.triples.size())];
      Feasibility got = checker.decide({f, r, s, p});
      bool expected = oracle::feasible(g.trace, f, r, s, p);
      ASSERT_NE(got.answer, Answer::Unknown) << got.why;
      ASSERT_EQ(got.answer == Answer::Feasible, expected)
          << "seed " << seed << " triple " << raw(f) << ' ' << raw(r) << ' ' << raw(s) << ' ' << word_of(p);
      if (expected) {
        std::string why;
        ASSERT_TRUE(oracle::runs(g.trace, got.order, f, r, s, p, got.inputs, &why)) << "seed " << seed << ": " << why;
      }
      ++(expected ? feasible : infeasible);
    }
  }
  EXPECT_GT(feasible, traces / 10);
  EXPECT_GT(infeasible, traces / 10);
  RecordProperty("feasible", static_cast<int>(feasible));
  RecordProperty("infeasible", static_cast<int>(infeasible));
}

}  // namespace
}  // namespace cleave
