#include "oracle/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "oracle/machine.h"

namespace cleave::oracle {
namespace {

// How a generated thread computes what it writes.
constexpr uint64_t kLastReadPlusOne = UINT64_MAX;

// Objects of the generated world, in the order in which they are numbered.
struct World {
  std::vector<SyncInfo> syncs;
  std::vector<uint32_t> mutexes, rw_locks, conditions, semaphores;
  uint32_t barrier = UINT32_MAX;
};

class ProgramMaker {
 public:
  ProgramMaker(Random& random, const GeneratorOptions& options) : random_(random), options_(options) {
    make_world();
  }

  Script make() {
    const uint32_t count =
        options_.min_threads +
        static_cast<uint32_t>(random_.below(options_.max_threads - options_.min_threads + 1));
    script_.syncs = world_.syncs;
    script_.threads.resize(count);
    const bool barrier = options_.barriers && random_.chance(1, 5);
    for (uint32_t t = 0; t < count; ++t) {
      thread_ = t;
      const uint32_t budget = options_.events_per_thread;
      const uint32_t before = barrier ? static_cast<uint32_t>(random_.below(budget)) : budget;
      block(before, 0);
      if (barrier) {
        add(EventKind::Arrive, world_.barrier);
        add(EventKind::Pass, world_.barrier);
        block(budget - before, 0);
      }
    }
    if (barrier) script_.syncs[world_.barrier].initial = count;
    if (options_.fork_join && count > 1 && random_.chance(2, 3)) add_forks(count);
    return script_;
  }

 private:
  uint32_t add_sync(std::string name, SyncKind kind, uint64_t initial = 0) {
    world_.syncs.push_back({.name = std::move(name), .kind = kind, .initial = initial});
    return static_cast<uint32_t>(world_.syncs.size() - 1);
  }

  void make_world() {
    for (uint32_t i = 0; i < options_.locks; ++i) {
      if (options_.mutexes) world_.mutexes.push_back(add_sync(fmt::format("m{}", i), SyncKind::Mutex));
    }
    if (options_.rw_locks) world_.rw_locks.push_back(add_sync("rw", SyncKind::RwLock));
    if (options_.conditions && options_.mutexes)
      world_.conditions.push_back(add_sync("c", SyncKind::Condition));
    if (options_.semaphores)
      world_.semaphores.push_back(add_sync("s", SyncKind::Semaphore, random_.below(2)));
    if (options_.barriers) world_.barrier = add_sync("b", SyncKind::Barrier);
  }

  void add(EventKind kind, uint32_t object, uint32_t object2 = UINT32_MAX, uint64_t value = 0) {
    Event event{
        .kind = kind, .thread = ThreadId{thread_}, .object = object, .object2 = object2, .value = value};
    if (options_.branches && random_.chance(1, 6))
      event.branches = static_cast<uint16_t>(1 + random_.below(2));
    script_.threads[thread_].push_back(event);
  }

  void access() {
    const auto variable = static_cast<uint32_t>(random_.below(options_.variables));
    const uint64_t value = random_.chance(1, 3) ? kLastReadPlusOne : random_.below(options_.values);
    const uint64_t kind = random_.below(options_.updates ? 9 : 8);
    add(kind < 4   ? EventKind::Read
        : kind < 8 ? EventKind::Write
                   : EventKind::Update,
        variable, UINT32_MAX, value);
  }

  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[random_.below(from.size())];
  }

  bool free_to_take(uint32_t lock) const {
    return std::find(held_.begin(), held_.end(), lock) == held_.end();
  }

  // About `budget` events. Structures that contain others are made only while they fit.
  void block(uint32_t budget, uint32_t depth) {
    const size_t end = script_.threads[thread_].size() + budget;
    while (script_.threads[thread_].size() < end) {
      const auto left = static_cast<uint32_t>(end - script_.threads[thread_].size());
      if (left < 3 || depth > 3 || !structure(left, depth)) simple();
    }
  }

