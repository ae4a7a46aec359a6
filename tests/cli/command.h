// Runs a command line and takes what it says.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

struct Ran {
  int status = -1;
  std::string output;  // both streams
};

inline Ran run(const std::string& command) {
  Ran ran;
  std::FILE* pipe = popen(("{ " + command + "; } 2>&1").c_str(), "r");
  for (char buffer[4096]; size_t got = std::fread(buffer, 1, sizeof buffer, pipe);)
    ran.output.append(buffer, got);
  int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

inline const std::string kTools = std::string(CLEAVE_BINARY_DIR) + "/bin/";
