// cleave check: serializability of what ran, after the fact, or live while it runs.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <span>

#include "analysis/conflict/check.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "cli/check_hints.h"
#include "cli/check_live.h"
#include "cli/check_loaded.h"
#include "cli/check_source.h"
#include "cli/constraints.h"
#include "cli/findings_output.h"
#include "cli/program_output.h"
#include "cli/units_and_sets.h"
#include "confirm/failures.h"
#include "exec/pass_on.h"
#include "report/title.h"

namespace cleave::cli {
namespace {

constexpr uint64_t kHintsUpTo = uint64_t{512} << 20;  // bytes of trace: it is gone through once more

struct CheckVerbOptions {
  CommonOptions common;
  std::string trace;
  std::string sets = "auto";
  std::string dot;
  bool no_split = false, explain_units = false;
  std::string schedule = "free", constraints;
  LiveOptions live;
  unsigned runs = 1;
  uint64_t lag = 0;
  bool lag_given = false;
  std::string program_output;
};

Result<conflict::CheckOptions> check_options(const CheckVerbOptions& options) {
  Result<UnitsAndSets> given = units_and_sets(options.common);
  if (!given) return given.error();
  conflict::CheckOptions check;
  UnitsAndSets both = std::move(given).value();
  check.units = std::move(both.units);
  check.sets = std::move(both.sets);
  check.sets.one = options.sets == "one";
  check.units.split_at_waits = !options.no_split;
  return check;
}

// The long ones together, as in the paper's table.
std::string sizes_text(const std::map<size_t, uint64_t>& sizes) {
  constexpr size_t kLong = 9;
  std::string text;
  uint64_t long_ones = 0;
  for (const auto& [size, count] : sizes) {
    if (size >= kLong && sizes.rbegin()->first != size) {
      long_ones += count;
      continue;
    }
    text += text.empty() ? "" : ", ";
    text += long_ones == 0 ? fmt::format("{} of {} units", count, size)
                           : fmt::format("{} of {} to {} units", long_ones + count,
                                         sizes.lower_bound(kLong)->first, size);
  }
  return text.empty() ? "none" : text;
}

Findings findings_of(const conflict::CheckReport& report, const CheckVerbOptions& options, double seconds) {
  Findings findings{.command = "check"};
  StageReport stage{.name = "conflicts", .seconds = seconds};
  stage.counts = {{"events", report.events},
                  {"units", report.units},
                  {"edges", report.edges},
                  {"cycles", report.cycles_seen},
                  {"most_live", report.most_live},
                  {"deepest", report.deepest},
                  {"unique_cycles", report.findings.size()}};
  for (const auto& [size, count] : report.cycles_by_size)
    stage.counts[fmt::format("cycles_of_{}", size)] = count;
  findings.stages.push_back(std::move(stage));
  findings.findings = report.findings;
  findings.facts["looked at"] = fmt::format(
      "{} events in {} units of work, nested {} deep; {} conflicts, live graph of {} units at most; {:.2f} s",
      report.events, report.units, report.deepest, report.edges, report.most_live, seconds);
  findings.facts["cycles by size"] = sizes_text(report.cycles_by_size);
  if (report.counted_only > 0) {
    findings.facts["counted only"] =
        fmt::format("{} long cycles that split units on sets of which many are told", report.counted_only);
  }
  findings.facts["units from"] = report.unit_sources;
  findings.facts["sets"] = options.sets == "one" ? "one: plain conflict serializability" : "atomic sets";
  if (report.first_violation)
    findings.facts["first cycle closed by event"] = std::to_string(raw(*report.first_violation));
  return findings;
}

void add_remarks(Findings& findings, std::span<const std::string> remarks) {
  std::string text;
  for (const std::string& remark : remarks) text += (text.empty() ? "" : "; ") + remark;
  if (!text.empty()) findings.facts["about the trace"] = text;
}

// `unmatched`: globs of --units that fit nothing. Then only what was found is put out, and the globs are the
// error.
int finish(Findings findings, const conflict::CheckReport& report, const CheckVerbOptions& options,
           const std::vector<std::string>& unmatched) {
  if (!options.dot.empty()) {
    Status written = write_text_file(options.dot, conflict::to_dot(report.findings));
    if (!written) return usage_error(written.error());
  }
  if (unmatched.empty()) return write_results(std::move(findings), options.common);
  if (!findings.findings.empty()) write_results(std::move(findings), options.common);
  return unmatched_units_error(unmatched);
}

// Somebody asked us to end: what was found until then has been told, and it is not all.
int unless_interrupted(int status) {
  if (!interrupted() && !exec::SignalForwarder::asked()) return status;
  fmt::print(stderr, "cleave: ended on request; what is told here is what was found until then\n");
  return status == static_cast<int>(Exit::Nothing) ? static_cast<int>(Exit::Unfinished) : status;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int run_on_loaded(const CheckVerbOptions& options, const conflict::CheckOptions& check) {
  if (options.explain_units) {
    Result<std::string> text = explain_units(options.trace, check);
    if (!text) return usage_error(text.error());
    fmt::print("{}", text.value());
    return static_cast<int>(Exit::Nothing);
  }
  auto start = std::chrono::steady_clock::now();
  Result<LoadedReport> loaded = check_loaded(options.trace, check);
  if (!loaded) return usage_error(loaded.error());
  Findings findings = findings_of(loaded.value().report, options, seconds_since(start));
  findings.program = loaded.value().program;
  findings.trace = options.trace;
  if (!loaded.value().report.complete)
    findings.unfinished.push_back(ends_early(options.trace, loaded.value().report.events));
  add_remarks(findings, loaded.value().remarks);
  return finish(std::move(findings), loaded.value().report, options, loaded.value().unmatched_units);
}

int run_on_trace(const CheckVerbOptions& options, conflict::CheckOptions check) {
  if (check.units.causal) return run_on_loaded(options, check);
  if (options.explain_units)
    return usage_error(Error{"--explain-units", "lists causal units: say --units causal too"});
  // RAPID's begin and end are the only units that such a trace can have, and the first may come late in the
  // stream.
  if (!check.units.any_source() && form_of_file(options.trace) == TraceForm::Rapid)
    check.units.annotated = true;
  InterruptScope interrupts;
  auto start = std::chrono::steady_clock::now();
  ProgressLine line(options.common.quiet ? -1 : STDERR_FILENO);
  line.progress().begin("events judged");
  Result<std::unique_ptr<CheckSource>> source =
      CheckSource::open(options.trace, takes_stretches(check), &line.progress());
  if (!source) return line.clear(), interrupted() ? unfinished(source.error()) : usage_error(source.error());
  Result<conflict::CheckReport> report = conflict::check(*source.value(), check);
  if (!report) return line.clear(), usage_error(report.error());
  const Trace& tables = source.value()->tables();
  std::vector<std::string> remarks = source.value()->remarks();
  for (std::string& sentence : unmatched_functions(check.units, tables))
    remarks.push_back(std::move(sentence));
  for (std::string& sentence : unmatched_sets(report.value().unmatched))
    remarks.push_back(std::move(sentence));
  if (!interrupted()) add_hints(tables, check, report.value().findings, options.trace, kHintsUpTo, remarks);
  line.clear();
  Findings findings = findings_of(report.value(), options, seconds_since(start));
  findings.program = tables.program();
  findings.trace = options.trace;
  if (interrupted())
    findings.unfinished.push_back(
        fmt::format("{}: interrupted: what is said here holds for its first {} events", options.trace,
                    report.value().events));
  else if (!report.value().complete)
    findings.unfinished.push_back(ends_early(options.trace, report.value().events));
  add_remarks(findings, remarks);
  return unless_interrupted(
      finish(std::move(findings), report.value(), options, unmatched_units(check.units, tables)));
}

// What several runs of one program had, as if it were one report.
class RunsTogether {
 public:
  explicit RunsTogether(bool seed_repeats) : seed_repeats_(seed_repeats) {}

  bool knows(const std::string& id) const { return seen_.contains(id); }
  // How people call a run: "run 3 (--seed 2)".
  std::string run_name(uint64_t run, uint64_t seed) const {
    return seed_repeats_ ? fmt::format("run {} (--seed {})", run, seed) : fmt::format("run {}", run);
  }

  void add(uint64_t seed, LiveReport run) {
    ++runs_;
    if (!run.report.findings.empty() && with_findings_++ == 0) first_seed_ = seed;
    conflict::CheckReport &sum = all_.report, &one = run.report;
    for (Finding& finding : one.findings) {
      auto [it, fresh] = seen_.try_emplace(finding.id, Seen{sum.findings.size(), run_name(runs_, seed)});
      ++it->second.runs;
      if (!fresh) {
        sum.findings[it->second.place].occurrences += finding.occurrences;
        continue;
      }
      ++sum.cycles_by_size[finding.units.size()];
      sum.findings.push_back(std::move(finding));
    }
    sum.counted_only = std::max(sum.counted_only, one.counted_only);  // the same ones in each run, or nearly
    if (runs_ == 1) {
      all_.program = std::move(run.program);
      sum.unit_sources = one.unit_sources;
      sum.first_violation = one.first_violation;
    } else {
      sum.first_violation.reset();  // positions of different runs
    }
    sum.cycles_seen += one.cycles_seen;
    sum.events += one.events;
    sum.units += one.units;
    sum.edges += one.edges;
    sum.most_live = std::max(sum.most_live, one.most_live);
    sum.deepest = std::max(sum.deepest, one.deepest);
    sum.complete = sum.complete && one.complete;
    all_.ended = std::move(run.ended);
    for (std::string& remark : run.remarks) {
      if (std::find(all_.remarks.begin(), all_.remarks.end(), remark) == all_.remarks.end())
        all_.remarks.push_back(std::move(remark));
    }
    keep_common(all_.unmatched, run.unmatched);
    keep_common(all_.unmatched_units, run.unmatched_units);
  }
  // With several runs each finding says in which it was.
  LiveReport all() && {
    for (auto& [id, seen] : seen_) {
      std::string& note = all_.report.findings[seen.place].note;
      if (runs_ > 1)
        note = fmt::format("first seen in {}, in {} of {} runs{}", seen.first, seen.runs, runs_,
                           note.empty() ? "" : "; " + note);
    }
    all_.remarks.insert(all_.remarks.end(), all_.unmatched.begin(), all_.unmatched.end());
    return std::move(all_);
  }
  std::string sentence() const {
    std::string text = fmt::format("{}, {} with findings", runs_, with_findings_);
    if (with_findings_ == 0 || !seed_repeats_) return text;
    return text + fmt::format(", the first with --seed {}: the same seed is the same run", first_seed_);
  }

 private:
  // A pattern that fits something in one of the runs is no slip.
  void keep_common(std::vector<std::string>& all, const std::vector<std::string>& run) const {
    if (runs_ == 1) all = run;
    std::erase_if(
        all, [&](const std::string& word) { return std::find(run.begin(), run.end(), word) == run.end(); });
  }

  struct Seen {
    size_t place;  // index of the finding
    std::string first;
    uint64_t runs = 0;
  };
  LiveReport all_;
  std::map<std::string, Seen> seen_;  // by id
  bool seed_repeats_;                 // the same seed is the same run
  uint64_t runs_ = 0, with_findings_ = 0, first_seed_ = 0;
};

// What the options say about running the program, or what is wrong with them.
Result<LiveOptions> live_options(const CheckVerbOptions& options) {
  LiveOptions live = options.live;
  if (!parse(options.schedule, &live.policy))
    return Error{"--schedule", fmt::format("there is no schedule '{}'", options.schedule)};
  if (options.runs > 1 && !live.trace.empty())
    return Error{"--output", "keeps the trace of one run; leave it out, or --runs"};
  if (options.common.json == "-" && options.program_output.empty()) {
    return Error{
        "--json -",
        "standard output is the program's; send that elsewhere with --program-output FILE, or name a "
        "file for the findings"};
  }
  live.stop = live.stop || live.gdb;
  if (options.lag_given) live.allowed_lag = options.lag << 20;
  live.quiet = options.common.quiet;
  return live;
}

Status constrain(const CheckVerbOptions& options, const ProgramLine& program, LiveOptions& live,
                 std::optional<TemporaryFile>& sites) {
  exec::RunRequest request;
  request.program = program;
  request.policy = live.policy;
  if (Status added = add_constraints(options.constraints, request, sites); !added) return added;
  live.constraints = std::move(request.constraints);
  live.sites = std::move(request.sites);
  return Done{};
}

// Counts how a run ended and keeps the witness of the first that failed in its way. Whether it is one that
// was not known.
Result<bool> note_failure(confirm::FailureLog& failures, const LiveReport& run, const std::string& called,
                          const conflict::CheckOptions& check, bool quiet) {
  // A program that was ended from outside has not failed.
  const exec::RunOutcome& outcome = run.stopped ? exec::RunOutcome() : run.outcome;
  std::optional<uint64_t> seed;
  if (serialised(run.request.policy)) seed = run.request.seed;
  confirm::FailureLog::Failure* failure = failures.add(outcome, seed, called);
  if (failure == nullptr) return false;
  Status written =
      confirm::FailureLog::keep_witness(*failure, run.request, outcome, failures.witness_name(*failure));
  if (!written) return written.error();
  const Finding finding = failures.findings().back();
  if (check.known && check.known(finding)) return false;
  if (!quiet) fmt::print(stderr, "cleave: {}: the program failed: {}\n", called, outcome.sentence());
  return true;
}

int run_on_program(CheckVerbOptions options, conflict::CheckOptions check, const ProgramLine& program) {
  Result<LiveOptions> given = live_options(options);
  if (!given) return usage_error(given.error());
  LiveOptions live = std::move(given).value();
  InterruptScope interrupts;
  auto start = std::chrono::steady_clock::now();
  Result<std::function<bool(const Finding&)>> known = known_findings(options.common);
  if (!known) return usage_error(known.error());
  check.known = known.value();
  ProgramOutput output;
  options.common.shares_output = options.program_output.empty();
  if (!options.common.shares_output) {
    if (Status redirected = output.redirect(options.program_output); !redirected)
      return usage_error(redirected.error());
  }
  auto is_known = [&](const Finding& finding) { return check.known && check.known(finding); };
  std::optional<TemporaryFile> sites;
  if (Status added = constrain(options, program, live, sites); !added) return usage_error(added.error());
  RunsTogether together(serialised(live.policy));
  confirm::FailureLog failures(program[0]);
  unsigned run = 0;
  if (!options.common.quiet) {
    check.on_finding =
        [&](const Finding& finding) {  // each unique cycle is told once, however many runs have it
          if (together.knows(finding.id) || is_known(finding)) return;
          const std::string when = options.runs > 1 ? together.run_name(run + 1, live.seed) + ": " : "";
          fmt::print(stderr, "cleave: {}found {}: {}\n", when, finding.id, report::title(finding));
        };
  }
  for (; run < options.runs; ++run, ++live.seed) {
    Result<LiveReport> report =
        check_live(program, live, check, [&](const std::string& id) { return together.knows(id); });
    if (!report) return usage_error(report.error());
    Result<bool> failed = note_failure(failures, report.value(), together.run_name(run + 1, live.seed), check,
                                       options.common.quiet);
    if (!failed) return usage_error(failed.error());
    const std::vector<Finding>& all = report.value().report.findings;
    const bool found = failed.value() || !std::all_of(all.begin(), all.end(), is_known);
    together.add(live.seed, std::move(report).value());
    if ((found && live.stop) || exec::SignalForwarder::asked() || interrupted()) break;
  }
  output.give_back();
  const std::string runs = together.sentence();
  const LiveReport all = std::move(together).all();
  Findings findings = findings_of(all.report, options, seconds_since(start));
  for (Finding& failure : failures.findings()) findings.findings.push_back(std::move(failure));
  findings.program = all.program;
  findings.trace = live.trace;
  findings.facts["the program ended with"] = all.ended;
  if (options.runs > 1) findings.facts["runs"] = fmt::format("{}; {} failed", runs, failures.failed());
  if (!all.report.complete) findings.unfinished.push_back(ends_early(program[0], all.report.events));
  add_remarks(findings, all.remarks);
  CheckVerbOptions shown = options;
  shown.common.program_file = program[0];
  return unless_interrupted(finish(std::move(findings), all.report, shown, all.unmatched_units));
}

int run_check(const CheckVerbOptions& options, const ProgramLine& program) {
  Result<conflict::CheckOptions> check = check_options(options);
  if (!check) return usage_error(check.error());
  if (options.trace.empty() == program.empty()) {
    return usage_error(
        Error{"", "give a trace, or a program after --: cleave check TRACE, cleave check -- PROG ARGS"});
  }
  return program.empty() ? run_on_trace(options, std::move(check).value())
                         : run_on_program(options, std::move(check).value(), program);
}

}  // namespace

void add_check_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<CheckVerbOptions>();
  CLI::App* verb =
      app.add_subcommand("check", "is what ran serializable; if not, the cycles of units that say so");
  CLI::Option* trace =
      verb->add_option("TRACE", options->trace, "a trace of any form; or give a program after --");
  verb->add_option("--sets", options->sets, "auto: as in docs/check.md; one: all memory is one set")
      ->check(CLI::IsMember({"auto", "one"}))
      ->capture_default_str();
  verb->add_option("--dot", options->dot, "draw the cycles into this file, for Graphviz");
  verb->add_flag("--all", options->common.all_cycles,
                 "show every cycle, also those that split the same unit on the same set");
  verb->add_flag("--explain-units", options->explain_units,
                 "list the causal units of the trace and the rules behind them, and judge nothing");
  verb->add_flag("--no-wait-split", options->no_split,
                 "do not end units where their thread waits on a condition variable");
  add_findings_options(*verb, options->common);
  add_units_options(*verb, options->common);
  verb->add_option(
          "--schedule", options->schedule,
          "how the program runs: free, serial, reverse, first (thread SEED first), random, pct, pos, rf, "
          "noise")
      ->check(CLI::IsMember(schedule_words()))
      ->capture_default_str();
  verb->add_option("--constraints", options->constraints,
                   "rf: a file of lines like `write bank.cpp:16 -> read bank.cpp:12`");
  verb->add_option("--seed", options->live.seed, "of the schedule")
      ->check(not_negative())
      ->capture_default_str();
  verb->add_option("--runs", options->runs, "run the program so many times; run N takes seed + N - 1")
      ->check(CLI::Range(1u, 1000000u))
      ->capture_default_str();
  verb->add_option("-o,--output", options->live.trace, "keep the program's trace here");
  verb->add_option(
      "--program-output", options->program_output,
      "the program's standard output goes to this file, and the report to standard output instead "
      "of standard error");
  verb->add_option("--lag", options->lag,
                   "the program waits when the checker is so many MB of trace behind it (default: as memory "
                   "allows, 2048 at most)")
      ->check(CLI::Range(0, 1 << 20));
  add_max_trace_option(*verb, options->live.max_trace);
  verb->add_flag("--stop", options->live.stop, "end the program at the first finding; no more runs after it");
  verb->add_flag("--gdb", options->live.gdb, "stop the program at the first finding and attach gdb to it");
  verb->add_flag(
      "--no-drain", options->live.no_drain,
      "under control: end the process as soon as main returns, whatever other threads have yet to do");
  for (const char* of_programs : {"--schedule", "--constraints", "--seed", "--runs", "--output", "--lag",
                                  "--max-trace", "--stop", "--gdb", "--no-drain", "--program-output"})
    trace->excludes(verb->get_option(of_programs));
  verb->footer(
      "Example: cleave check bank.cleave --units annotated\n"
      "Example: cleave check --schedule random --runs 50 --stop -- ./bank");
  verb->callback([options, verb, &context] {
    options->lag_given = verb->count("--lag") > 0;
    context.run = [options, &context] { return run_check(*options, context.program); };
  });
}

}  // namespace cleave::cli
