#include "prove/program_line.h"

#include <nlohmann/json.hpp>

#include "trace/trace_file.h"

namespace cleave::prove {

Result<ProgramLine> program_of_trace(const std::string& path) {
  Result<TraceFile> file = TraceFile::open(path);
  if (!file) return file.error();
  nlohmann::json process = nlohmann::json::parse(file.value().text(CLEAVE_CHUNK_PROCESS), nullptr, false);
  ProgramLine line;
  if (process.is_object()) {
    if (process.contains("arguments") && process["arguments"].is_array()) {
      for (const nlohmann::json& word : process["arguments"]) {
        if (word.is_string()) line.words.push_back(word.get<std::string>());
      }
    }
    std::string program = process.value("program", std::string());
    if (line.words.empty() && !program.empty()) line.words.push_back(program);
    if (!program.empty()) line.words[0] = program;
    line.directory = process.value("directory", std::string());
  }
  if (line.words.empty()) return Error{path, "the trace does not say which program it is of"};
  return line;
}

bool recorded_under_control(const std::string& path) {
  Result<TraceFile> file = TraceFile::open(path);
  return file && !file.value().text(CLEAVE_CHUNK_SCHEDULE).empty();
}

}  // namespace cleave::prove
