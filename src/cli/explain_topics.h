// What the words of a report mean, in ten lines each: `cleave explain RWW`.
#pragma once

#include <string>
#include <string_view>

namespace cleave::cli {

// The text of a topic; empty if there is none of that name.
std::string_view explain_topic(std::string_view word);
// "RWR, RWW, …"
std::string explain_topics();

}  // namespace cleave::cli
