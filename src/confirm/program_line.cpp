#include "confirm/program_line.h"

#include "trace/recorded/trace_file.h"

namespace cleave::confirm {

Result<ProgramLine> program_of_trace(const std::string& path) {
  Result<TraceFile> file = TraceFile::open(path);
  if (!file) return file.error();
  RecordedProcess process = recorded_process(file.value().text(CLEAVE_CHUNK_PROCESS));
  ProgramLine line;
  line.words = std::move(process.arguments);
  if (!process.executable.empty()) line.words[0] = process.executable;
  line.directory = std::move(process.directory);
  line.environment = std::move(process.environment);
  line.build_id = std::move(process.build_id);
  if (line.words.empty()) return Error{path, "the trace does not say which program it is of"};
  return line;
}

bool recorded_under_control(const std::string& path) {
  Result<TraceFile> file = TraceFile::open(path);
  return file && !file.value().text(CLEAVE_CHUNK_SCHEDULE).empty();
}

}  // namespace cleave::confirm
