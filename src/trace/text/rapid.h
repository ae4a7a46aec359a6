// RAPID's STD text: one event a line, THREAD|OPERATION(OBJECT)|LOCATION, as its logger and its benchmarks
// have it.
//
//   T1|acq(l)|17   rel(l)   r(x)   w(x)   fork(T2)   join(T2)   begin   end
//
// There are no values in it: every access has the value 0. Nested acquires of a lock by its owner are left
// out, as everywhere in Cleave. A location is a site: file `rapid`, line LOCATION (or file LOCATION where it
// is no number); a unit is named after the location of its begin. Costs one pass, and memory for the names
// only.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/core/stream.h"

namespace cleave {

Result<Trace> parse_rapid_trace(std::string_view text, std::string_view place);

// Reads as it goes; the file is mapped. An error of the text comes out of next().
Result<std::unique_ptr<BatchSource>> open_rapid_trace(const std::string& path);

}  // namespace cleave
