#include "cli/cc.h"

#include <string_view>

#include "cli/common.h"
#include "driver/command.h"

namespace cleave::cli {

// The words after `cleave cc` are the compiler's own, `--` and `--help` included, so they never reach the
// parser; these two stand in it for --help alone.
void add_cc_verb(CLI::App& app, Context&) {
  app.add_subcommand("cc", "compile and link C as clang-19 would (also: cleave-cc)")
      ->footer("Example: cleave cc -O2 -pthread -o bank bank.c");
  app.add_subcommand("c++", "compile and link C++ as clang++-19 would (also: cleave-c++)")
      ->footer("Example: cleave c++ -O2 -std=c++20 -pthread -o bank bank.cpp");
}

std::optional<int> run_as_compiler(int argc, char** argv) {
  if (argc < 2) return std::nullopt;
  std::string_view verb = argv[1];
  if (verb != "cc" && verb != "c++") return std::nullopt;
  return run_compiler(verb == "c++", std::vector<std::string>(argv + 2, argv + argc));
}

}  // namespace cleave::cli
