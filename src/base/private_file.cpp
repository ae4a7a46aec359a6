#include "base/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cleave {
namespace {

Error cannot(const std::string& path) { return Error{path, std::strerror(errno)}; }

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = write(descriptor, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    text.remove_prefix(static_cast<size_t>(wrote));
  }
  return true;
}

// Not root's right to change other people's files: theirs stay as they are.
void make_private(int descriptor) {
  struct stat facts{};
  if (fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid())
    fchmod(descriptor, 0600);
}

}  // namespace

Result<int> create_private_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
  if (descriptor < 0) return cannot(path);
  make_private(descriptor);
  return descriptor;
}

Status write_private_file(const std::string& path, std::string_view text) {
  struct stat there{};
  const bool replaces =
      lstat(path.c_str(), &there) == 0 && (S_ISREG(there.st_mode) || S_ISLNK(there.st_mode));
  if (replaces && unlink(path.c_str()) != 0) return cannot(path);
  const bool other = !replaces && access(path.c_str(), F_OK) == 0;  // a device
  const int descriptor =
      open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | (other ? 0 : O_CREAT | O_EXCL | O_NOFOLLOW), 0600);
  if (descriptor < 0) return cannot(path);
  make_private(descriptor);
  const bool written = write_all(descriptor, text);
  const Error error = cannot(path);
  if (close(descriptor) != 0 && written) return cannot(path);
  if (written) return Done{};
  if (!other) unlink(path.c_str());  // half of it is of no use
  return error;
}

}  // namespace cleave
