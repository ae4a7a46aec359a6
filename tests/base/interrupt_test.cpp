#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace cleave {
namespace {

// The flag of a process is never cleared, so each test has a process of its own. How it ended.
int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(Interrupt, TheFirstSignalSetsTheFlagAndWakesThoseWhoWait) {
  for (int signal : {SIGINT, SIGTERM}) {
    const int status = in_child([signal] {
      InterruptScope scope;
      pollfd waiting{interrupt_descriptor(), POLLIN, 0};
      if (interrupted() || poll(&waiting, 1, 0) != 0) return 1;
      raise(signal);
      if (!interrupted() || interrupt_signal() != signal) return 2;
      return poll(&waiting, 1, 0) == 1 ? 42 : 3;
    });
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 42);
  }
}

TEST(Interrupt, TheSecondSignalEndsTheProcess) {
  const int status = in_child([] {
    InterruptScope scope;
    raise(SIGINT);
    raise(SIGTERM);
    return 1;
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

TEST(Interrupt, ASignalThatWasIgnoredStaysIgnored) {
  const int status = in_child([] {
    signal(SIGINT, SIG_IGN);
    InterruptScope scope;
    raise(SIGINT);
    raise(SIGINT);
    return interrupted() ? 1 : 42;
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST(Interrupt, AfterTheScopeAndInAChildTheSystemDecides) {
  const int after = in_child([] {
    {
      InterruptScope scope;
    }
    raise(SIGTERM);
    return 1;
  });
  EXPECT_TRUE(WIFSIGNALED(after));
  const int child = in_child([] {
    InterruptScope outer;
    InterruptScope inner;
    restore_signals_in_child();
    raise(SIGTERM);
    return 1;
  });
  EXPECT_TRUE(WIFSIGNALED(child));
}

}  // namespace
}  // namespace cleave
