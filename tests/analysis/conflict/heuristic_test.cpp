// Units that the heuristics make, on generated executions, against the full conflict graph.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "analysis/conflict/check.h"
#include "analysis/conflict/full_graph.h"
#include "analysis/conflict/heuristic_units.h"
#include "base/random.h"

namespace cleave::conflict {
namespace {

// Threads that call methods, functions, getters and steps of three objects, in loops and in critical
// sections, and reach objects through what others point to.
class Calls {
 public:
  Calls(Random& random, size_t threads) : random_(random), threads_(threads) {
    for (const char* name : {"a", "b", "c"}) {
      const uint64_t address = 64 * (objects_.size() + 1);
      objects_.push_back(builder_.add_object({.name = name, .type = "Item", .address = address, .size = 16}));
      for (const char* field : {"x", "y"}) {
        variables_.push_back(builder_.add_variable({.name = fmt::format("{}.{}", name, field),
                                                    .address = address + (*field == 'y' ? 8 : 0),
                                                    .size = 8,
                                                    .object = objects_.back(),
                                                    .field = field}));
      }
    }
    cursor_ = builder_.add_object({.name = "cursor", .type = "Cursor", .address = 16, .size = 8});
  }

  Trace make() {
    std::vector<Thread> all(threads_);
    for (size_t t = 0; t < threads_; ++t) all[t].id = builder_.thread(fmt::format("T{}", t));
    const size_t steps = 10 + random_.below(50);
    for (size_t step = 0; step < steps; ++step) one_step(all[random_.below(threads_)]);
    return std::move(builder_).build();
  }

 private:
  struct Thread {
    ThreadId id{};
    unsigned depth = 0;
    std::vector<size_t> held;
  };

  void add(EventKind kind, const Thread& thread, uint32_t object, uint32_t object2 = UINT32_MAX) {
    Event e{.kind = kind, .thread = thread.id};
    e.object = object;
    e.object2 = object2;
    if (is_access(kind)) e.site = random_.chance(1, 4) ? through_ : plain_;
    builder_.add(e);
  }
  void one_step(Thread& thread) {
    const uint64_t what = random_.below(14);
    if (what < 3) return begin(thread);
    if (what < 5) return end(thread);
    if (what < 6) return round(thread);
    if (what < 8) return lock_or_unlock(thread);
    add(random_.chance(1, 2) ? EventKind::Read : EventKind::Write, thread,
        raw(variables_[random_.below(variables_.size())]));
  }
  void begin(Thread& thread) {
    if (thread.depth == 4) return;
    ++thread.depth;
    const uint32_t object = raw(objects_[random_.below(objects_.size())]);
    switch (random_.below(6)) {
      case 0:
      case 1:
        return add(EventKind::Begin, thread, raw(method_), object);
      case 2:
        return add(EventKind::Begin, thread, raw(getter_), object);
      case 3:
        return add(EventKind::Begin, thread, raw(step_), raw(cursor_));
      case 4:
        return add(EventKind::Begin, thread, raw(walk_), raw(cursor_));
      default:
        return add(EventKind::Begin, thread, raw(function_));
    }
  }
  void end(Thread& thread) {
    if (thread.depth == 0) return;
    --thread.depth;
    add(EventKind::End, thread, UINT32_MAX);
  }
  void round(Thread& thread) {
    if (thread.depth == 0) return;
    add(EventKind::Begin, thread, raw(round_));
    add(EventKind::End, thread, UINT32_MAX);
  }
  void lock_or_unlock(Thread& thread) {
    if (!thread.held.empty() && random_.chance(1, 2)) {
      const size_t i = random_.below(thread.held.size());
      const size_t lock = thread.held[i];
      thread.held.erase(thread.held.begin() + static_cast<ptrdiff_t>(i));
      taken_[lock] = false;
      return add(EventKind::Release, thread, raw(locks_[lock]));
    }
    const size_t lock = random_.below(locks_.size());
    if (taken_[lock]) return;
    taken_[lock] = true;
    thread.held.push_back(lock);
    add(EventKind::Acquire, thread, raw(locks_[lock]));
  }

