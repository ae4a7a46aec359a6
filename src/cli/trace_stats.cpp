#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <set>

#include "base/interrupt.h"
#include "base/printable.h"
#include "cli/common.h"
#include "cli/trace_views.h"
#include "program/program.h"
#include "trace/core/describe.h"
#include "trace/core/load.h"
#include "trace/core/validate.h"
#include "trace/recorded/reader.h"

namespace cleave::cli {
namespace {

constexpr size_t kKinds = 64;

// A source whose progress is shown, and that ends when we are asked to.
class Watched final : public EventSource {
 public:
  Watched(std::unique_ptr<EventSource> source, const BinarySource* binary, Progress* progress)
      : source_(std::move(source)), binary_(binary), progress_(progress) {}

  Result<std::span<const Event>> next() override {
    if (interrupted()) return std::span<const Event>();
    Result<std::span<const Event>> batch = source_->next();
    if (!batch || progress_ == nullptr) return batch;
    progress_->more(batch.value().size());
    if (binary_ != nullptr) progress_->bytes(binary_->position(), binary_->file().bytes());
    return batch;
  }
  std::span<const VariableSplit> splits() const override { return source_->splits(); }
  const FreedIds& freed() const override { return source_->freed(); }
  uint64_t old_value(size_t position) const override { return source_->old_value(position); }
  const Trace& tables() const override { return source_->tables(); }
  bool complete() const override { return !interrupted() && source_->complete(); }

