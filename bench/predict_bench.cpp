// Stages patterns to filter (and exact) on generated server traces of the sizes in the AVFilter paper, and of
// 1, 10 and 100 million events.   predict_bench [apache|mysql|1M|10M|100M|all]
//
// A server: worker threads take jobs from a queue under a lock, work on memory of their own most of the time,
// and touch a set of shared objects in units of a few accesses, some under the object's lock, some with the
// check outside.
#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>

#include <chrono>
#include <cstring>
#include <string>

#include "analysis/predict/predict.h"
#include "base/random.h"
#include "units/sets.h"
#include "units/units.h"

namespace {

using namespace cleave;

struct Shape {
  const char* name;
  uint64_t events;
  uint32_t threads;
  uint32_t sites;   // program locations of shared accesses
  uint32_t shared;  // shared objects
  double limit;     // seconds for patterns to filter; 0: none
};

// Processor time: what one core needs, whatever else runs on the machine. The elapsed time is printed beside
// it.
double now() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double elapsed() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double peak_gigabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / (1024.0 * 1024.0);
}

class Server {
 public:
  explicit Server(const Shape& shape) : shape_(shape), random_(shape.events) {
    builder_.reserve(shape.events + 1000);
    for (uint32_t t = 0; t < shape.threads; ++t) threads_.push_back(builder_.thread(fmt::format("T{}", t)));
    for (uint32_t s = 0; s < shape.shared; ++s) {
      shared_.push_back(builder_.variable(fmt::format("object{}", s)));
      locks_.push_back(builder_.sync(fmt::format("lock{}", s), SyncKind::Mutex));
    }
    queue_ = builder_.variable("queue");
    queue_lock_ = builder_.sync("queue_lock", SyncKind::Mutex);
    for (uint32_t t = 0; t < shape.threads; ++t) {
      for (uint32_t p = 0; p < kOwn; ++p) own_.push_back(builder_.variable(fmt::format("own{}.{}", t, p)));
    }
    for (uint32_t s = 0; s < shape.sites; ++s) {
      sites_.push_back(builder_.add_site({"server.c", s + 1, 0, fmt::format("function{}", s / 8), "", ""}));
    }
    values_.assign(builder_.size() + shape.shared + own_.size() + 1, 0);
    unit_ = builder_.unit_name("request");
  }

  Trace make() && {
    uint32_t main = raw(builder_.thread("main"));
    for (ThreadId t : threads_) put({.kind = EventKind::Fork, .thread = ThreadId{main}, .object = raw(t)});
    while (builder_.size() + shape_.threads < shape_.events)
      request(static_cast<uint32_t>(random_.below(shape_.threads)));
    for (ThreadId t : threads_) put({.kind = EventKind::Join, .thread = ThreadId{main}, .object = raw(t)});
    return std::move(builder_).build();
  }

 private:
  static constexpr uint32_t kOwn = 64;

  void put(Event event) { builder_.add(event); }

  void access(uint32_t t, VariableId variable, bool write, SiteId site) {
    Event event{.kind = write ? EventKind::Write : EventKind::Read, .thread = threads_[t], .site = site};
    event.object = raw(variable);
    uint64_t& value = values_[raw(variable)];
    if (write) value = ++counter_;
    event.value = value;
    event.branches = random_.chance(1, 3) ? 1 : 0;
    put(event);
  }

  void lock(uint32_t t, SyncId lock, EventKind kind) {
    put({.kind = kind, .thread = threads_[t], .object = raw(lock)});
  }

  void own_work(uint32_t t) {
    uint64_t count = 8 + random_.below(24);
    for (uint64_t n = 0; n < count; ++n) {
      access(t, own_[t * kOwn + random_.below(kOwn)], random_.chance(1, 3), sites_[0]);
    }
  }

  // Each object has its own few places in the source: a request touches it from one of them.
  void request(uint32_t t) {
    lock(t, queue_lock_, EventKind::Acquire);
    access(t, queue_, false, sites_[1]);
    access(t, queue_, true, sites_[2]);
    lock(t, queue_lock_, EventKind::Release);
    put({.kind = EventKind::Begin, .thread = threads_[t], .object = raw(unit_)});
    own_work(t);
    uint64_t s = random_.below(shape_.shared);
    uint32_t places = static_cast<uint32_t>(3 + (s * 2) % (sites_.size() - 5));
    bool checked_outside = s % 16 == 0;
    if (checked_outside) {
      lock(t, locks_[s], EventKind::Acquire);
      access(t, shared_[s], false, sites_[places]);
      lock(t, locks_[s], EventKind::Release);
      own_work(t);
    }
    lock(t, locks_[s], EventKind::Acquire);
    access(t, shared_[s], false, sites_[places]);
    access(t, shared_[s], true, sites_[places + 1]);
    lock(t, locks_[s], EventKind::Release);
    own_work(t);
    put({.kind = EventKind::End, .thread = threads_[t]});
  }

  const Shape& shape_;
  Random random_;
  TraceBuilder builder_;
  std::vector<ThreadId> threads_;
  std::vector<VariableId> shared_, own_;
  std::vector<SyncId> locks_;
  std::vector<SiteId> sites_;
  std::vector<uint64_t> values_;
  VariableId queue_{};
  SyncId queue_lock_{};
  UnitNameId unit_{};
  uint64_t counter_ = 0;
};

bool measure(const Shape& shape) {
  Trace trace = Server(shape).make();
  SetMap sets({}, trace);
  UnitMap units = map_units(trace, {}, sets);
  double start = now(), clock = elapsed();
  prediction::TraceIndex facts(trace, units);
  prediction::PredictOptions options;
  options.exact = false;
  options.now = now;
  prediction::Prediction prediction = predict(facts, options);
  double seconds = now() - start;
  clock = elapsed() - clock;
  uint64_t looked_at = 0;
  fmt::print(
      "{:>6}: {:>9} events, {:>2} threads: {:.3f} s for patterns to filter{}, {:.3f} s elapsed, {:.2f} GB\n",
      shape.name, trace.size(), shape.threads, seconds,
      shape.limit == 0 ? "" : fmt::format(" (at most {} s)", shape.limit), clock, peak_gigabytes());
  for (const StageReport& stage : prediction.stages) {
    fmt::print("        {:<8} {:>16} triples {:>8} sites {:>8.3f} s\n", stage.name, stage.triples,
               stage.sites, stage.seconds);
    if (auto count = stage.counts.find("looked at"); count != stage.counts.end()) looked_at = count->second;
  }
  fmt::print("        predictions that the filter looked at: {}\n", looked_at);
  return shape.limit == 0 || seconds <= shape.limit;
}

constexpr Shape kShapes[] = {
    {"apache", 140'532, 8, 64, 160, 0.2},    {"mysql", 3'273'281, 30, 700, 8000, 3.0},
    {"1M", 1'000'000, 16, 400, 2000, 0},     {"10M", 10'000'000, 16, 400, 2000, 0},
    {"100M", 100'000'000, 16, 400, 2000, 0},
};

}  // namespace

int main(int argc, char** argv) {
  const char* wanted = argc > 1 ? argv[1] : "all";
  bool kept = true;
  for (const Shape& shape : kShapes) {
    if (std::strcmp(wanted, "all") == 0 || std::strcmp(wanted, shape.name) == 0)
      kept = measure(shape) && kept;
  }
  return kept ? 0 : 1;
}
