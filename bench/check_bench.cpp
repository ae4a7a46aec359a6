// Throughput of `cleave check --sets one` on generated serializable traces: events in memory (the checker
// alone), Cleave's binary trace, and RAPID text. Opening the file and reading its names is measured too.
//   one core   reading and judging in one thread, seconds of processor time
//   as run     reading and judging in a thread each, as `cleave check` does it: seconds that passed, and the
//              processor time of both; the peak is that of this process
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
#include "trace/imported/imported_events.h"
#include "trace/live/read_ahead.h"
#include "trace/text/rapid.h"

namespace cleave::bench {
namespace {

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
// Time of this process on all cores: what else runs on the machine does not count.
double core_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }
double wall_seconds() { return seconds_of(CLOCK_MONOTONIC); }

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
  double core, wall;  // seconds
  conflict::CheckReport report;
};

Timed time_check(EventSource& source) {
  conflict::CheckOptions options;
  options.units.annotated = true;
  options.sets.one = true;
  double core = core_seconds(), wall = wall_seconds();
  Result<conflict::CheckReport> report = conflict::check(source, options);
  core = core_seconds() - core;
  wall = wall_seconds() - wall;
  if (!report) {
    fmt::print(stderr, "check_bench: {}\n", report.error().sentence());
    std::exit(1);
  }
  if (!report.value().findings.empty()) {
    fmt::print(stderr, "check_bench: a cycle in a serializable trace\n");
    std::exit(1);
  }
  return {core, wall, std::move(report).value()};
}

// The first half of a line: what one core does.
void row(const TraceSize& size, const char* from, double core) {
  fmt::print("{:>10} {:>7} {:>9} {:>8} {:>8} {:>9.3f} {:>8.1f}", size.events, size.threads, size.variables,
             size.overlap ? "yes" : "no", from, core, static_cast<double>(size.events) / core / 1e6);
}
// The second half: what comes out as it is run.
void row_ends(const TraceSize& size, const Timed& timed) {
  fmt::print(" {:>9.3f} {:>8.1f} {:>9.3f} {:>9} {:>9.0f}\n", timed.wall,
             static_cast<double>(size.events) / timed.wall / 1e6, timed.core, timed.report.most_live,
             peak_megabytes());
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

// With a thread for the reader, or without.
template <typename Source>
Timed time_file(Result<std::unique_ptr<Source>> (*open)(const std::string&), const std::string& path,
                bool ahead) {
  double core = core_seconds(), wall = wall_seconds();
  Result<std::unique_ptr<Source>> source = open(path);
  core = core_seconds() - core;
  wall = wall_seconds() - wall;
  if (!source) {
    fmt::print(stderr, "check_bench: {}\n", source.error().sentence());
    _exit(1);
  }
  Timed timed =
      ahead ? time_check(*std::make_unique<ReadAhead>(*source.value())) : time_check(*source.value());
  timed.core += core;
  timed.wall += wall;
  return timed;
}

template <typename Source>
void row_of(const TraceSize& size, const char* from,
            Result<std::unique_ptr<Source>> (*open)(const std::string&), const std::string& path) {
  apart([&] { row(size, from, time_file(open, path, false).core); });
  apart([&] { row_ends(size, time_file(open, path, true)); });
}

Result<std::unique_ptr<BinarySource>> open_binary(const std::string& path) { return open_binary_trace(path); }

void measure(const TraceSize& size) {
  std::string path = std::filesystem::temp_directory_path() / fmt::format("check_bench.{}", getpid());
  apart([&] {
    std::vector<Event> events = generate(size);
    Trace tables = SerializableTrace::tables(size);
    StoredSource stored(events, tables);
    Timed timed = time_check(stored);
    row(size, "memory", timed.core);
    row_ends(size, timed);
  });
  apart([&] { write_binary(size, path); });
  row_of(size, "binary", open_binary, path);
  apart([&] { write_rapid(size, path); });
  row_of(size, "rapid", open_rapid_trace, path);
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
      timed.core -= source.generating;
      timed.wall -= source.generating;
      row(size, "stream", timed.core);
      row_ends(size, timed);
    });
    apart([&] { write_rapid(size, path); });
    row_of(size, "rapid", open_rapid_trace, path);
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
  fmt::print("{:>10} {:>7} {:>9} {:>8} {:>8} {:>9} {:>8} {:>9} {:>8} {:>9} {:>9} {:>9}\n", "events",
             "threads", "variables", "overlap", "from", "one core", "Mev/s", "as run", "Mev/s", "processor",
             "most live", "peak MB");
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
