// Wherever a command takes a TRACE it takes any of the forms, told by content: our text, RAPID's STD text.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/core/stream.h"
#include "trace/core/trace.h"

namespace cleave {

enum class TraceForm { Binary, Text, Rapid, Unknown };

// Looks at the first bytes only.
TraceForm form_of(std::string_view bytes);
TraceForm form_of_file(const std::string& path);

// Reads the whole trace into memory: 32 bytes an event.
Result<Trace> load_trace(const std::string& path);

// The same events one batch after another. Binary and RAPID traces are read as they go; our text is loaded
// first.
Result<std::unique_ptr<EventSource>> open_trace(const std::string& path);

}  // namespace cleave