  void simple() {
    if (!world_.semaphores.empty() && random_.chance(1, 12)) {
      add(random_.chance(2, 3) ? EventKind::Post : EventKind::Down, world_.semaphores[0]);
    } else if (!world_.conditions.empty() && random_.chance(1, 12)) {
      add(random_.chance(2, 3) ? EventKind::Signal : EventKind::Broadcast, world_.conditions[0]);
    } else {
      access();
    }
  }

  bool structure(uint32_t left, uint32_t depth) {
    const auto inner = static_cast<uint32_t>(1 + random_.below(left - 2));
    switch (random_.below(8)) {
      case 0:
      case 1:
        return unit(inner, depth);
      case 2:
      case 3:
        return critical_section(inner, depth);
      case 4:
        return rw_section(inner, depth);
      case 5:
        return left >= 6 && hand_over_hand();
      case 6:
        return left >= 5 && random_.chance(1, 2) && wait_section();
      default:
        return false;
    }
  }

  bool unit(uint32_t inner, uint32_t depth) {
    if (!options_.units || (in_unit_ && random_.chance(3, 4))) return false;
    const bool outer = in_unit_;
    in_unit_ = true;
    add(EventKind::Begin, thread_);
    block(std::max(inner, 2u), depth + 1);
    add(EventKind::End, UINT32_MAX);
    in_unit_ = outer;
    return true;
  }

  bool critical_section(uint32_t inner, uint32_t depth) {
    if (world_.mutexes.empty()) return false;
    const uint32_t lock = pick(world_.mutexes);
    if (!free_to_take(lock)) return false;
    add(EventKind::Acquire, lock);
    held_.push_back(lock);
    block(inner, depth + 1);
    held_.pop_back();
    add(EventKind::Release, lock);
    return true;
  }

  bool rw_section(uint32_t inner, uint32_t depth) {
    if (world_.rw_locks.empty() || !free_to_take(world_.rw_locks[0])) return false;
    const uint32_t lock = world_.rw_locks[0];
    const bool shared = random_.chance(1, 2);
    add(shared ? EventKind::AcquireShared : EventKind::Acquire, lock);
    held_.push_back(lock);
    block(inner, depth + 1);
    held_.pop_back();
    add(shared ? EventKind::ReleaseShared : EventKind::Release, lock);
    return true;
  }

  // Not nested: takes the second lock before it gives the first back.
  bool hand_over_hand() {
    if (world_.mutexes.size() < 2 || !held_.empty()) return false;
    const uint32_t first = world_.mutexes[0], second = world_.mutexes[1];
    add(EventKind::Acquire, first);
    access();
    add(EventKind::Acquire, second);
    add(EventKind::Release, first);
    access();
    add(EventKind::Release, second);
    return true;
  }

  bool wait_section() {
    if (world_.conditions.empty() || !held_.empty()) return false;
    const uint32_t lock = world_.mutexes[0], condition = world_.conditions[0];
    add(EventKind::Acquire, lock);
    add(EventKind::Wait, condition, lock);
    add(EventKind::Wake, condition, lock);
    access();
    add(EventKind::Release, lock);
    return true;
  }

  // The first thread starts the others and may wait for them.
  void add_forks(uint32_t count) {
    std::vector<Event>& main = script_.threads[0];
    for (uint32_t child = 1; child < count; ++child) {
      const Event fork{.kind = EventKind::Fork, .thread = ThreadId{0}, .object = child};
      const size_t where = random_.chance(2, 3) ? 0 : random_.below(main.size() + 1);
      main.insert(main.begin() + static_cast<std::ptrdiff_t>(where), fork);
    }
    for (uint32_t child = 1; child < count; ++child) {
      if (random_.chance(1, 2)) {
        main.push_back({.kind = EventKind::Join, .thread = ThreadId{0}, .object = child});
      }
    }
  }

