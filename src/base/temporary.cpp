#include "base/temporary.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <limits>

namespace cleave {
namespace {

constexpr const char* kInMemory = "/dev/shm";

// Bytes that programs can still have without anything being pushed out.
uint64_t free_memory() {
  std::ifstream facts("/proc/meminfo");
  for (std::string word; facts >> word; facts.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    uint64_t kilobytes = 0;
    if (word == "MemAvailable:" && facts >> kilobytes) return kilobytes << 10;
  }
  return 0;
}

bool plenty_in_memory(uint64_t bytes) {
  struct statvfs facts{};
  if (statvfs(kInMemory, &facts) != 0 || access(kInMemory, W_OK) != 0) return false;
  const uint64_t room = uint64_t{facts.f_bavail} * facts.f_frsize;
  return room / 4 >= bytes && free_memory() / 4 >= bytes;
}

}  // namespace

std::string temporary_pattern(std::string_view what) {
  const char* folder = std::getenv("TMPDIR");
  std::string pattern = folder != nullptr && *folder != 0 ? folder : "/tmp";
  return pattern.append("/cleave-").append(what).append("-XXXXXX");
}

std::string memory_pattern(std::string_view what, uint64_t bytes) {
  const char* folder = std::getenv("TMPDIR");
  if ((folder != nullptr && *folder != 0) || !plenty_in_memory(bytes)) return temporary_pattern(what);
  return std::string(kInMemory).append("/cleave-").append(what).append("-XXXXXX");
}

}  // namespace cleave
