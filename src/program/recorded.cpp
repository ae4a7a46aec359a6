#include "program/recorded.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace cleave {
namespace {

// The binary, and the files that were mapped into the process.
std::vector<std::string> files_of(const TraceFile& file) {
  std::vector<std::string> files;
  for (std::string_view text : {file.text(CLEAVE_CHUNK_PROCESS), file.last_text(CLEAVE_CHUNK_PROCESS)}) {
    auto process = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!process.is_object()) continue;
    if (files.empty()) {
      std::filesystem::path program = process.value("program", "");
      const std::string directory = process.value("directory", "");
      if (program.is_relative() && !program.empty() && !directory.empty()) program = directory / program;
      if (!program.empty()) files.push_back(program.string());
    }
    for (const auto& mapped : process.value("mapped", nlohmann::json::array())) {
      std::string path = mapped.is_object() ? mapped.value("file", "") : "";
      if (path.starts_with('/') && std::find(files.begin(), files.end(), path) == files.end())
        files.push_back(path);
    }
  }
  return files;
}

}  // namespace

Result<Program> program_of_recorded(const TraceFile& file) {
  const std::vector<std::string> files = files_of(file);
  if (files.empty()) return Error{file.path(), "the trace does not say which program it is of"};
  Result<Program> opened = Program::open(files[0]);
  if (!opened) return opened.error();
  Program program = std::move(opened).value();
  const auto& modules = file.modules().all();
  auto missing = [&](const Module& module) { return program.find(module.identity) == nullptr; };
  for (size_t f = 1; f < files.size() && std::any_of(modules.begin(), modules.end(), missing); ++f) {
    Result<Program> library = Program::open(files[f]);
    if (!library) continue;  // not built with Cleave
    for (ProgramModule& module : library.value().modules) {
      if (program.find(module.identity) == nullptr) program.modules.push_back(std::move(module));
    }
  }
  return program;
}

}  // namespace cleave
