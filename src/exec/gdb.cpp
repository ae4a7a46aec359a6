#include "exec/gdb.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/temporary.h"
#include "exec/control_file.h"
#include "exec/launch.h"

namespace cleave::exec {
namespace {

std::string python_string(const std::string& text) {
  std::string quoted = "'";
  for (unsigned char c : text) {
    if (c == '\'' || c == '\\')
      quoted += fmt::format("\\{}", static_cast<char>(c));
    else if (c < 0x20 || c >= 0x7f)
      quoted += fmt::format("\\x{:02x}", c);
    else
      quoted += static_cast<char>(c);
  }
  return quoted + "'";
}

// Stops in __cleave_milestone, then shows the frame of the program that is about to do the access, or that
// called the library's function which is.
constexpr const char* kPython = R"(
class Milestone(gdb.Breakpoint):
    def __init__(self):
        super().__init__('__cleave_milestone', internal=True)
        self.silent = True
    def stop(self):
        return True

def in_system_header(frame):
    table = frame.find_sal().symtab
    file = '' if table is None else table.fullname()
    return file.startswith('/usr/') and not file.startswith('/usr/src/')

def at_milestone(event):
    if not isinstance(event, gdb.BreakpointEvent) or milestone not in event.breakpoints:
        return
    number = int(gdb.parse_and_eval('(unsigned)$rdi'))
    frame = gdb.newest_frame()
    while frame.older() is not None:
        library = gdb.solib_name(frame.pc())
        if library is None or 'libcleave_rt' not in library:
            break
        frame = frame.older()
    own = frame
    while own is not None and in_system_header(own):
        own = own.older()
    (own or frame).select()
    name = names[number] if number < len(names) else '?'
    gdb.write('\nmilestone %d of %d: %s\n' % (number + 1, len(names), name))
    gdb.execute('frame')

milestone = Milestone()
gdb.events.stop.connect(at_milestone)
gdb.write('The program follows the schedule. run: start; continue: to the next of %d milestones.\n' % len(names))
)";

// Without a shell in between nothing changes the environment; with odd words in the command line it takes
// one.
bool needs_shell(const std::vector<std::string>& words) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+-@%";
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.empty() || word.find_first_not_of(kPlain) != std::string::npos;
  });
}

// gdb reads its script line by line, and some of its commands run others: a value that ends its line would be
// one of them.
Status fits_a_line(const std::string& what, const std::string& value) {
  const bool fits = std::none_of(value.begin(), value.end(), [](unsigned char c) { return c < 0x20; });
  return fits ? Status(Done{}) : Status(Error{what, "has a line break or another control character in it"});
}

Result<std::string> gdb_script(const LaunchRequest& program, const std::vector<std::string>& names) {
  std::string script =
      "set pagination off\nset confirm off\nset breakpoint pending on\nset disable-randomization on\n";
  script += "unset environment LINES\nunset environment COLUMNS\n";
  if (program.inherited) {
    script += "unset environment\n";
    for (const auto& [name, value] : *program.inherited)  // what gdb cannot be told is left out
      if (fits_a_line(name, name + value)) script += fmt::format("set environment {} {}\n", name, value);
  }
  if (!needs_shell(program.program)) script += "set startup-with-shell off\n";
  if (Status fits = fits_a_line("the directory of the program", program.directory); !fits)
    return fits.error();
  for (const auto& [name, value] : program.environment) {
    if (Status fits = fits_a_line(name, name + value); !fits) return fits.error();
    script += fmt::format("set environment {} {}\n", name, value);
  }
  std::string pad = padding(program.program[0], program);
  script +=
      fmt::format("set environment {} {}\n", pad.substr(0, pad.find('=')), pad.substr(pad.find('=') + 1));
  if (!program.directory.empty()) script += fmt::format("set cwd {}\n", program.directory);
  script += "python\nnames = [";
  for (const std::string& name : names) script += python_string(name) + ", ";
  return script + "]" + kPython + "end\n";
}

}  // namespace

Result<int> replay_in_gdb(const RunRequest& request, const Plan& milestones) {
  Result<std::string> gdb = find_program("gdb");
  if (!gdb) return Error{"gdb", "is not installed; install the package gdb"};
  Result<TemporaryFile> trace = TemporaryFile::make("replay"), script = TemporaryFile::make("gdb");
  if (!trace) return trace.error();
  if (!script) return script.error();
  RunRequest dry = request;
  dry.trace = trace.value().path();
  dry.quiet = true;
  Result<RunOutcome> outcome = run(dry);
  if (!outcome) return outcome.error();
  if (outcome.value().end == RunEnd::Diverged)
    return Error{request.program[0], "the program does not follow the schedule: " + outcome.value().text};
  RunRequest wet = request;
  std::vector<std::vector<SegmentPlace>> places;
  std::vector<std::string> names;
  if (!milestones.milestones.empty()) {
    Result<ProgramTables> tables = ProgramTables::read(dry.trace);
    if (!tables) return tables.error();
    for (const Milestone& milestone : milestones.milestones) {
      places.push_back(tables.value().find(milestone));
      names.push_back(milestone.note.empty() ? milestone.sentence()
                                             : milestone.note + ": " + milestone.sentence());
    }
    wet.plan = milestones;
  }
  Result<ControlFile> file = ControlFile::make(wet, {std::move(places), {}});
  if (!file) return file.error();
  Result<Flow> flow = Flow::make(most_trace_bytes(dry.trace, request.max_trace));
  if (!flow) return flow.error();
  LaunchRequest program = launch_request(request, dry.trace, file.value().path());
  program.environment[CLEAVE_FLOW_VARIABLE] = flow.value().path();
  if (request.checked) {
    program.program[0] = request.checked->path;
  } else if (Result<std::string> found =
                 find_program(request.executable.empty() ? request.program[0] : request.executable);
             found)
    program.program[0] = std::filesystem::absolute(found.value()).string();  // as gdb will call it
  const std::string& script_path = script.value().path();
  Result<std::string> text = gdb_script(program, names);
  if (!text) return text.error();
  std::ofstream(script_path) << text.value();
  if (ftruncate(trace.value().descriptor(), 0) != 0)  // recorded once more, under gdb
    return Error{dry.trace, fmt::format("cannot be emptied: {}", std::strerror(errno))};
  LaunchRequest launch_gdb;
  launch_gdb.program = {gdb.value(), "-q", "-x", script_path, "--args"};
  launch_gdb.program.insert(launch_gdb.program.end(), program.program.begin(), program.program.end());
  launch_gdb.directory = request.directory;
  launch_gdb.terminal_is_its = true;
  Result<LaunchOutcome> done = launch(launch_gdb);
  if (!done) return done.error();
  return done.value().end == LaunchOutcome::End::Exited ? done.value().exit_status
                                                        : 128 + done.value().signal;
}

}  // namespace cleave::exec
