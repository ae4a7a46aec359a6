#include "exec/trust.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/mapped_file.h"
#include "base/ownership.h"
#include "base/printable.h"
#include "exec/launch.h"
#include "program/program.h"

namespace cleave::exec {
namespace {

constexpr std::string_view kLoader = "/lib64/ld-linux-x86-64.so.2";
constexpr const char* kTrust = "; if you trust both, say --trust";

// Closed with the object.
struct Descriptor {
  int number = -1;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

// What the program headers say.
struct ElfFacts {
  std::string interpreter, build_id;
};

std::string_view part(std::string_view bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return {};
  return bytes.substr(offset, size);
}

std::string build_id_in(std::string_view notes) {
  auto aligned = [](uint64_t size) { return (size + 3) & ~uint64_t{3}; };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof note);
    const uint64_t contents = sizeof note + aligned(note.n_namesz);
    const std::string_view id = part(notes, contents, note.n_descsz);
    if (note.n_type == NT_GNU_BUILD_ID &&
        part(notes, sizeof note, note.n_namesz) == std::string_view("GNU", 4)) {
      std::string text;
      for (unsigned char byte : id) text += fmt::format("{:02x}", byte);
      return text;
    }
    notes.remove_prefix(std::min<uint64_t>(notes.size(), contents + aligned(note.n_descsz)));
  }
  return {};
}

ElfFacts facts_of(std::string_view bytes) {
  ElfFacts facts;
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header) return facts;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr entry;
    const std::string_view place = part(bytes, header.e_phoff + i * sizeof entry, sizeof entry);
    if (place.empty()) break;
    std::memcpy(&entry, place.data(), sizeof entry);
    const std::string_view contents = part(bytes, entry.p_offset, entry.p_filesz);
    if (entry.p_type == PT_INTERP) facts.interpreter = contents.substr(0, contents.find('\0'));
    if (entry.p_type == PT_NOTE && facts.build_id.empty()) facts.build_id = build_id_in(contents);
  }
  return facts;
}

CheckedProgram identity_of(std::string path, const struct stat& facts) {
  return {std::move(path), facts.st_dev, facts.st_ino,
          int64_t{facts.st_ctim.tv_sec} * 1'000'000'000 + facts.st_ctim.tv_nsec, facts.st_size};
}

// That it is what Cleave recorded. `open` is a path to the opened file, so that nothing can be put in its
// place meanwhile.
Status check_build(const NamedProgram& named, const std::string& path, const std::string& open) {
  Result<ProgramKind> kind = kind_of_program(open);
  if (!kind) return Error{path, kind.error().message};
  if (kind.value() == ProgramKind::NotElf)
    return Error{path,
                 fmt::format("is no program that Cleave built, so it is not run for {}", named.named_by)};
  if (kind.value() == ProgramKind::NotInstrumented)
    return Error{path, fmt::format("was not built with Cleave, so it is not run for {}", named.named_by)};
  Result<MappedFile> mapped = MappedFile::open(open);
  if (!mapped) return Error{path, mapped.error().message};
  const ElfFacts facts = facts_of(mapped.value().bytes());
  if (facts.interpreter != kLoader)
    return Error{path,
                 fmt::format("is run by {} and not by the system's loader, so it is not run for {}",
                             facts.interpreter.empty() ? "nothing" : facts.interpreter, named.named_by)};
  if (named.modules.empty())
    return Error{path,
                 fmt::format("is not run for {}, which does not say of which build it is", named.named_by)};
  const Error other{path,
                    fmt::format("is another build: it was built again since {} was recorded; record it again",
                                named.named_by)};
  if (!named.build_id.empty() && facts.build_id != named.build_id) return other;
  Result<Program> program = Program::open(open);
  if (!program) return Error{path, program.error().message};
  size_t missing = 0;
  for (const ProgramModule& module : program.value().modules)
    missing += std::find(named.modules.begin(), named.modules.end(), module.identity) == named.modules.end();
  const bool some = missing < program.value().modules.size();
  if (missing != 0 && !(named.ends_early && some)) return other;
  return Done{};
}

}  // namespace

bool CheckedProgram::is_unchanged() const {
  struct stat facts{};
  if (stat(path.c_str(), &facts) != 0) return false;
  const int64_t now = int64_t{facts.st_ctim.tv_sec} * 1'000'000'000 + facts.st_ctim.tv_nsec;
  return facts.st_dev == device && facts.st_ino == file && now == changed && facts.st_size == bytes;
}

Result<CheckedProgram> check_program(const NamedProgram& named, bool trust) {
  std::string path = named.path;
  if (path.find('/') == std::string::npos)
    return Error{path, fmt::format("{} does not say which file this is", named.named_by)};
  if (!path.starts_with('/') && !named.directory.empty()) path = named.directory + "/" + path;
  const std::unique_ptr<char, void (*)(void*)> resolved(realpath(path.c_str(), nullptr), std::free);
  if (!resolved)
    return Error{path, fmt::format("the program that {} was recorded from is not there: {}", named.named_by,
                                   std::strerror(errno))};
  path = resolved.get();
  // Not blocking: a pipe can be named too.
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)};
  struct stat facts{};
  if (file.number < 0 || fstat(file.number, &facts) != 0)
    return Error{path, fmt::format("cannot be read: {}", std::strerror(errno))};
  if (!S_ISREG(facts.st_mode)) return Error{path, "is not a file that can be run"};
  if ((facts.st_mode & (S_ISUID | S_ISGID)) != 0)
    return Error{path, "runs with other rights than yours (set-user-ID), so it is not run for a file"};
  if (!trust) {
    for (const std::string& each : {named.named_by, path})
      if (Status ours = only_we_can_write(each); !ours)
        return Error{path, fmt::format("is not run for {}: {} {}{}", named.named_by, ours.error().place,
                                       ours.error().message, kTrust)};
  }
  const std::string open = fmt::format("/proc/self/fd/{}", file.number);
  if (Status built = check_build(named, path, open); !built) return built.error();
  if (access(path.c_str(), X_OK) != 0)
    return Error{path, fmt::format("cannot be executed: {}", std::strerror(errno))};
  return identity_of(std::move(path), facts);
}

bool steers_what_is_loaded(std::string_view variable) {
  // What glibc drops in set-user-ID programs, and what makes a shell or an interpreter run something.
  constexpr std::array<std::string_view, 24> kNames = {
      "GCONV_PATH", "GETCONF_DIR",   "GLIBC_TUNABLES", "HOSTALIASES",      "LOCALDOMAIN", "LOCPATH",
      "NIS_PATH",   "NLSPATH",       "RES_OPTIONS",    "RESOLV_HOST_CONF", "TMPDIR",      "TZDIR",
      "PATH",       "ENV",           "BASH_ENV",       "SHELLOPTS",        "PS4",         "IFS",
      "PYTHONPATH", "PYTHONSTARTUP", "PERL5LIB",       "PERL5OPT",         "RUBYOPT",     "NODE_OPTIONS"};
  return variable.starts_with("LD_") || variable.starts_with("MALLOC_") ||
         variable.starts_with("BASH_FUNC_") || variable.starts_with("CLEAVE_") ||
         std::find(kNames.begin(), kNames.end(), variable) != kNames.end();
}

std::string command_text(const CheckedProgram& program, const std::vector<std::string>& words) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+-@%";
  auto quoted = [](const std::string& word) {
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
    std::string text = "'";
    for (char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
    return printable(text + "'");
  };
  std::string text = quoted(program.path);
  for (size_t i = 1; i < words.size(); ++i) text += " " + quoted(words[i]);
  return text;
}

}  // namespace cleave::exec
