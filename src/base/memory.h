// How much memory this process can still have.
#pragma once

#include <cstdint>
#include <string>

namespace cleave {

// Where the system says it; other folders are for tests.
struct MemorySources {
  std::string proc = "/proc", cgroups = "/sys/fs/cgroup";
};

// Bytes that can be had without anything being pushed out: those of the machine, and no more than the control
// groups of this process leave (versions 1 and 2). 0 if nothing says it.
uint64_t available_memory(const MemorySources& sources = {});

}  // namespace cleave
