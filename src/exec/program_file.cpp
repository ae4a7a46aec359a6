// Finding the program, and whether it was built with Cleave.
#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "exec/launch.h"

namespace cleave::exec {
namespace {

Error cannot(const std::string& path, int error) {
  return Error{path, fmt::format("cannot be executed: {}", strerror(error))};
}

Status executable(const std::string& path) {
  struct stat facts{};
  if (stat(path.c_str(), &facts) != 0) return cannot(path, errno);
  if (S_ISDIR(facts.st_mode)) return cannot(path, EISDIR);
  if (access(path.c_str(), X_OK) != 0) return cannot(path, errno);
  return Done{};
}

template <typename T>
bool read_at(std::ifstream& file, uint64_t offset, T& into) {
  file.clear();
  return file.seekg(static_cast<std::streamoff>(offset)) &&
         file.read(reinterpret_cast<char*>(&into), sizeof into);
}

// Where in the file the byte lies that is loaded at `address`; 0 if nowhere.
uint64_t offset_of(const std::vector<Elf64_Phdr>& headers, uint64_t address) {
  for (const Elf64_Phdr& header : headers)
    if (header.p_type == PT_LOAD && address >= header.p_vaddr && address - header.p_vaddr < header.p_filesz)
      return header.p_offset + (address - header.p_vaddr);
  return 0;
}

std::vector<std::string> needed_libraries(std::ifstream& file, const std::vector<Elf64_Phdr>& headers) {
  std::vector<uint64_t> names;
  uint64_t strings = 0;
  for (const Elf64_Phdr& header : headers) {
    if (header.p_type != PT_DYNAMIC) continue;
    uint64_t count = std::min<uint64_t>(header.p_filesz / sizeof(Elf64_Dyn), 4096);
    for (uint64_t i = 0; i < count; ++i) {
      Elf64_Dyn entry;
      if (!read_at(file, header.p_offset + i * sizeof entry, entry) || entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
      if (entry.d_tag == DT_STRTAB) strings = offset_of(headers, entry.d_un.d_ptr);
    }
  }
  std::vector<std::string> libraries;
  for (uint64_t name : names) {
    file.clear();
    std::string library;
    if (strings != 0 && file.seekg(static_cast<std::streamoff>(strings + name)))
      std::getline(file, library, '\0');
    libraries.push_back(library);
  }
  return libraries;
}

// The ELF header's program headers; empty when this is not an ELF file.
Result<std::vector<Elf64_Phdr>> program_headers(const std::string& path, std::ifstream& file) {
  Elf64_Ehdr header;
  if (!read_at(file, 0, header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return std::vector<Elf64_Phdr>{};
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
    return Error{path, "is not a program for x86-64"};
  std::vector<Elf64_Phdr> headers(header.e_phnum);
  for (size_t i = 0; i < headers.size(); ++i)
    if (!read_at(file, header.e_phoff + i * sizeof(Elf64_Phdr), headers[i]))
      return Error{path, "the program file is cut off"};
  return headers;
}

// Libraries that bring a scheduler of their own: their barriers, tasks and critical sections are made of
// spinning and futexes inside code that is not recorded, so a trace would have accesses without their order.
struct ForeignScheduler {
  std::string_view prefix;  // of the library's file name
  std::string_view name;
};
constexpr ForeignScheduler kForeignSchedulers[] = {
    {"libomp.so", "OpenMP"},  {"libomp5.so", "OpenMP"}, {"libiomp5.so", "OpenMP"},
    {"libgomp.so", "OpenMP"}, {"libtbb.so", "TBB"},
};

Status check_schedulers(const std::string& name, const std::vector<std::string>& libraries) {
  for (const std::string& library : libraries)
    for (const ForeignScheduler& scheduler : kForeignSchedulers)
      if (library.starts_with(scheduler.prefix))
        return Error{name,
                     fmt::format("uses {} ({}), whose synchronization Cleave does not see yet; only `cleave "
                                 "static` can analyze it",
                                 scheduler.name, library)};
  return Done{};
}

}  // namespace

Result<std::string> find_program(const std::string& name) {
  if (name.empty()) return Error{"", "no program was given; put it after --"};
  if (name.find('/') != std::string::npos) {
    Status status = executable(name);
    return status ? Result<std::string>(name) : Result<std::string>(status.error());
  }
  const char* path = getenv("PATH");
  std::string directories = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  for (size_t at = 0; at <= directories.size();) {
    size_t end = std::min(directories.find(':', at), directories.size());
    std::string directory = directories.substr(at, end - at);
    std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
    if (executable(candidate)) return candidate;
    at = end + 1;
  }
  std::string hint = executable("./" + name) ? fmt::format("; did you mean ./{}?", name) : "";
  return Error{name, "there is no such program in PATH" + hint};
}

Result<ProgramKind> kind_of_program(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return cannot(path, errno);
  Result<std::vector<Elf64_Phdr>> headers = program_headers(path, file);
  if (!headers) return headers.error();
  if (headers.value().empty()) return ProgramKind::NotElf;
  for (const std::string& library : needed_libraries(file, headers.value()))
    if (library.starts_with("libcleave_rt.so")) return ProgramKind::Instrumented;
  return ProgramKind::NotInstrumented;
}

Status check_instrumented(const std::string& name) {
  Result<std::string> path = find_program(name);
  if (!path) return path.error();
  Result<ProgramKind> kind = kind_of_program(path.value());
  if (!kind) return kind.error();
  if (kind.value() == ProgramKind::NotInstrumented)
    return Error{
        name,
        "was not built with Cleave; build it with cleave-cc or cleave-c++ (CC=cleave-cc CXX=cleave-c++)"};
  if (kind.value() == ProgramKind::NotElf) return Done{};
  std::ifstream file(path.value(), std::ios::binary);
  Result<std::vector<Elf64_Phdr>> headers = program_headers(path.value(), file);
  if (!headers) return headers.error();
  return check_schedulers(name, needed_libraries(file, headers.value()));
}

}  // namespace cleave::exec
