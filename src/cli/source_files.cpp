#include "cli/source_files.h"

#include "confirm/program_line.h"
#include "exec/launch.h"
#include "exec/tables.h"
#include "program/program.h"

namespace cleave::cli {
namespace {

void add_files(const SiteTables& tables, std::set<std::string, std::less<>>& files) {
  auto add = [&](uint32_t index) {
    if (index < tables.strings.size()) files.insert(tables.strings[index]);
  };
  for (const SiteEntry& site : tables.sites) add(site.file);
  for (const FunctionEntry& function : tables.functions) add(function.file);
}

std::set<std::string, std::less<>> files_of(const std::string& path) {
  std::set<std::string, std::less<>> files;
  if (Result<Program> program = Program::open(path); program)
    for (const ProgramModule& module : program.value().modules) add_files(module.tables, files);
  return files;
}

// A trace has tables too, but whoever wrote the trace wrote them: only the program's own count.
std::set<std::string, std::less<>> files_of_program_of(const std::string& trace) {
  Result<confirm::ProgramLine> line = confirm::program_of_trace(trace);
  Result<exec::ProgramTables> tables = exec::ProgramTables::read(trace);
  if (!line || !tables) return {};
  exec::NamedProgram named;
  named.named_by = trace;
  named.path = line.value().words.front();
  named.directory = line.value().directory;
  named.build_id = line.value().build_id;
  for (const exec::ModuleTables& module : tables.value().modules()) named.modules.push_back(module.identity);
  Result<exec::CheckedProgram> program = exec::check_program(named, false);
  return program ? files_of(program.value().path) : std::set<std::string, std::less<>>();
}

}  // namespace

report::SourceFiles source_files(const Findings& findings, const CommonOptions& options) {
  report::SourceFiles files;
  files.roots = options.source_roots;
  files.roots.emplace_back(".");
  if (findings.findings.empty()) return files;
  if (!options.program_file.empty()) {
    if (Result<std::string> path = exec::find_program(options.program_file); path)
      files.listed = files_of(path.value());
  } else if (!findings.trace.empty()) {
    files.listed = files_of_program_of(findings.trace);
  }
  return files;
}

}  // namespace cleave::cli
