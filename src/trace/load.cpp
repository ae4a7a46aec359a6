#include "trace/load.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "abi/trace_file.h"
#include "trace/text.h"

namespace cleave {
namespace {

// T1|acq(l)|17
bool looks_like_rapid(std::string_view line) {
  size_t first = line.find('|');
  if (first == std::string_view::npos || first == 0) return false;
  size_t second = line.find('|', first + 1);
  return second != std::string_view::npos && line.substr(0, first).find(' ') == std::string_view::npos;
}

}  // namespace

TraceForm form_of(std::string_view bytes) {
  uint64_t magic = 0;
  if (bytes.size() >= sizeof magic) std::memcpy(&magic, bytes.data(), sizeof magic);
  if (magic == CLEAVE_TRACE_MAGIC) return TraceForm::Binary;
  if (bytes.starts_with("# cleave text trace")) return TraceForm::Text;
  if (bytes.substr(0, 4096).find('\0') != std::string_view::npos) return TraceForm::Unknown;
  while (!bytes.empty()) {
    size_t end = bytes.find('\n');
    std::string_view line = bytes.substr(0, end);
    bytes = end == std::string_view::npos ? std::string_view() : bytes.substr(end + 1);
    size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string_view::npos || line[start] == '#') continue;
    return looks_like_rapid(line.substr(start)) ? TraceForm::Rapid : TraceForm::Text;
  }
  return TraceForm::Unknown;
}

Result<Trace> load_trace(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{path, fmt::format("cannot be opened: {}", std::strerror(errno))};
  std::stringstream contents;
  contents << file.rdbuf();
  std::string bytes = std::move(contents).str();
  switch (form_of(bytes)) {
    case TraceForm::Text:
      return parse_text_trace(bytes, path);
    default:
      return Error{
          path, "is not a trace: neither one that cleave record wrote nor a text trace nor RAPID's STD text"};
  }
}

}  // namespace cleave
