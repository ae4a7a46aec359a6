#include "base/memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

namespace cleave {
namespace {

std::optional<uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  if (file >> number) return number;  // "max" is none
  return std::nullopt;
}

// Of files that the group has read: they go when memory is short.
uint64_t reclaimable(const std::string& path) {
  std::ifstream facts(path);
  uint64_t bytes = 0;
  for (std::string word; facts >> word >> bytes;)
    if (word == "inactive_file" || word == "total_inactive_file") return bytes;
  return 0;
}

// What each group from `path` up to the root leaves.
void limit_by(const std::string& root, std::string path, const char* limit, const char* usage,
              uint64_t& most) {
  for (;;) {
    const std::string folder = root + (path == "/" ? "" : path) + "/";
    if (const std::optional<uint64_t> allowed = number_in(folder + limit)) {
      const uint64_t used = number_in(folder + usage).value_or(0);
      const uint64_t freed = std::min(used, reclaimable(folder + "memory.stat"));
      most = std::min(most, *allowed - std::min(*allowed, used - freed));
    }
    if (path.size() <= 1) return;
    path.resize(std::max<size_t>(path.rfind('/'), 1));
  }
}

uint64_t machine_memory(const std::string& proc) {
  std::ifstream facts(proc + "/meminfo");
  for (std::string word; facts >> word; facts.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    uint64_t kilobytes = 0;
    if (word == "MemAvailable:" && facts >> kilobytes) return kilobytes << 10;
  }
  return 0;
}

}  // namespace

uint64_t available_memory(const MemorySources& sources) {
  uint64_t most = machine_memory(sources.proc);
  std::ifstream groups(sources.proc + "/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // NUMBER:CONTROLLERS:PATH
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,")
      limit_by(sources.cgroups, path, "memory.max", "memory.current", most);
    else if (controllers.find(",memory,") != controllers.npos)
      limit_by(sources.cgroups + "/memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes", most);
  }
  return most;
}

}  // namespace cleave
