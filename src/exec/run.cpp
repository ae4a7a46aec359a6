#include "exec/run.h"

#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "abi/chunk_checksum.h"
#include "abi/trace_file.h"
#include "base/temporary.h"
#include "base/trace_files.h"
#include "exec/control_file.h"
#include "exec/explain.h"
#include "exec/launch.h"
#include "exec/start_failure.h"
#include "exec/tables.h"

namespace cleave::exec {
namespace {

// The schedule that was followed goes behind the trace, so that the trace is a witness.
Status append_schedule(const std::string& trace, const Schedule& schedule) {
  std::vector<uint8_t> body = encode(schedule);
  if (body.size() > UINT32_MAX) return Error{trace, "the schedule is too long to be kept in the trace"};
  cleave_chunk_header header{};
  header.magic = CLEAVE_CHUNK_MAGIC;
  header.kind = CLEAVE_CHUNK_SCHEDULE;
  header.stored_bytes = static_cast<uint32_t>(body.size());
  header.checksum = cleave_chunk_checksum(&header, body.data());
  std::ofstream file(trace, std::ios::binary | std::ios::app);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  file.write(reinterpret_cast<const char*>(body.data()), static_cast<std::streamsize>(body.size()));
  file.close();
  if (!file) return Error{trace, fmt::format("the schedule cannot be written: {}", std::strerror(errno))};
  return Done{};
}

uint64_t hash_of(const std::vector<Run>& runs) {
  XXH64_hash_t hash = 0;
  for (const Run& run : runs) {
    uint64_t words[2] = {uint64_t{run.thread} << 2 | static_cast<uint64_t>(run.how), run.points};
    hash = XXH3_64bits_withSeed(words, sizeof words, hash);
  }
  return hash;
}

// What a program that is started now finds, without what is Cleave's own.
Environment our_environment() {
  Environment variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || is_own_variable(text)) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Status resolve_plan(const RunRequest& request, const ProgramTables& tables, RequestPlaces& places) {
  for (const Milestone& milestone : request.plan->milestones) {
    places.milestones.push_back(tables.find(milestone));
    if (places.milestones.back().empty())
      return Error{request.sites, "the program has no such place: " + milestone.sentence()};
  }
  return Done{};
}

// A constraint whose places the program does not have asks for nothing.
void resolve_constraints(RunRequest& request, const ProgramTables& tables, RequestPlaces& places) {
  std::erase_if(request.constraints, [&](const Constraint& constraint) {
    RequestPlaces::OfConstraint found;
    found.then = tables.find_by_end(constraint.then);
    if (constraint.after) found.after = tables.find_by_end(*constraint.after);
    if (found.then.empty() || (constraint.after && found.after.empty())) return true;
    for (const Milestone& place : constraint.between)
      for (const SegmentPlace& segment : tables.find_by_end(place)) found.between.push_back(segment);
    if (constraint.between.empty()) found.between = tables.writers_like(constraint.then);
    places.constraints.push_back(std::move(found));
    return false;
  });
}

Result<RequestPlaces> resolve(RunRequest& request) {
  RequestPlaces places;
  const bool plan = request.policy == Policy::Plan;
  if (!plan && (request.policy != Policy::Rf || request.constraints.empty())) return places;
  if (plan && !request.plan) return Error{"", "a run along a plan needs a plan"};
  if (Status status = plan ? validate(*request.plan) : Done{}; !status) return status.error();
  Result<ProgramTables> tables = ProgramTables::read(request.sites);
  if (!tables) return tables.error();
  if (!plan) resolve_constraints(request, tables.value(), places);
  if (Status found = plan ? resolve_plan(request, tables.value(), places) : Done{}; !found)
    return found.error();
  return places;
}

Status check(const RunRequest& request) {
  if (request.program.empty()) return Error{"", "no program was given; put it after --"};
  const std::string& file = request.executable.empty() ? request.program[0] : request.executable;
  if (Status status = request.checked ? Status(Done{}) : check_instrumented(file); !status)
    return status.error();
  if (request.policy == Policy::Replay) {
    if (!request.schedule) return Error{"", "a replay needs a schedule"};
    if (Status status = validate(*request.schedule, request.program[0]); !status) return status.error();
  }
  return Done{};
}

std::string inputs_text(const std::map<std::string, std::string>& inputs) {
  std::string text;
  for (const auto& [name, value] : inputs) {
    text += name + "=";
    for (unsigned char byte : value) text += fmt::format("{:02x}", byte);
    text += ";";
  }
  return text;
}

void take_end(const LaunchOutcome& launched, RunOutcome& outcome) {
  outcome.exit_status = launched.exit_status;
  outcome.signal = launched.signal;
  outcome.seconds = launched.seconds;
  switch (launched.end) {
    case LaunchOutcome::End::Exited:
      outcome.end = RunEnd::Exited;
      break;
    case LaunchOutcome::End::Signalled:
      outcome.end = RunEnd::Signalled;
      break;
    case LaunchOutcome::End::TimeLimit:
      outcome.end = RunEnd::TimeLimit;
      break;
  }
}

// A replay that came to the end of the program before the end of the schedule.
bool ended_early(const RunRequest& request, const RunOutcome& outcome) {
  return outcome.schedule.points() < request.schedule->points();
}

void take_control(const RunRequest& request, const ControlFile& file, const std::string& trace,
                  RunOutcome& outcome) {
  const cleave_control_header& header = file.header();
  Result<ProgramTables> read = ProgramTables::read(trace);
  ProgramTables tables = read ? std::move(read).value() : ProgramTables();
  bool lost = false;
  outcome.schedule = file.schedule();
  outcome.switches = outcome.schedule.runs.empty() ? 0 : outcome.schedule.runs.size() - 1;
  outcome.interleaving = hash_of(outcome.schedule.runs);
  if (header.end == CLEAVE_END_DEADLOCK) {
    outcome.end = RunEnd::Deadlock;
    outcome.text = explain_waits(file, tables, &lost);
  } else if (header.end == CLEAVE_END_LIVELOCK || (outcome.end == RunEnd::TimeLimit && header.spinning)) {
    outcome.end = RunEnd::Livelock;
    outcome.text = "whoever could go on goes round a loop in which nothing changes:\n" +
                   explain_waits(file, tables, &lost);
  } else if (header.end == CLEAVE_END_DIVERGED && header.divergence == CLEAVE_DIVERGED_LONGER &&
             request.schedule->stopped != Stopped::ByItself) {
    // The recording was stopped here; so is its replay.
    outcome.end = request.schedule->stopped == Stopped::Livelock ? RunEnd::Livelock : RunEnd::TimeLimit;
    outcome.text = explain_waits(file, tables, &lost);
  } else if (header.end == CLEAVE_END_DIVERGED) {
    outcome.end = RunEnd::Diverged;
    outcome.text = explain_divergence(file, tables, *request.schedule);
  } else if (request.policy == Policy::Replay && outcome.end != RunEnd::TimeLimit &&
             ended_early(request, outcome)) {
    outcome.end = RunEnd::Diverged;
    outcome.text = fmt::format(
        "after {} points that agree\n  recorded: {} more points\n  now:      the program ended ({})",
        outcome.schedule.points(), request.schedule->points() - outcome.schedule.points(),
        outcome.exit_status);
  }
  if (outcome.end == RunEnd::Livelock) outcome.schedule.stopped = Stopped::Livelock;
  if (outcome.end == RunEnd::TimeLimit) outcome.schedule.stopped = Stopped::TimeLimit;
  outcome.constraints_met = header.constraints_met;
  if (request.policy == Policy::Plan) {
    outcome.plan.total = request.plan->milestones.size();
    outcome.plan.reached = header.plan_reached;
    outcome.plan.why = explain_plan(file, tables, *request.plan);
  }
}

}  // namespace

LaunchRequest launch_request(const RunRequest& request, const std::string& trace,
                             const std::string& control) {
  LaunchRequest launch;
  launch.program = request.program;
  launch.executable = request.checked ? request.checked->path : request.executable;
  launch.checked = request.checked;
  launch.directory = request.directory;
  launch.environment = request.environment;
  launch.inherited = request.inherited;
  launch.environment[kTraceVariable] = trace;
  if (!control.empty()) launch.environment[CLEAVE_CONTROL_VARIABLE] = control;
  if (!request.inputs.empty()) launch.environment["CLEAVE_INPUTS"] = inputs_text(request.inputs);
  launch.time_limit = request.time_limit;
  launch.watched = trace;
  launch.watched_limit = request.trace_limit;
  launch.quiet = request.quiet;
  launch.pass_on = request.pass_on;
  launch.grace = request.grace;
  launch.fixed_addresses = serialised(request.policy) && !request.random_addresses;
  return launch;
}

std::string_view word_of(RunEnd end) {
  switch (end) {
    case RunEnd::Exited:
      return "exit";
    case RunEnd::Signalled:
      return "crash";
    case RunEnd::Deadlock:
      return "deadlock";
    case RunEnd::Livelock:
      return "livelock";
    case RunEnd::TimeLimit:
      return "time limit";
    case RunEnd::Diverged:
      return "diverged";
  }
  return "unknown";
}

std::string RunOutcome::sentence() const {
  if (end == RunEnd::Exited) return fmt::format("exit status {}", exit_status);
  if (end == RunEnd::Signalled) return fmt::format("signal {} ({})", signal, strsignal(signal));
  return std::string(word_of(end));
}

Status check_constraints(const std::vector<Constraint>& constraints, const std::string& sites) {
  Result<ProgramTables> tables = ProgramTables::read(sites);
  if (!tables) return tables.error();
  for (const Constraint& constraint : constraints) {
    if (tables.value().find_by_end(constraint.then).empty() ||
        (constraint.after && tables.value().find_by_end(*constraint.after).empty()))
      return Error{"", fmt::format("the program has no access like one of `{}`", to_text(constraint))};
  }
  return Done{};
}

Result<RunOutcome> run(const RunRequest& asked) {
  RunRequest request = asked;
  if (Status status = check(request); !status) return status.error();
  Result<RequestPlaces> places = resolve(request);
  if (!places) return places.error();
  // A trace that nobody asked to keep: the runtime records anyway, and sentences need its site tables.
  std::optional<TemporaryFile> temporary;
  if (request.trace.empty()) {
    Result<TemporaryFile> made = TemporaryFile::make("trace");
    if (!made) return made.error();
    temporary = std::move(made).value();
  } else if (Status empty = prepare_trace(request.trace); !empty) {  // the program finds it empty
    return empty.error();
  }
  std::string trace = temporary ? temporary->path() : request.trace;
  std::optional<Flow> own_flow;
  if (request.flow == nullptr) {
    Result<Flow> made = Flow::make(most_trace_bytes(trace, request.max_trace));
    if (!made) return made.error();
    own_flow.emplace(std::move(made).value());
  }
  const Flow& flow = own_flow ? *own_flow : *request.flow;
  auto launched_with = [&](const std::string& control) {
    LaunchRequest wanted = launch_request(request, trace, control);
    wanted.environment[CLEAVE_FLOW_VARIABLE] = flow.path();
    wanted.on_look = request.on_look ? [&] { request.on_look(flow); } : std::function<void()>();
    return launch(wanted);
  };
  RunOutcome outcome;
  outcome.trace = request.trace;
  if (request.policy == Policy::Free) {
    Result<LaunchOutcome> launched = launched_with("");
    if (!launched) return launched.error();
    take_end(launched.value(), outcome);
    return outcome;
  }
  Result<ControlFile> file = ControlFile::make(request, places.value());
  if (!file) return file.error();
  Result<LaunchOutcome> launched = launched_with(file.value().path());
  if (!launched) return launched.error();
  take_end(launched.value(), outcome);
  const cleave_control_header& header = file.value().header();
  if (header.process == 0)
    return Error{request.program[0],
                 why_not_started(launch_request(request, trace, ""), launched.value(), trace)};
  if (!serialised(request.policy)) return outcome;
  take_control(request, file.value(), trace, outcome);
  if (header.end == CLEAVE_END_DIVERGED && header.divergence == CLEAVE_DIVERGED_BUILD)
    return Error{request.program[0], outcome.text + ", so it is not followed; record it again"};
  if (header.end == CLEAVE_END_FULL)
    return Error{request.program[0],
                 "the run was longer than a schedule can be; stop it earlier with --time-limit"};
  if (!request.trace.empty())
    if (Status status = append_schedule(request.trace, outcome.schedule); !status) return status.error();
  return outcome;
}

Witness witness_of(const RunRequest& request, const RunOutcome& outcome) {
  Witness witness;
  witness.program = request.program;
  witness.executable = request.checked ? request.checked->path : request.executable;
  if (Result<std::string> found = find_program(request.program[0]); found && witness.executable.empty()) {
    std::error_code unknown;
    witness.executable = std::filesystem::absolute(found.value(), unknown).string();
  }
  witness.directory = request.directory;
  witness.environment = request.inherited ? *request.inherited : our_environment();
  witness.inputs = request.inputs;
  witness.schedule = outcome.schedule;
  witness.outcome = outcome.sentence();
  return witness;
}

}  // namespace cleave::exec
