#include "cli/static_module.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <string>

namespace cleave::cli {
namespace {

std::string module_path() {
  std::array<char, 4096> path{};
  ssize_t size = readlink("/proc/self/exe", path.data(), path.size() - 1);
  std::string self(path.data(), size > 0 ? static_cast<size_t>(size) : 0);
  return self.substr(0, self.rfind('/') + 1) + "../lib/libcleave_static.so";
}

}  // namespace

Result<Findings> analyze_in_module(const Program& program, const static_analysis::StaticOptions& options) {
  void* library = dlopen(module_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  void* door = library == nullptr ? nullptr : dlsym(library, static_analysis::kDoor);
  if (door == nullptr) {
    const char* why = dlerror();
    return Error{"", std::string("the static analysis cannot be loaded (") +
                         (why == nullptr ? "no reason given" : why) +
                         "); `cleave doctor` says what to install"};
  }
  Status status = Done{};
  Findings findings;
  reinterpret_cast<static_analysis::Door>(door)(&program, &options, &findings, &status);
  if (!status.ok()) return status.error();
  return findings;
}

}  // namespace cleave::cli
