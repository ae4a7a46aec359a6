#include "trace/core/load.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include "abi/trace_file.h"
#include "base/mapped_file.h"
#include "trace/recorded/reader.h"
#include "trace/text/rapid.h"
#include "trace/text/text.h"

namespace cleave {
namespace {

// T1|acq(l)|17
bool looks_like_rapid(std::string_view line) {
  size_t first = line.find('|');
  if (first == std::string_view::npos || first == 0) return false;
  size_t second = line.find('|', first + 1);
  return second != std::string_view::npos && line.substr(0, first).find(' ') == std::string_view::npos;
}

Error not_a_trace(const std::string& path, std::string_view bytes) {
  if (bytes.empty()) return Error{path, "is empty, not a trace; cleave record writes one"};
  if (bytes.starts_with("\177ELF"))
    return Error{path, "is a program, not a trace; cleave record -- PROGRAM writes one"};
  return Error{path,
               "is not a trace: neither one that cleave record wrote nor a text trace nor RAPID's STD text"};
}

class LoadedSource final : public EventSource {
 public:
  explicit LoadedSource(Trace trace) : trace_(std::move(trace)), source_(trace_) {}
  Result<std::span<const Event>> next() override { return source_.next(); }
  uint64_t old_value(size_t position) const override { return source_.old_value(position); }
  const Trace& tables() const override { return trace_; }
  bool complete() const override { return source_.complete(); }

 private:
  Trace trace_;
  TraceSource source_;
};

}  // namespace

TraceForm form_of(std::string_view bytes) {
  const uint64_t magic = CLEAVE_TRACE_MAGIC;
  const std::string_view begins(reinterpret_cast<const char*>(&magic), sizeof magic);
  if (!bytes.empty() && begins.starts_with(bytes.substr(0, sizeof magic))) return TraceForm::Binary;
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

TraceForm form_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(4096, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(
      static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));  // a folder gives less than nothing
  return form_of(head);
}

Result<Trace> load_trace(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  std::string_view bytes = file.value().bytes();
  switch (form_of(bytes)) {
    case TraceForm::Binary:
      return load_binary_trace(path);
    case TraceForm::Text:
      return parse_text_trace(bytes, path);
    case TraceForm::Rapid:
      return parse_rapid_trace(bytes, path);
    default:
      return not_a_trace(path, bytes);
  }
}

Result<std::unique_ptr<EventSource>> open_trace(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  std::string_view bytes = file.value().bytes();
  switch (form_of(bytes)) {
    case TraceForm::Binary: {
      Result<std::unique_ptr<BinarySource>> source = open_binary_trace(path);
      if (!source) return source.error();
      return std::unique_ptr<EventSource>(std::move(source).value());
    }
    case TraceForm::Text: {
      Result<Trace> trace = parse_text_trace(bytes, path);
      if (!trace) return trace.error();
      return std::unique_ptr<EventSource>(new LoadedSource(std::move(trace).value()));
    }
    case TraceForm::Rapid: {
      Result<std::unique_ptr<BatchSource>> source = open_rapid_trace(path);
      if (!source) return source.error();
      return std::unique_ptr<EventSource>(std::move(source).value());
    }
    default:
      return not_a_trace(path, bytes);
  }
}

}  // namespace cleave
