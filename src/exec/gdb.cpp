#include "exec/gdb.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
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

std::string gdb_script(const LaunchRequest& program, const std::vector<std::string>& names) {
  std::string script =
      "set pagination off\nset confirm off\nset breakpoint pending on\nset disable-randomization on\n";
  script += "unset environment LINES\nunset environment COLUMNS\n";
  if (!needs_shell(program.program)) script += "set startup-with-shell off\n";
  for (const auto& [name, value] : program.environment)
    script += fmt::format("set environment {} {}\n", name, value);
  std::string pad = padding(program.program[0], program);
  script +=
      fmt::format("set environment {} {}\n", pad.substr(0, pad.find('=')), pad.substr(pad.find('=') + 1));
  if (!program.directory.empty()) script += fmt::format("set cwd {}\n", program.directory);
  script += "python\nnames = [";
  for (const std::string& name : names) script += python_string(name) + ", ";
  return script + "]" + kPython + "end\n";
}

// What a replay under gdb needs on disk, gone with the object.
class Scratch {
 public:
  Scratch() {
    path_ = temporary_pattern("gdb");
    made_ = mkdtemp(path_.data()) != nullptr;
  }
  ~Scratch() {
    std::error_code ignored;
    if (made_) std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  bool made() const { return made_; }
  const std::string& path() const { return path_; }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  bool made_ = false;
};

}  // namespace

Result<int> replay_in_gdb(const RunRequest& request, const Plan& milestones) {
  Result<std::string> gdb = find_program("gdb");
  if (!gdb) return Error{"gdb", "is not installed; install the package gdb"};
  Scratch scratch;
  if (!scratch.made())
    return Error{scratch.path(), "cannot be made; is TMPDIR a folder that can be written?"};
  RunRequest dry = request;
  dry.trace = scratch.file("replay.cleave");
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
  Result<ControlFile> file = ControlFile::make(wet, places);
  if (!file) return file.error();
  LaunchRequest program = launch_request(request, dry.trace, file.value().path());
  if (Result<std::string> found =
          find_program(request.executable.empty() ? request.program[0] : request.executable);
      found)
    program.program[0] = std::filesystem::absolute(found.value()).string();  // as gdb will call it
  std::string script_path = scratch.file("script");
  std::ofstream(script_path) << gdb_script(program, names);
  LaunchRequest launch_gdb;
  launch_gdb.program = {gdb.value(), "-q", "-x", script_path, "--args"};
  launch_gdb.program.insert(launch_gdb.program.end(), program.program.begin(), program.program.end());
  launch_gdb.directory = request.directory;
  Result<LaunchOutcome> done = launch(launch_gdb);
  if (!done) return done.error();
  return done.value().end == LaunchOutcome::End::Exited ? done.value().exit_status
                                                        : 128 + done.value().signal;
}

}  // namespace cleave::exec
