// The text trace of docs/contract.md ("# cleave text trace 1"): for people, for tests, and for other tools.
// docs/trace.md describes all of it. write followed by parse gives an equal Trace, whatever is in it.
//
// What a hand-written trace does not say is taken from use: names become threads, variables, locks on first
// sight; a variable `a.balance` lies in the object `a`. A trace whose tables cannot be had that way (ids in
// another order, equal names, addresses …) is written with declaration lines and trailing key=value words.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/core/trace.h"

namespace cleave {

inline constexpr std::string_view kTextTraceHeader = "# cleave text trace 1";

// `place` names the text in errors: `bank.txt: line 12: …`. Linear in the text.
Result<Trace> parse_text_trace(std::string_view text, std::string_view place);

// Gives the text to `sink` in pieces of about 64 KiB, so that a long trace is never there twice.
void write_text_trace(const Trace& trace, const std::function<void(std::string_view)>& sink);
std::string write_text_trace(const Trace& trace);

}  // namespace cleave
