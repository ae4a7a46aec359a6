// cleave doctor: is everything there that the commands need, and if not, what to install.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "cli/common.h"

namespace cleave::cli {
namespace {

// scripts/packages.txt as it was when this was built: the one list that make and CI use too.
constexpr std::string_view kPackages =
#include "packages_text.inc"
    ;

struct Package {
  std::string name, file;
};

std::vector<Package> packages() {
  std::vector<Package> list;
  std::string_view text = kPackages;
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.empty() || line.front() == '#') continue;
    size_t blank = line.find_first_of(" \t");
    size_t file = line.find_first_not_of(" \t", blank);
    if (blank == std::string_view::npos || file == std::string_view::npos) continue;
    std::string_view path = line.substr(file);
    list.push_back(
        {std::string(line.substr(0, blank)), std::string(path.substr(0, path.find_first_of(" \t")))});
  }
  return list;
}

// What the commands run or load from beside the executable.
std::string beside(const char* relative) {
  std::array<char, 4096> path{};
  ssize_t size = readlink("/proc/self/exe", path.data(), path.size() - 1);
  std::string self(path.data(), size > 0 ? static_cast<size_t>(size) : 0);
  return self.substr(0, self.rfind('/') + 1) + relative;
}

bool can_write_here() { return access(".", W_OK) == 0; }

int run_doctor(bool quiet) {
  std::vector<std::string> missing, broken;
  for (const Package& package : packages()) {
    bool there = access(package.file.c_str(), F_OK) == 0;
    if (!quiet) fmt::print("{}  {:<22} {}\n", there ? "ok     " : "missing", package.name, package.file);
    if (!there) missing.push_back(package.name);
  }
  for (const char* file : {"cleave-cc", "cleave-c++", "../lib/libcleave_rt.so",
                           "../lib/libcleave_symbolic.so", "../lib/libcleave_static.so"}) {
    bool there = access(beside(file).c_str(), X_OK) == 0;
    if (!quiet) fmt::print("{}  {:<22} {}\n", there ? "ok     " : "missing", file, beside(file));
    if (!there) broken.push_back(file);
  }
  if (!can_write_here())
    fmt::print("note     this folder cannot be written: give `cleave record` a file with -o\n");
  if (missing.empty() && broken.empty()) {
    if (!quiet) fmt::print("everything is there\n");
    return 0;
  }
  if (!missing.empty()) {
    std::string line;
    for (const std::string& name : missing) line += " " + name;
    fmt::print("install what is missing:  apt-get install --no-install-recommends{}\n", line);
  }
  for (const std::string& file : broken)
    fmt::print("{} is not beside this program: build Cleave again (make build)\n", file);
  return static_cast<int>(Exit::Usage);
}

}  // namespace

void add_doctor_verb(CLI::App& app, Context& context) {
  auto quiet = std::make_shared<bool>(false);
  CLI::App* verb =
      app.add_subcommand("doctor", "is everything there that the commands need, and if not, what to install");
  verb->add_flag("--quiet", *quiet, "only what is missing");
  verb->footer("Example: cleave doctor");
  verb->callback([quiet, &context] { context.run = [quiet] { return run_doctor(*quiet); }; });
}

}  // namespace cleave::cli
