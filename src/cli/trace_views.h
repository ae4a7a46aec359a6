// How traces are shown to people.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "trace/core/stream.h"
#include "trace/core/trace.h"

namespace cleave {
class BinarySource;
struct Validation;
}  // namespace cleave

namespace cleave::cli {

struct DumpOptions {
  std::vector<std::string> threads, variables;
  uint64_t from = 0;
  uint64_t to = UINT64_MAX;
  uint64_t around = UINT64_MAX;
  uint64_t context = 10;
  bool stack = false;
  bool color = false;
};

// An Error when a filter names a thread that is not there, or an event beyond the end.
Status dump_trace(const Trace& trace, const DumpOptions& options,
                  const std::function<void(std::string_view)>& sink);

// A trace to stream, of any form; `binary` is the source beneath it when it is a binary one.
struct OpenedTrace {
  std::string path;
  std::unique_ptr<EventSource> source;
  BinarySource* binary = nullptr;
};
// `progress` is told of every event. When interrupted(), the events end, and the source is not complete.
Result<OpenedTrace> open_with_remarks(const std::string& path, Progress* progress);

void print_validation(const OpenedTrace& opened, const Validation& validation);
// Exit status.
int print_stats(const std::string& path);

}  // namespace cleave::cli
