#include "report/source_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <memory>

namespace cleave::report {
namespace {

std::optional<std::string> resolved(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
  if (!real) return std::nullopt;
  return real.get();
}

// As C and C++ sources are called, and what they include.
bool is_named_like_source(std::string_view path) {
  constexpr std::array<std::string_view, 25> kEndings = {
      ".c", ".cc",  ".cp",  ".cpp", ".cxx", ".c++", ".C",   ".h",   ".hh",  ".hp", ".hpp", ".hxx", ".h++",
      ".H", ".inc", ".inl", ".ipp", ".ixx", ".tcc", ".tpp", ".txx", ".def", ".y",  ".l",   ".cppm"};
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const size_t dot = name.rfind('.');
  return dot != name.npos && dot > 0 &&
         std::find(kEndings.begin(), kEndings.end(), name.substr(dot)) != kEndings.end();
}

bool is_below(std::string_view path, std::string_view root) {
  if (root != "/" && !path.starts_with(root)) return false;
  return root == "/" || (path.size() > root.size() && path[root.size()] == '/');
}

// The file that the name means, if it may be opened.
std::optional<std::string> allowed_path(const SourceFiles& allowed, const std::string& name) {
  if (allowed.listed.contains(name)) return resolved(name);
  for (const std::string& folder : allowed.roots) {
    const std::optional<std::string> root = resolved(folder);
    const std::optional<std::string> path = resolved(name.starts_with('/') ? name : folder + "/" + name);
    if (root && path && is_below(*path, *root) && is_named_like_source(*path)) return path;
  }
  return std::nullopt;
}

// Nothing if it is no regular file or too long. Never blocks, as opening a pipe would.
std::string contents(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  if (descriptor < 0) return {};
  struct stat facts{};
  std::string text;
  if (fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) &&
      static_cast<uint64_t>(facts.st_size) <= kLargestSource) {
    text.resize(static_cast<size_t>(facts.st_size));
    size_t size = 0;
    while (size < text.size()) {
      const ssize_t got = read(descriptor, text.data() + size, text.size() - size);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      size += static_cast<size_t>(got);
    }
    text.resize(size);
  }
  close(descriptor);
  return text;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

SourceLine source_lines_from_disk(SourceFiles allowed) {
  auto files = std::make_shared<std::map<std::string, std::vector<std::string>, std::less<>>>();
  return [files, allowed = std::move(allowed)](std::string_view file,
                                               uint32_t number) -> std::optional<std::string> {
    auto it = files->find(file);
    if (it == files->end()) {
      const std::optional<std::string> path = allowed_path(allowed, std::string(file));
      it = files->emplace(std::string(file), path ? lines_of(contents(*path)) : std::vector<std::string>())
               .first;
    }
    if (number == 0 || number > it->second.size()) return std::nullopt;
    return it->second[number - 1];
  };
}

}  // namespace cleave::report