  Random& random_;
  const GeneratorOptions& options_;
  World world_;
  Script script_;
  uint32_t thread_ = 0;
  std::vector<uint32_t> held_;
  bool in_unit_ = false;
};

std::string thread_name(size_t thread) { return thread == 0 ? "main" : fmt::format("T{}", thread); }
std::string variable_name(size_t variable) {
  return variable < 3 ? std::string(1, static_cast<char>('x' + variable)) : fmt::format("v{}", variable);
}

// Runs the program with a random scheduler; nothing if it gets stuck.
std::optional<Trace> run(const Script& script, Random& random, const GeneratorOptions& options) {
  TraceBuilder builder;
  for (size_t t = 0; t < script.threads.size(); ++t) builder.thread(thread_name(t));
  std::vector<uint64_t> memory;
  for (uint32_t v = 0; v < options.variables; ++v) {
    memory.push_back(random.chance(3, 4) ? 0 : random.below(options.values));
    builder.set_initial(builder.variable(variable_name(v)), memory.back());
  }
  for (const SyncInfo& sync : script.syncs) builder.add_sync(sync);
  for (size_t t = 0; t < script.threads.size(); ++t) builder.unit_name(fmt::format("u{}", t));

  Machine machine(script);
  std::vector<uint64_t> last_read(script.threads.size(), 0);
  while (!machine.all_finished()) {
    std::vector<size_t> ready;
    for (size_t t = 0; t < machine.threads(); ++t) {
      if (machine.ways(t) > 0) ready.push_back(t);
    }
    if (ready.empty()) return std::nullopt;
    const size_t thread = ready[random.below(ready.size())];
    Event event = machine.next_event(thread);
    event.site = builder.add_site({.file = "generated.c",
                                   .line = static_cast<uint32_t>(100 * (thread + 1) + machine.next(thread)),
                                   .function = fmt::format("f{}", thread)});
    if (event.kind == EventKind::Begin || event.kind == EventKind::End) event.branches = 0;
    machine.step(thread, random.below(machine.ways(thread)));
    uint64_t old = 0;
    if (reads(event.kind)) last_read[thread] = old = memory[event.object];
    if (writes(event.kind)) {
      if (event.value == kLastReadPlusOne) event.value = (last_read[thread] + 1) % options.values;
      memory[event.object] = event.value;
    } else if (event.kind == EventKind::Read) {
      event.value = old;
    }
    event.kind == EventKind::Update ? builder.add_update(event, old) : builder.add(event);
  }
  return std::move(builder).build();
}

// The same trace with only the events that `keep` says.
Trace restrict(const Trace& trace, const std::vector<bool>& keep) {
  TraceBuilder builder;
  for (const ThreadInfo& thread : trace.threads()) builder.add_thread(thread);
  for (const VariableInfo& variable : trace.variables()) builder.add_variable(variable);
  for (const SyncInfo& sync : trace.syncs()) builder.add_sync(sync);
  for (const SiteInfo& site : trace.sites()) builder.add_site(site);
  for (const UnitNameInfo& name : trace.unit_names()) builder.add_unit_name(name);
  for (size_t i = 0; i < trace.size(); ++i) {
    if (!keep[i]) continue;
    const EventIndex index = id_of<EventIndex>(i);
    const Event& event = trace.event(index);
    event.kind == EventKind::Update ? builder.add_update(event, trace.old_value(index)) : builder.add(event);
  }
  return std::move(builder).build();
}

// Whether the events can happen in this very order, with these values.
bool can_happen(const Trace& trace) {
  const Script script = script_of(trace);
  for (const auto& events : script.threads) {
    int depth = 0;
    for (const Event& event : events) {
      depth += event.kind == EventKind::Begin ? 1 : event.kind == EventKind::End ? -1 : 0;
      if (depth < 0) return false;
    }
    if (depth != 0) return false;
  }
  std::vector<Machine> states{Machine(script)};
  std::vector<uint64_t> memory;
  for (const VariableInfo& variable : trace.variables()) memory.push_back(variable.initial);
  for (size_t i = 0; i < trace.size(); ++i) {
    const EventIndex index = id_of<EventIndex>(i);
    const Event& event = trace.event(index);
    const uint64_t expected = event.kind == EventKind::Update ? trace.old_value(index) : event.value;
    if (reads(event.kind) && memory[event.object] != expected) return false;
    if (writes(event.kind)) memory[event.object] = event.value;
    std::vector<Machine> after;
    for (const Machine& state : states) {
      for (size_t way = 0; way < state.ways(raw(event.thread)); ++way) {
        after.push_back(state);
        after.back().step(raw(event.thread), way);
      }
    }
    if (after.empty()) return false;
    states = std::move(after);
  }
  return true;
}

}  // namespace