  Random& random_;
  size_t threads_;
  TraceBuilder builder_;
  std::vector<ObjectId> objects_;
  std::vector<VariableId> variables_;
  ObjectId cursor_{};
  SiteId plain_ = builder_.add_site({.file = "item.cpp", .line = 1});
  SiteId through_ = builder_.add_site({.file = "item.cpp", .line = 2, .through_own = true});
  std::array<SyncId, 2> locks_{builder_.sync("m", SyncKind::Mutex), builder_.sync("n", SyncKind::Mutex)};
  std::array<bool, 2> taken_{};
  UnitNameId method_ =
      builder_.add_unit_name({.name = "Item::change", .source = UnitSource::Method, .type = "Item"});
  UnitNameId getter_ = builder_.add_unit_name(
      {.name = "Item::x", .source = UnitSource::Method, .type = "Item", .flags = UnitNameInfo::kGetter});
  UnitNameId step_ = builder_.add_unit_name(
      {.name = "Cursor::look", .source = UnitSource::Method, .type = "Cursor", .flags = kUnitSteps});
  UnitNameId walk_ = builder_.add_unit_name({.name = "Cursor::next",
                                             .source = UnitSource::Method,
                                             .type = "Cursor",
                                             .flags = kUnitSteps | kUnitWalks});
  UnitNameId function_ = builder_.add_unit_name({.name = "work", .source = UnitSource::Function});
  UnitNameId round_ =
      builder_.add_unit_name({.name = "work", .source = UnitSource::Function, .flags = kUnitRound});
};

std::string show(const Trace& trace) {
  std::string text;
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& e = trace.events()[i];
    std::string what;
    if (e.kind == EventKind::Begin) {
      const UnitNameInfo& name = trace.unit_names()[e.object];
      what = name.flags & kUnitRound ? "(round)" : name.name;
      if (e.object2 != UINT32_MAX) what += " of " + trace.objects()[e.object2].name;
    } else if (e.kind == EventKind::Read || e.kind == EventKind::Write) {
      what = trace.variables()[e.object].name + (trace.site(e.site).through_own ? " (through its own)" : "");
    } else if (e.kind != EventKind::End) {
      what = trace.syncs()[e.object].name;
    }
    text += fmt::format("{:3} {} {} {}\n", i, trace.thread(e.thread).name, word_of(e.kind), what);
  }
  return text;
}

size_t threads_of(const Finding& finding) {
  std::set<std::string> threads;
  for (const UnitReport& unit : finding.units) threads.insert(unit.thread);
  return threads.size();
}

TEST(Heuristics, UnitsAgreeWithTheFullGraph) {
  constexpr unsigned kTraces = 20'000;
  Random random(11);
  unsigned cyclic = 0;
  for (unsigned i = 0; i < kTraces; ++i) {
    const Trace trace = Calls(random, 2 + random.below(3)).make();
    const HeuristicUnits units(trace);
    const std::optional<size_t> expected = FullGraph(trace, units).first_cycle();
    CheckOptions options;
    options.units.methods = options.units.locks = true;
    TraceSource source(trace);
    const CheckReport report = check(source, options).value();
    std::optional<size_t> got;
    if (report.first_violation) got = raw(*report.first_violation);
    ASSERT_EQ(got, expected) << "trace " << i << "\n" << show(trace);
    for (const Finding& finding : report.findings) ASSERT_GT(threads_of(finding), 1u) << show(trace);
    cyclic += expected.has_value();
  }
  EXPECT_GT(cyclic, kTraces / 20);
  EXPECT_LT(cyclic, kTraces * 19 / 20);
}

// A thread is serial by itself, whatever the heuristics take for units and sets.
TEST(Heuristics, OneThreadHasNoCycle) {
  Random random(12);
  for (unsigned i = 0; i < 20'000; ++i) {
    const Trace trace = Calls(random, 1).make();
    for (bool locks : {false, true}) {
      CheckOptions options;
      options.units.methods = true;
      options.units.locks = locks;
      options.sets.one = random.chance(1, 4);
      TraceSource source(trace);
      const CheckReport report = check(source, options).value();
      ASSERT_FALSE(report.first_violation.has_value()) << "trace " << i << "\n" << show(trace);
      ASSERT_TRUE(report.findings.empty());
    }
  }
}

}  // namespace
}  // namespace cleave::conflict
