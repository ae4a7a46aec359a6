// Throughput of `cleave check --sets one` on generated serializable traces: events in memory (the checker alone),
// Cleave's binary trace, and RAPID text. Seconds are of one core and
// include opening the file and reading its names; the peak is that of the process that reads and checks.
//
//   check_bench            one line a shape and source, 1 and 10 million events
//   check_bench --quick    1 million only
//   check_bench --long     10 million only
//   check_bench --huge     100 million events, as a stream that is never stored and as a file of RAPID text
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "analysis/conflict/check.h"
#include "serializable_trace.h"
#include "trace/plain_events.h"
#include "trace/rapid.h"

namespace cleave::bench {
namespace {

// Time of this thread on a core: what else runs on the machine does not count.
double core_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A generated trace as a source: nothing of it is stored. `generating` is the time the generator took.
class GeneratedSource final : public EventSource {
 public:
  explicit GeneratedSource(const TraceSize& size) : trace_(size), tables_(SerializableTrace::tables(size)) {}
  Result<std::span<const Event>> next() override {
    double start = core_seconds();
    batch_.clear();
    Event event{};
    while (batch_.size() < 4096 && trace_.next(event)) batch_.push_back(event);
    generating += core_seconds() - start;
    return std::span<const Event>(batch_);
  }
  uint64_t old_value(size_t) const override { return 0; }
  const Trace& tables() const override { return tables_; }

  double generating = 0;

 private:
  SerializableTrace trace_;
  Trace tables_;
  std::vector<Event> batch_;
};

class StoredSource final : public EventSource {
 public:
  StoredSource(const std::vector<Event>& events, const Trace& tables) : events_(events), tables_(tables) {}
  Result<std::span<const Event>> next() override {
    size_t count = std::min<size_t>(4096, events_.size() - at_);
    at_ += count;
    return std::span<const Event>(events_).subspan(at_ - count, count);
  }
  uint64_t old_value(size_t) const override { return 0; }
  const Trace& tables() const override { return tables_; }

 private:
  const std::vector<Event>& events_;
  const Trace& tables_;
  size_t at_ = 0;
};

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

struct Timed {
  double seconds;
  conflict::CheckReport report;
};

Timed time_check(EventSource& source) {
  conflict::CheckOptions options;
  options.units.annotated = true;
  options.sets.one = true;
  double start = core_seconds();
  Result<conflict::CheckReport> report = conflict::check(source, options);
  double seconds = core_seconds() - start;
  if (!report) {
    fmt::print(stderr, "check_bench: {}\n", report.error().sentence());
    std::exit(1);
  }
  if (!report.value().findings.empty()) {
    fmt::print(stderr, "check_bench: a cycle in a serializable trace\n");
    std::exit(1);
  }
  return {seconds, std::move(report).value()};
}

void row(const TraceSize& size, const char* from, const Timed& timed) {
  fmt::print("{:>10} {:>7} {:>9} {:>8} {:>8} {:>9.3f} {:>8.1f} {:>9} {:>9.0f}\n", size.events, size.threads,
             size.variables, size.overlap ? "yes" : "no", from, timed.seconds,
             static_cast<double>(size.events) / timed.seconds / 1e6, timed.report.most_live, peak_megabytes());
  std::fflush(stdout);
}

// Work in a process of its own, so that the peak of memory is that of the work.
void apart(const std::function<void()>& work) {
  std::fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    work();
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) std::exit(1);
}

// The events that a checker gets from a reader that costs nothing.
std::vector<Event> generate(const TraceSize& size) {
  std::vector<Event> events;
  events.reserve(size.events);
  SerializableTrace trace(size);
  Event event{};
  while (trace.next(event)) events.push_back(event);
  return events;
}

void write_rapid(const TraceSize& size, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  SerializableTrace trace(size);
  std::string text;
  Event event{};
  for (uint64_t i = 0; trace.next(event); ++i) {
    append_rapid_line(text, event, i % 1000);
    if (text.size() > 1 << 20) file << text, text.clear();
  }
  file << text;
}

void write_binary(const TraceSize& size, const std::string& path) {
  TraceBuilder builder;
  SerializableTrace::name(builder, size);
  SerializableTrace trace(size);
  Event event{};
  while (trace.next(event)) builder.add(event);
  std::ofstream file(path, std::ios::binary);
  write_binary_trace(std::move(builder).build(), [&](std::string_view bytes) { file << bytes; });
}

template <typename Source>
void row_of(const TraceSize& size, const char* from, Result<std::unique_ptr<Source>> (*open)(const std::string&),
            const std::string& path) {
  double start = core_seconds();
  Result<std::unique_ptr<Source>> source = open(path);
  double opening = core_seconds() - start;
  if (!source) {
    fmt::print(stderr, "check_bench: {}\n", source.error().sentence());
    _exit(1);
  }
  Timed timed = time_check(*source.value());
  timed.seconds += opening;
  row(size, from, timed);
}

void measure(const TraceSize& size) {
  std::string path = std::filesystem::temp_directory_path() / fmt::format("check_bench.{}", getpid());
  apart([&] {
    std::vector<Event> events = generate(size);
    Trace tables = SerializableTrace::tables(size);
    StoredSource stored(events, tables);
    row(size, "memory", time_check(stored));
  });
  apart([&] { write_binary(size, path); });
  apart([&] { row_of<BinarySource>(size, "binary", [](const std::string& file) { return open_binary_trace(file); }, path); });
  apart([&] { write_rapid(size, path); });
  apart([&] { row_of<EventSource>(size, "rapid", open_rapid_trace, path); });
  std::filesystem::remove(path);
}

// So long that only a stream can hold it: 1.6 GB of text for 100 million events.
void measure_huge(uint64_t events) {
  std::string path = std::filesystem::temp_directory_path() / fmt::format("check_bench.{}", getpid());
  for (bool overlap : {false, true}) {
    TraceSize size{.events = events, .threads = 64, .variables = 1'000'000, .overlap = overlap};
    apart([&] {
      GeneratedSource source(size);
      Timed timed = time_check(source);
      timed.seconds -= source.generating;
      row(size, "stream", timed);
    });
    apart([&] { write_rapid(size, path); });
    apart([&] { row_of<EventSource>(size, "rapid", open_rapid_trace, path); });
    std::filesystem::remove(path);
  }
}

int run(int argc, char** argv) {
  bool quick = false, only_long = false, huge = false;
  for (int i = 1; i < argc; ++i) {
    quick = quick || std::strcmp(argv[i], "--quick") == 0;
    only_long = only_long || std::strcmp(argv[i], "--long") == 0;
    huge = huge || std::strcmp(argv[i], "--huge") == 0;
  }
  fmt::print("{:>10} {:>7} {:>9} {:>8} {:>8} {:>9} {:>8} {:>9} {:>9}\n", "events", "threads", "variables",
             "overlap", "from", "seconds", "Mev/s", "most live", "peak MB");
  if (huge) {
    measure_huge(100'000'000);
    return 0;
  }
  std::vector<uint64_t> lengths;
  if (!only_long) lengths.push_back(1'000'000);
  if (!quick) lengths.push_back(10'000'000);
  for (uint64_t events : lengths) {
    for (bool overlap : {false, true}) {
      for (uint32_t threads : {8u, 64u}) {
        for (uint32_t variables : {1000u, 1'000'000u}) {
          measure({.events = events, .threads = threads, .variables = variables, .overlap = overlap});
        }
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace cleave::bench

int main(int argc, char** argv) { return cleave::bench::run(argc, argv); }
