#include "base/trace_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace cleave {

Status prepare_trace(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return Error{path, "is a directory"};
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) return Error{path, std::string("the trace cannot be written: ") + std::strerror(errno)};
  return Done{};
}

void remove_trace(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path own(path);
  fs::path folder = own.has_parent_path() ? own.parent_path() : fs::path(".");
  std::string prefix = own.filename().string() + ".";
  std::vector<fs::path> all{own};
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    std::string name = entry.path().filename().string();
    if (name.size() > prefix.size() && name.starts_with(prefix) &&
        std::all_of(name.begin() + static_cast<ptrdiff_t>(prefix.size()), name.end(),
                    [](char c) { return c == '.' || (c >= '0' && c <= '9'); })) {
      all.push_back(entry.path());
    }
  }
  for (const fs::path& file : all) fs::remove(file, ignored);
}

}  // namespace cleave
