#include "base/trace_files.h"

#include <unistd.h>

#include <filesystem>

#include "base/private_file.h"

namespace cleave {

Status prepare_trace(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return Error{path, "is a directory"};
  Result<int> file = create_private_file(path);
  if (!file) return Error{path, "the trace cannot be written: " + file.error().message};
  close(file.value());
  return Done{};
}

}  // namespace cleave