GeneratorOptions memory_only() {
  GeneratorOptions options;
  options.mutexes = options.rw_locks = options.conditions = options.semaphores = options.barriers = false;
  options.fork_join = options.branches = false;
  return options;
}

Trace generate(uint64_t seed, const GeneratorOptions& options) {
  Random random(seed * 0x9e3779b97f4a7c15ull + 1);
  for (;;) {
    const Script script = ProgramMaker(random, options).make();
    for (int attempt = 0; attempt < 4; ++attempt) {
      if (std::optional<Trace> trace = run(script, random, options)) return std::move(*trace);
    }
  }
}

Trace shrink(const Trace& trace, const std::function<bool(const Trace&)>& fails) {
  Trace smallest = trace;
  auto try_without = [&](auto drops) {
    std::vector<bool> keep(smallest.size());
    for (size_t i = 0; i < keep.size(); ++i) keep[i] = !drops(i);
    if (std::find(keep.begin(), keep.end(), false) == keep.end()) return false;
    Trace smaller = restrict(smallest, keep);
    if (!can_happen(smaller) || !fails(smaller)) return false;
    smallest = std::move(smaller);
    return true;
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (uint32_t t = 0; t < smallest.threads().size() && !progress; ++t) {
      progress = try_without([&](size_t i) {
        const Event& event = smallest.events()[i];
        const bool life = event.kind == EventKind::Fork || event.kind == EventKind::Join;
        return raw(event.thread) == t || (life && event.object == t);
      });
    }
    for (size_t a = 0; a < smallest.size() && !progress; ++a) {
      for (size_t b = a; b < smallest.size() && !progress; ++b) {
        progress = try_without([&](size_t i) { return i == a || i == b; });
      }
    }
  }
  return smallest;
}

std::string to_text(const Trace& trace) {
  std::string text = "# cleave text trace 1\n";
  for (const VariableInfo& variable : trace.variables()) {
    text += fmt::format("init {} {}\n", variable.name, variable.initial);
  }
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace.events()[i];
    text += fmt::format("{} {}", trace.thread(event.thread).name, word_of(event.kind));
    if (is_access(event.kind)) {
      text += fmt::format(" {}", trace.variable(event.variable()).name);
      if (event.kind == EventKind::Update) text += fmt::format(" {}", trace.old_value(id_of<EventIndex>(i)));
      text += fmt::format(" {}", event.value);
    } else if (event.kind == EventKind::Fork || event.kind == EventKind::Join) {
      text += fmt::format(" {}", trace.thread(event.other()).name);
    } else if (event.kind == EventKind::Begin) {
      text += fmt::format(" {}", trace.unit_name(event.unit()).name);
    } else if (event.object < trace.syncs().size()) {
      text += fmt::format(" {}", trace.sync(event.sync()).name);
      if (event.object2 < trace.syncs().size()) text += fmt::format(" {}", trace.sync(event.mutex()).name);
    }
    text += fmt::format("   # {}{}\n", i,
                        event.branches != 0 ? fmt::format(", {} branches before", event.branches) : "");
  }
  return text;
}

}  // namespace cleave::oracle
