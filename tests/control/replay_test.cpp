// Replays where something is not as it was: the clients are gone, the program was moved or built again, the
// folder is another one; and replays under gdb.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "control/running.h"

namespace cleave::exec {
namespace {

constexpr const char* kPrograms = CLEAVE_SOURCE_DIR "/tests/control/programs/";

// Builds a program as a user would.
std::string build(const Folder& folder, const std::string& source, const std::string& name,
                  const std::string& flags = "") {
  std::string output = folder.file(name);
  CommandResult built =
      command(std::string(CLEAVE_BINARY_DIR) + "/bin/cleave-c++ -std=c++20 -g -O1 -pthread " + flags + " " +
              source + " -o " + output);
  EXPECT_EQ(built.status, 0) << built.output;
  return output;
}

int connect_to(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  for (int tries = 0; tries < 1000; ++tries) {
    int link = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(link, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return link;
    close(link);
    usleep(10000);
  }
  return -1;
}

uint16_t free_port() {
  int probe = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(probe, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(probe);
  return ntohs(address.sin_port);
}

TEST(Replay, OfAServerNeedsNoClients) {
  uint16_t port = free_port();
  RunRequest first = request("server", Policy::Random, 5);
  first.program.push_back(std::to_string(port));
  first.program.push_back("2");
  std::thread clients([port] {
    int links[] = {connect_to(port), connect_to(port)};
    for (const char* text : {"xx", "axb", "", "x"})
      for (int link : links) {
        char back[8];
        size_t size = std::char_traits<char>::length(text);
        if (size != 0 && send(link, text, size, 0) == static_cast<ssize_t>(size))
          EXPECT_EQ(recv(link, back, size, MSG_WAITALL), static_cast<ssize_t>(size));
      }
    for (int link : links) close(link);
  });
  RunOutcome recorded = must_run(first);
  clients.join();
  ASSERT_EQ(recorded.sentence(), "exit status 8") << recorded.text;
  for (bool random_addresses : {false, true}) {
    RunRequest second = again(first, recorded);
    second.random_addresses = random_addresses;
    RunOutcome replayed = must_run(second);
    EXPECT_EQ(replayed.sentence(), "exit status 8") << replayed.text;
    EXPECT_EQ(replayed.schedule.fingerprints, recorded.schedule.fingerprints);
  }
}

TEST(Replay, FollowsAThreadIntoACallThatIsNotKnown) {
  RunRequest first = request("stdio_wait", Policy::Serial);
  RunOutcome recorded = must_run(first);
  EXPECT_EQ(recorded.sentence(), "exit status 0") << recorded.text;
  unsigned taken = 0;
  for (const auto& run : recorded.schedule.runs) taken += run.how == Handover::Taken;
  EXPECT_GT(taken, 0u);
  RunRequest second = again(first, recorded);
  second.time_limit = std::chrono::seconds(30);
  RunOutcome replayed = must_run(second);
  EXPECT_EQ(replayed.sentence(), recorded.sentence()) << replayed.text;
}

TEST(Replay, SurvivesARebuildAndAnotherPlace) {
  Folder folder;
  std::string source = folder.file("program.cpp");
  std::filesystem::copy_file(std::string(kPrograms) + "everything.cpp", source);
  std::string trace = folder.file("t.cleave"), built = build(folder, source, "first");
  CommandResult recorded =
      command(cleave() + " record --schedule random --seed 4 -o " + trace + " -- " + built);
  ASSERT_EQ(recorded.status, 0) << recorded.output;
  std::string rebuilt = build(folder, source, "second");
  std::filesystem::remove(built);
  CommandResult replayed = command("cd / && " + cleave() + " replay " + trace + " -- " + rebuilt);
  EXPECT_EQ(replayed.status, 0) << replayed.output;
}

TEST(Replay, OfAnotherBuildIsRefused) {
  Folder folder;
  std::string source = folder.file("program.cpp");
  std::ofstream(source)
      << "#include <thread>\nint n;\nint main() { std::thread t([] { n = STEP; }); t.join(); return n; }\n";
  std::string trace = folder.file("t.cleave"), built = build(folder, source, "one", "-DSTEP=0");
  ASSERT_EQ(command(cleave() + " record --schedule serial -o " + trace + " -- " + built).status, 0);
  std::ofstream(source, std::ios::app) << "int more(int* p) { return *p + n; }\n";
  std::string other = build(folder, source, "two", "-DSTEP=0");
  CommandResult replayed = command(cleave() + " replay " + trace + " -- " + other);
  EXPECT_EQ(replayed.status, 2) << replayed.output;
  EXPECT_NE(replayed.output.find("another program or another build"), std::string::npos) << replayed.output;
}

// Called by a relative name in one folder, replayed from another: the program sees the same name, in the same
// folder.
TEST(Replay, KeepsTheNameTheProgramWasCalledBy) {
  Folder folder;
  std::string source = folder.file("named.cpp");
  std::ofstream(source)
      << "#include <cstdio>\n#include <thread>\nint letters;\n"
         "int main(int, char** words) {\n"
         "  std::thread t([&] { for (char* c = words[0]; *c != 0; ++c) letters += *c == '.' ? 7 : 1; });\n"
         "  t.join();\n  return letters;\n}\n";
  build(folder, source, "named");
  CommandResult recorded =
      command("cd " + folder.file("") + " && " + cleave() + " record --schedule random --runs 2 -- ./named");
  EXPECT_EQ(recorded.status, 13) << recorded.output;
  for (const char* witness : {"named.cleave", "named.1.witness.json"}) {
    CommandResult replayed = command("cd / && " + cleave() + " replay " + folder.file(witness));
    EXPECT_EQ(replayed.status, 0) << replayed.output;
    EXPECT_NE(replayed.output.find("exit status 13"), std::string::npos) << replayed.output;
  }
}

TEST(Replay, OfATruncatedTraceIsRefused) {
  Folder folder;
  std::string trace = folder.file("t.cleave");
  ASSERT_EQ(command(cleave() + " record --schedule serial -o " + trace + " -- " + program_path("everything"))
                .status,
            0);
  auto size = std::filesystem::file_size(trace);
  for (uintmax_t cut : {uintmax_t{1}, uintmax_t{100}, uintmax_t{500}}) {
    std::filesystem::resize_file(trace, size - cut);
    CommandResult replayed = command(cleave() + " replay " + trace);
    EXPECT_EQ(replayed.status, 2) << replayed.output;
    EXPECT_NE(replayed.output.find("truncated"), std::string::npos) << replayed.output;
  }
}

// A triple: the remote write comes between the two accesses of the unit.
TEST(Gdb, GoesFromAccessToAccessWithTheOtherThreadsHeld) {
  Folder folder;
  RunRequest first = request("lost_update", Policy::Random);
  RunOutcome recorded;
  for (first.seed = 1; first.seed <= 100 && recorded.exit_status != 1; ++first.seed)
    recorded = must_run(first);
  ASSERT_EQ(recorded.exit_status, 1);
  Witness witness = witness_of(first, recorded);
  std::string file = std::string(kPrograms) + "lost_update.cpp";
  auto access = [&](const char* thread, EventKind kind, int line, const char* note) {
    return Milestone{thread, kind, file, static_cast<uint32_t>(line), 0, "", 1, std::nullopt, note};
  };
  auto follow = [&](const char* unit, const char* remote) {
    witness.milestones.milestones = {access(unit, EventKind::Read, 6, "first"),
                                     access(remote, EventKind::Write, 7, "remote"),
                                     access(unit, EventKind::Write, 7, "second")};
    EXPECT_TRUE(write_witness(witness, folder.file("w.json")).ok());
    return command(
               "printf 'run\\nprint counter\\ncontinue\\nprint counter\\ncontinue\\nprint counter\\n"
               "thread apply all backtrace 4\\ncontinue\\nquit\\n' | " +
               cleave() + " replay --gdb " + folder.file("w.json"))
        .output;
  };
  // Whose update was lost is the schedule's: the other one wrote in between.
  std::string text = follow("0.1", "0.2");
  if (text.find("milestone 2 of 3") > text.find("milestone 3 of 3")) text = follow("0.2", "0.1");
  size_t at = 0;
  for (const char* expected : {"milestone 1 of 3: first", "$1 = 0", "milestone 2 of 3: remote", "$2 = 0",
                               "milestone 3 of 3: second", "$3 = 1", "await_turn", "exited with code 01"}) {
    at = text.find(expected, at);
    ASSERT_NE(at, std::string::npos) << expected << "\n" << text;
  }
}

}  // namespace
}  // namespace cleave::exec
