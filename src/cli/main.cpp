#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>

#include "cli/cc.h"
#include "cli/common.h"
#include "cli/terminal.h"

namespace {

using namespace cleave::cli;

int run(int argc, char** argv) {
  CLI::App app{"Cleave finds atomicity violations in multithreaded C and C++ programs.", "cleave"};
  app.set_version_flag("--version", "cleave " CLEAVE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Example: cleave-c++ -O1 -pthread examples/bank.cpp -o bank && cleave record -o bank.cleave -- ./bank "
      "&& cleave predict bank.cleave");

  // CLI11 has its own idea of `--`; ours is: everything after it is the program and its arguments, untouched.
  std::vector<std::string> words(argv + 1, argv + argc);
  Context context;
  auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes != words.end()) {
    context.program.assign(dashes + 1, words.end());
    words.erase(dashes, words.end());
  }
  // `cleave help VERB` is `cleave VERB --help`.
  if (!words.empty() && words[0] == "help") {
    words.erase(words.begin());
    words.push_back("--help");
  }
  context.words = words;
#define CLEAVE_VERB(name) add_##name##_verb(app, context);
#include "cli/verbs.def"
#undef CLEAVE_VERB

  auto named = [&](const CLI::App* verb) { return verb->check_name(words[0]); };
  std::vector<CLI::App*> verbs = app.get_subcommands([](const CLI::App*) { return true; });
  if (!words.empty() && !words[0].starts_with('-') && std::none_of(verbs.begin(), verbs.end(), named)) {
    fmt::print(stderr, "cleave: there is no command `{}`; see cleave --help\n", words[0]);
    return static_cast<int>(Exit::Usage);
  }
  const bool nothing = words.empty();
  const std::string verb = nothing ? "" : words[0];
  std::reverse(words.begin(), words.end());  // CLI11 takes the vector from its end
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::string what = nothing ? "a command is missing" : error.what();
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && context.program.empty() &&
        (verb == "record" || verb == "check"))
      what += " (a program and its arguments go after --)";
    const bool of_verb = !nothing && !verb.starts_with('-');
    fmt::print(stderr, "cleave: {}; see cleave {}--help\n", what, of_verb ? verb + " " : "");
    return static_cast<int>(Exit::Usage);
  }
  // A file that may grow no further is an error like any other; programs that are run keep the signal.
  if (verb == "trace" || verb == "report") std::signal(SIGXFSZ, SIG_IGN);
  return context.run ? context.run() : 0;
}

// What was found counts for nothing if nobody could be told.
int told(int status) {
  errno = 0;
  bool written = flush_output();
  if (written || status == static_cast<int>(Exit::Unfinished)) return status;
  std::string why = errno != 0 ? fmt::format(": {}", std::strerror(errno)) : "";
  fmt::print(stderr, "cleave: standard output: cannot be written{}\n", why);
  return static_cast<int>(Exit::Unfinished);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::optional<int> status = run_as_compiler(argc, argv)) return *status;
  guard_terminal();
  try {
    return told(run(argc, argv));
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "cleave: there is not enough memory for this\n");
  } catch (const std::system_error& error) {
    fmt::print(stderr, "cleave: {}\n", error.what());
  }
  return static_cast<int>(Exit::Unfinished);
}
