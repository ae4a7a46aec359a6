#include "driver/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "driver/scan.h"

namespace cleave {
namespace {

using Words = std::vector<std::string>;

// Sanitizers that bring a runtime of their own into the program: it and ours would both stand in front of
// libc.
constexpr std::array kConflicting = {
    "address",   "thread",         "memory",        "hwaddress",        "leak",      "dataflow",
    "realtime",  "kernel-address", "kernel-memory", "kernel-hwaddress", "fuzzer",    "type",
    "numerical", "memtag",         "memtag-stack",  "memtag-heap",      "safe-stack"};

// x86_64-linux-gnu, with or without a vendor in the middle.
bool records_target(std::string_view target) {
  return (target.starts_with("x86_64-") || target.starts_with("amd64-")) &&
         (target.ends_with("-linux-gnu") || target.ends_with("-linux"));
}

Status check_conflicts(const CommandScan& scan, bool links) {
  for (const std::string& name : scan.sanitizers) {
    bool lto =
        name == "cfi" || name.starts_with("cfi-");  // works at link time only, on code as clang makes it
    if (lto || std::ranges::find(kConflicting, name) != kConflicting.end()) {
      return Error{
          "",
          fmt::format("-fsanitize={} cannot be combined with Cleave; leave the sanitizer out of this build",
                      name)};
    }
  }
  if (links && scan.is_static) {
    return Error{
        "",
        "a program that Cleave records cannot be linked with -static, because the runtime is a shared "
        "library; link it dynamically"};
  }
  if (scan.narrow && scan.has_input) {
    return Error{"", "Cleave records 64-bit programs only; leave out -m32"};
  }
  if (scan.has_input && !scan.target.empty() && !records_target(scan.target)) {
    return Error{
        "", fmt::format("Cleave records programs for x86-64 Linux with glibc only; leave out the target {}",
                        scan.target)};
  }
  if (scan.emulated_tls) {
    return Error{"", "Cleave needs the thread-local storage of the system; leave out -femulated-tls"};
  }
  return Done{};
}

void append(Words& words, std::initializer_list<std::string> more) { words.insert(words.end(), more); }

}  // namespace

Result<Words> compiler_command(const Words& arguments, const Toolchain& tools) {
  CommandScan scan = scan_command(expand_response_files(arguments));
  bool links = scan.has_input && !scan.stops_early && !scan.relocatable;
  if (Status status = check_conflicts(scan, links); !status.ok()) return status.error();

  Words words{tools.clang};
  append(words, {"--start-no-unused-arguments", "-fpass-plugin=" + tools.plugin, "-g", "-fstandalone-debug",
                 "-D__CLEAVE__=1"});
  // Our bits/c++config.h, which has std::string's functions compiled into the program, where they can be
  // seen.
  append(words, {"-isystem", tools.include + "/cleave/libstdc++", "-idirafter", tools.include});
  if (links) {
    append(words, {"-Wl,--push-state,--no-as-needed", "-lcleave_rt", "-Wl,--pop-state"});
  }
  append(words, {"--end-no-unused-arguments"});

  auto files_only = std::ranges::find(arguments, "--");
  words.insert(words.end(), arguments.begin(), files_only);
  if (scan.low_debug) words.push_back("-g");
  if (!scan.vectorize) {  // behind the user's -O flag, which would turn them on again
    append(words, {"--start-no-unused-arguments", "-fno-vectorize", "-fno-slp-vectorize",
                   "--end-no-unused-arguments"});
  }
  if (scan.lto) {
    append(words,
           {"--start-no-unused-arguments", "-fno-lto", "-fno-whole-program-vtables", "-fno-split-lto-unit",
            "-fno-fat-lto-objects", "-fno-virtual-function-elimination", "--end-no-unused-arguments"});
  }
  if (links) append(words, {"-L" + tools.libraries, "-Wl,-rpath," + tools.libraries});
  words.insert(words.end(), files_only, arguments.end());
  return words;
}

Result<Toolchain> find_toolchain(bool cxx) {
  namespace fs = std::filesystem;
  std::error_code failure;
  fs::path self = fs::read_symlink("/proc/self/exe", failure);
  if (failure) return Error{"/proc/self/exe", "cannot be read, so the compiler plugin cannot be found"};
  fs::path prefix = self.parent_path().parent_path();
  Toolchain tools{cxx ? CLEAVE_CLANGXX : CLEAVE_CLANG, prefix / "lib" / "libcleave_pass.so",
                  prefix / "include", prefix / "lib"};
  if (!fs::exists(tools.plugin, failure)) {
    return Error{tools.plugin, "the compiler plugin is not there; build Cleave with `make build`"};
  }
  return tools;
}

int run_compiler(bool cxx, const Words& arguments) {
  const char* name = cxx ? "cleave-c++" : "cleave-cc";
  auto fail = [&](const Error& error) {
    fmt::print(stderr, "{}: error: {}\n", name, error.sentence());
    return 2;
  };
  Result<Toolchain> tools = find_toolchain(cxx);
  if (!tools.ok()) return fail(tools.error());
  Result<Words> words = compiler_command(arguments, tools.value());
  if (!words.ok()) return fail(words.error());
  std::vector<char*> raw;
  for (std::string& word : words.value()) raw.push_back(word.data());
  raw.push_back(nullptr);
  execvp(raw[0], raw.data());
  return fail(Error{raw[0], "cannot be started; install clang-19 (cleave doctor says what is missing)"});
}

}  // namespace cleave
