#include "base/apart.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <stdexcept>
#include <vector>

#include "base/interrupt.h"

namespace cleave {
namespace {

std::vector<std::string> got;
void take(std::string_view message) { got.emplace_back(message); }

TEST(Apart, MessagesArriveInOrderWhateverTheirLength) {
  got.clear();
  const std::string large(3 << 20, 'x');
  Result<ApartEnd> end = run_apart(
      [&](const Send& send) {
        send("one");
        send("");
        send(large);
        send("four");
      },
      take);
  ASSERT_TRUE(end);
  EXPECT_EQ(end.value().how, ApartEnd::How::Finished);
  EXPECT_EQ(got, (std::vector<std::string>{"one", "", large, "four"}));
}

TEST(Apart, ACrashIsAValueAndWhatWasSentBeforeItIsThere) {
  got.clear();
  Result<ApartEnd> end = run_apart(
      [](const Send& send) {
        send("before");
        std::fprintf(stderr, "because\nof this\n");
        raise(SIGKILL);
      },
      take);
  ASSERT_TRUE(end);
  EXPECT_EQ(end.value().how, ApartEnd::How::Signalled);
  EXPECT_EQ(end.value().sentence(), "signal 9 (Killed): because");
  EXPECT_EQ(got, std::vector<std::string>{"before"});
}

TEST(Apart, AnExceptionEndsTheChildAlone) {
  got.clear();
  Result<ApartEnd> end = run_apart([](const Send&) { throw std::runtime_error("no such thing"); }, take);
  ASSERT_TRUE(end);
  EXPECT_EQ(end.value().sentence(), "exit status 1: no such thing");
}

TEST(Apart, MemoryIsLimitedAndTimeToo) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  got.clear();
  Result<ApartEnd> end = run_apart(
      [](const Send& send) {
        try {
          const std::vector<char> much(uint64_t{1} << 30);
          send(std::string_view(much.data(), 1));
        } catch (const std::bad_alloc&) {
          send("refused");
        }
      },
      take, {.memory = uint64_t{256} << 20});
  ASSERT_TRUE(end);
  EXPECT_EQ(got, std::vector<std::string>{"refused"});
#endif
  Result<ApartEnd> late =
      run_apart([](const Send&) { pause(); }, take, {.time_limit = std::chrono::milliseconds(50)});
  ASSERT_TRUE(late);
  EXPECT_EQ(late.value().how, ApartEnd::How::TimeLimit);
}

TEST(Apart, AnInterruptEndsTheChildAtOnce) {
  const pid_t child = fork();
  if (child == 0) {
    InterruptScope scope;
    Result<ApartEnd> end = run_apart(
        [](const Send& send) {
          send("begun");
          pause();
        },
        [](std::string_view) { raise(SIGINT); });
    _exit(end && end.value().how == ApartEnd::How::Interrupted ? 42 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

// Our own end is the end of the child, also by SIGKILL: the pipe that it holds is closed then.
TEST(Apart, TheChildDoesNotOutliveItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    close(ends[0]);
    (void)run_apart([&](const Send&) { (void)!write(ends[1], "x", 1), pause(); }, take);
    _exit(1);
  }
  close(ends[1]);
  char byte = 0;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_EQ(read(ends[0], &byte, 1), 0);  // blocks for ever if it lives on
  close(ends[0]);
}

TEST(Apart, SomeMemoryIsAvailable) { EXPECT_GT(available_memory(), uint64_t{16} << 20); }

}  // namespace
}  // namespace cleave
