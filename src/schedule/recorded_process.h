// What a trace says of the process that it is of: its PROCESS chunk.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleave {

using Environment = std::map<std::string, std::string>;

struct RecordedProcess {
  std::string executable;              // the file
  std::vector<std::string> arguments;  // as typed, the program first
  std::string directory;
  std::string build_id;  // of the executable, hexadecimal; empty: the trace does not say it
  // As the program found it, without what was put there to record it; nothing if the trace does not say it.
  std::optional<Environment> environment;
};

// What is missing or damaged is empty.
RecordedProcess recorded_process(std::string_view json);

// A variable by which Cleave speaks to its runtime: set for each run anew.
bool is_own_variable(std::string_view name);

// JSON text has no place for bytes that are not UTF-8: each byte is written as the character of that number,
// and taken back so. What does not come from there is left as it is.
std::string bytes_as_characters(std::string_view bytes);
std::string characters_as_bytes(std::string_view text);

}  // namespace cleave