 private:
  std::unique_ptr<EventSource> source_;
  const BinarySource* binary_;
  Progress* progress_;
};

struct Counts {
  uint64_t events = 0, branches = 0;
  std::array<uint64_t, kKinds> by_kind{};
  std::vector<uint64_t> by_thread;
  double seconds = 0;
};

Result<Counts> count(EventSource& source) {
  Counts counts;
  auto begin = std::chrono::steady_clock::now();
  for (;;) {
    Result<std::span<const Event>> batch = source.next();
    if (!batch) return batch.error();
    if (batch.value().empty()) break;
    if (counts.by_thread.size() < source.tables().threads().size())
      counts.by_thread.resize(source.tables().threads().size());
    counts.events += batch.value().size();
    for (const Event& event : batch.value()) {
      ++counts.by_kind[static_cast<size_t>(event.kind) % kKinds];
      ++counts.by_thread[raw(event.thread)];
      counts.branches += event.branches + (event.kind == EventKind::Branch ? event.value : 0);
    }
  }
  counts.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return counts;
}

void print_counts(const Counts& counts, const Trace& names) {
  fmt::print("{} events, {} conditional branches\n\nby kind\n", counts.events, counts.branches);
  std::vector<std::pair<uint64_t, EventKind>> kinds;
  for (size_t i = 0; i < kKinds; ++i) {
    if (counts.by_kind[i] > 0) kinds.emplace_back(counts.by_kind[i], static_cast<EventKind>(i));
  }
  std::sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (const auto& [times, kind] : kinds) fmt::print("  {:<16}{:>14}\n", word_of(kind), times);
  fmt::print("\nby thread\n");
  constexpr size_t kShown = 32;
  for (size_t i = 0; i < counts.by_thread.size() && i < kShown; ++i) {
    fmt::print("  {:<16}{:>14}{}\n", printable(names.threads()[i].name), counts.by_thread[i],
               names.threads()[i].path.empty() ? "" : "  " + printable(names.threads()[i].path));
  }
  if (counts.by_thread.size() > kShown)
    fmt::print("  … and {} more threads\n", counts.by_thread.size() - kShown);
  fmt::print(
      "\n{} variables, {} objects, {} synchronization objects, {} units, {} sites, {} calling contexts\n",
      names.variable_count(), names.objects().size(), names.syncs().size(), names.unit_names().size(),
      names.sites().size(), names.contexts().size());
}

// What the tables of the modules say about what was seen and what was left out.
template <typename Modules>
void print_coverage(const Modules& modules) {
  if (modules.empty()) return;
  Coverage sum;
  std::set<std::string> outside;
  for (const auto& module : modules) {
    const Coverage& one = module.tables.coverage;
    sum.functions += one.functions;
    sum.functions_skipped += one.functions_skipped;
    sum.accesses += one.accesses;
    sum.accesses_unshared += one.accesses_unshared;
    sum.accesses_constant += one.accesses_constant;
    sum.atomics += one.atomics;
    sum.ranges += one.ranges;
    sum.branches += one.branches;
    sum.inline_assembly += one.inline_assembly;
    outside.insert(one.called_outside.begin(), one.called_outside.end());
  }
  // A function that another module defines is instrumented after all.
  for (const auto& module : modules) {
    for (const FunctionEntry& function : module.tables.functions) outside.erase(function.linkage);
  }
  fmt::print(
      "\ninstrumented: {} modules, {} functions, {} accesses, {} atomic operations, {} ranges, {} branches\n",
      modules.size(), sum.functions, sum.accesses, sum.atomics, sum.ranges, sum.branches);
  fmt::print(
      "left out: {} functions, {} accesses of memory that cannot be shared, {} of constants, {} pieces of "
      "inline assembly\n",
      sum.functions_skipped, sum.accesses_unshared, sum.accesses_constant, sum.inline_assembly);
  if (outside.empty()) return;
  fmt::print("called without instrumentation: {} functions", outside.size());
  size_t shown = 0;
  for (const std::string& name : outside) {
    if (++shown > 12) break;
    fmt::print("{}{}", shown == 1 ? ": " : ", ", printable(name));
  }
  fmt::print("{}\n", outside.size() > 12 ? " …" : "");
}

void warn_of_end(const std::string& path, uint64_t events) {
  if (interrupted())
    warn(path, fmt::format("interrupted after {} events", events));
  else
    warn("", ends_early(path, events));
}

bool is_program(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char magic[4] = {};
  file.read(magic, sizeof magic);
  return std::string_view(magic, sizeof magic) == std::string_view("\177ELF", 4);
}

}  // namespace

Result<OpenedTrace> open_with_remarks(const std::string& path, Progress* progress) {
  OpenedTrace opened{.path = path};
  Result<std::unique_ptr<EventSource>> source = open_trace(path);
  if (!source) return source.error();
  opened.binary = dynamic_cast<BinarySource*>(source.value().get());
  opened.source = std::make_unique<Watched>(std::move(source).value(), opened.binary, progress);
  return opened;
}

void print_validation(const OpenedTrace& opened, const Validation& validation) {
  const Trace& names = opened.source->tables();
  for (const Violation& violation : validation.violations) fmt::print("{}\n", printable(violation.sentence));
  if (validation.violations_found > validation.violations.size()) {
    fmt::print("… and {} more\n", validation.violations_found - validation.violations.size());
  }
  if (validation.events == 0 && !validation.complete) {
    fmt::print("{}: nothing can be said of a trace without events\n", opened.path);
  } else if (validation.holds()) {
    fmt::print("{}: holds: {} events, {} reads; every synchronization in order\n", opened.path,
               validation.events, validation.reads);
  } else {
    fmt::print("{}: does not hold in {} of {} events\n", opened.path, validation.violations_found,
               validation.events);
  }
  if (validation.unwritten > 0) {
    fmt::print("{} reads returned what code without instrumentation wrote: no race\n", validation.unwritten);
  }
  if (validation.misplaced > 0)
    fmt::print("{} reads race with writes of other threads, and their order could not be recovered\n",
               validation.misplaced);
  constexpr size_t kShown = 10;
  for (size_t i = 0; i < validation.unexplained.size() && i < kShown; ++i) {
    const UnexplainedSite& site = validation.unexplained[i];
    std::string place = site.site == kNone<SiteId> ? "no place" : place_of(names, site.site);
    const char* what = site.misplaced == 0 ? "outside" : site.unwritten == 0 ? "race" : "both";
    fmt::print("  {:>10}  {:<7}  {}  {}\n", site.unwritten + site.misplaced, what, printable(place),
               printable(site.example));
  }
  if (validation.unexplained.size() > kShown)
    fmt::print("  … and at {} more places\n", validation.unexplained.size() - kShown);
  if (validation.spurious_wakes > 0)
    fmt::print("{} wakes without a signal, as condition variables may\n", validation.spurious_wakes);
  if (!validation.complete) {
    fmt::print("the trace ends in the middle: {} locks held, {} units open\n", validation.open_locks,
               validation.open_units);
    warn_of_end(opened.path, validation.events);
  }
  if (opened.binary == nullptr) return;
  for (const std::string& remark : opened.binary->remarks())
    fmt::print(stderr, "cleave: {}: {}\n", opened.path, remark);
}

int print_stats(const std::string& path) {
  if (is_program(path)) {
    Result<Program> program = Program::open(path);
    if (!program) return usage_error(program.error());
    fmt::print("program: {}\n", path);
    print_coverage(program.value().modules);
    return 0;
  }
  InterruptScope interrupts;
  ProgressLine line(STDERR_FILENO);
  line.progress().begin("events counted");
  Result<OpenedTrace> opened = open_with_remarks(path, &line.progress());
  if (!opened) return line.clear(), interrupted() ? unfinished(opened.error()) : usage_error(opened.error());
  EventSource& source = *opened.value().source;
  Result<Counts> counts = count(source);
  line.clear();
  if (!counts) return usage_error(counts.error());
  if (!source.tables().program().empty()) fmt::print("program: {}\n", printable(source.tables().program()));
  print_counts(counts.value(), source.tables());
  const BinarySource* binary = opened.value().binary;
  if (binary == nullptr) {
    if (!source.complete()) warn_of_end(path, counts.value().events);
    return exit_status(false, !source.complete());
  }
  uint64_t bytes = binary->file().bytes();
  if (counts.value().events > 0) {
    fmt::print("{} bytes in the file, {:.2f} an event\n", bytes,
               static_cast<double>(bytes) / static_cast<double>(counts.value().events));
  }
  print_coverage(binary->file().modules().all());
  std::vector<std::string> remarks = binary->remarks();
  if (remarks.empty() && source.complete()) fmt::print("\nthe trace is complete\n");
  for (const std::string& remark : remarks) fmt::print("\nremark: {}\n", remark);
  if (!source.complete()) warn_of_end(path, counts.value().events);
  return exit_status(false, !source.complete());
}

}  // namespace cleave::cli
