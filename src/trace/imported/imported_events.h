// The binary form of a trace that was not recorded but built or imported: the same file format, with the
// names in one TABLES chunk and the events in EVENTS chunks of their total order. Loses nothing: write
// followed by load gives an equal Trace. Bytes an event: see event_columns.h.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/recorded/reader.h"
#include "trace/recorded/trace_file.h"

namespace cleave {

void write_binary_trace(const Trace& trace, const std::function<void(std::string_view)>& sink);
std::string write_binary_trace(const Trace& trace);

// Whether a file holds plain events instead of records.
bool has_plain_events(const TraceFile& file);
Result<Trace> load_plain_events(const TraceFile& file);
Result<std::unique_ptr<BinarySource>> open_plain_events(std::shared_ptr<TraceFile> file);

}  // namespace cleave
