// How runs are started and stopped, where the system does not give what is asked for first.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/interrupt.h"
#include "control/running.h"
#include "exec/control_file.h"

namespace cleave::exec {
namespace {

// From here on this process and its children get no files in memory, as under some container policies.
bool refuse_files_in_memory() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog filter{.len = sizeof program / sizeof *program, .filter = program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0 && memfd_create("refused", 0) < 0 &&
         errno == EPERM;
}

// Runs `body` in a child; what it returns is the child's exit status.
int in_child(int (*body)(const std::string&), const std::string& folder) {
  pid_t child = fork();
  if (child == 0) _exit(body(folder));
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int run_with_file_on_disk(const std::string& folder) {
  if (!refuse_files_in_memory()) return 10;
  setenv("TMPDIR", folder.c_str(), 1);
  RunRequest some = request("ends_early", Policy::Random, 3);
  {
    Result<ControlFile> file = ControlFile::make(some, {});
    if (!file) return 11;
    struct stat disk{}, there{};
    if (stat(folder.c_str(), &disk) != 0 || stat(file.value().path().c_str(), &there) != 0) return 12;
    if (there.st_dev != disk.st_dev || !std::filesystem::is_empty(folder)) return 19;  // it has no name
    if (file.value().header().magic != CLEAVE_CONTROL_MAGIC || file.value().header().seed != 3) return 13;
    if (!std::filesystem::exists(file.value().path())) return 14;
  }
  if (!std::filesystem::is_empty(folder)) return 15;
  Result<RunOutcome> outcome = run(some);
  if (!outcome) return 16;
  if (outcome.value().schedule.points() == 0) return 17;
  return std::filesystem::is_empty(folder) ? 0 : 18;
}

int make_where_nothing_can_be_written(const std::string& folder) {
  if (!refuse_files_in_memory()) return 10;
  setenv("TMPDIR", (folder + "/missing").c_str(), 1);
  Result<ControlFile> file = ControlFile::make(request("ends_early", Policy::Random), {});
  if (file) return 11;
  return file.error().sentence().find("can be made there: No such file or directory") != std::string::npos
             ? 0
             : 12;
}

TEST(ControlFile, IsOnDiskWhereFilesInMemoryAreRefused) {
  Folder folder;
  std::filesystem::create_directory(folder.file("tmp"));
  EXPECT_EQ(in_child(run_with_file_on_disk, folder.file("tmp")), 0);
}

TEST(ControlFile, ThatCannotBeMadeIsAnError) {
  Folder folder;
  EXPECT_EQ(in_child(make_where_nothing_can_be_written, folder.file("tmp")), 0);
}

bool has_begun(const std::string& trace) {
  std::error_code none;
  return std::filesystem::exists(trace, none) && std::filesystem::file_size(trace, none) > 0;
}

void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

int end_what_runs(const std::string& folder) {
  RunRequest endless = request("endless", Policy::Free);
  endless.trace = folder + "/t.cleave";
  endless.pass_on = true;
  std::thread somebody([&] {
    struct sigaction now{};
    while (!has_begun(endless.trace) || now.sa_handler == SIG_DFL) {
      wait_a_little();
      sigaction(SIGTERM, nullptr, &now);
    }
    kill(getpid(), SIGTERM);
  });
  Result<RunOutcome> outcome = run(endless);
  somebody.join();
  if (!outcome) return 11;
  if (outcome.value().end != RunEnd::Signalled || outcome.value().signal != SIGTERM) return 12;
  return interrupt_signal() == SIGTERM ? 0 : 13;
}

TEST(SignalForwarder, WhoAsksUsToEndAsksTheProgram) {
  Folder folder;
  std::filesystem::create_directory(folder.file("run"));
  EXPECT_EQ(in_child(end_what_runs, folder.file("run")), 0);
}

int kill_who_runs(const std::string& folder) {
  setpgid(0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // who loses its parent becomes our child
  RunRequest endless = request("endless", Policy::Free);
  endless.trace = folder + "/t.cleave";
  pid_t runner = fork();
  if (runner == 0) _exit(run(endless) ? 0 : 1);
  while (!has_begun(endless.trace)) wait_a_little();
  kill(runner, SIGKILL);
  waitpid(runner, nullptr, 0);
  int status = 0;
  for (int look = 0; look < 5000; ++look, wait_a_little()) {
    if (waitpid(-1, &status, WNOHANG) > 0) return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : 11;
  }
  return kill(0, SIGKILL);  // the program runs on: it ends with us
}

TEST(Launch, AProgramDoesNotOutliveUs) {
  Folder folder;
  std::filesystem::create_directory(folder.file("run"));
  EXPECT_EQ(in_child(kill_who_runs, folder.file("run")), 0);
}

TEST(TraceLimit, StopsARunThatGoesRoundInCircles) {
  Folder folder;
  RunRequest endless = request("endless", Policy::Serial);
  endless.trace = folder.file("t.cleave");
  endless.trace_limit = 1 << 20;
  RunOutcome outcome = must_run(endless);
  EXPECT_EQ(outcome.end, RunEnd::TimeLimit);
  EXPECT_GT(std::filesystem::file_size(endless.trace), endless.trace_limit);
}

TEST(TraceLimit, IsNoneForARunThatStaysBelowIt) {
  Folder folder;
  RunRequest some = request("ends_early", Policy::Serial);
  some.trace = folder.file("t.cleave");
  some.trace_limit = uint64_t{1} << 30;
  EXPECT_EQ(must_run(some).end, RunEnd::Exited);
}

}  // namespace
}  // namespace cleave::exec
