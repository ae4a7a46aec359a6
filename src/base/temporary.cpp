#include "base/temporary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace cleave {
namespace {

const char* told_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != 0 ? folder : nullptr;
}

// Where the file system has no files without a name: one with a name for as long as it takes to remove it,
// which no signal may interrupt.
int make_and_unlink(const std::string& folder, std::string_view what) {
  std::string path = folder + "/cleave-" + std::string(what) + "-XXXXXX";
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const int descriptor = mkostemp(path.data(), O_CLOEXEC);
  const int error = errno;
  if (descriptor >= 0) unlink(path.c_str());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return descriptor;
}

int make_on_disk(const std::string& folder, std::string_view what) {
  const int descriptor = open(folder.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  const bool not_offered =
      descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT);
  return not_offered ? make_and_unlink(folder, what) : descriptor;
}

}  // namespace

std::string temporary_folder() { return told_folder() != nullptr ? told_folder() : "/tmp"; }

Result<TemporaryFile> TemporaryFile::make(std::string_view what, Place place) {
  const bool in_memory = place == Place::Memory || (place == Place::Either && told_folder() == nullptr);
  if (in_memory) {
    const int descriptor = memfd_create(fmt::format("cleave-{}", what).c_str(), MFD_CLOEXEC);
    if (descriptor >= 0) {
      fchmod(descriptor, 0600);
      return TemporaryFile(descriptor);
    }
  }
  const std::string folder = temporary_folder();
  const int descriptor = make_on_disk(folder, what);
  if (descriptor < 0) {
    return Error{folder, fmt::format("no temporary file can be made there: {}{}", std::strerror(errno),
                                     told_folder() != nullptr ? "; see TMPDIR" : "")};
  }
  fchmod(descriptor, 0600);
  return TemporaryFile(descriptor);
}

TemporaryFile::TemporaryFile(int descriptor)
    : descriptor_(descriptor), path_(fmt::format("/proc/{}/fd/{}", getpid(), descriptor)) {}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

TemporaryFile& TemporaryFile::operator=(TemporaryFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace cleave
