#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace cleave {
namespace {

Error cannot(const std::string& path, const char* what) {
  return Error{path, std::string(what) + ": " + std::strerror(errno)};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  MappedFile file;
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file.descriptor_ < 0) return cannot(path, "cannot be opened");
  struct stat status{};
  if (fstat(file.descriptor_, &status) != 0) return cannot(path, "cannot be read");
  if (S_ISDIR(status.st_mode)) return Error{path, "is a directory, not a file"};
  if (S_ISREG(status.st_mode)) {
    file.mapped_ = true;
    file.grow();
    if (file.data_ != nullptr || status.st_size == 0) return file;
    return cannot(path, "cannot be mapped");
  }
  char buffer[1 << 16];
  for (ssize_t got; (got = read(file.descriptor_, buffer, sizeof buffer)) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot(path, "cannot be read");
    file.copy_.append(buffer, static_cast<size_t>(got));
  }
  file.data_ = file.copy_.data();
  file.size_ = file.copy_.size();
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this == &other) return *this;
  close();
  descriptor_ = std::exchange(other.descriptor_, -1);
  mapped_ = other.mapped_;
  size_ = std::exchange(other.size_, 0);
  data_ = std::exchange(other.data_, nullptr);
  copy_ = std::move(other.copy_);
  if (!mapped_ && data_ != nullptr) data_ = copy_.data();
  return *this;
}

MappedFile::~MappedFile() { close(); }

void MappedFile::close() {
  if (mapped_ && data_ != nullptr) munmap(const_cast<char*>(data_), size_);
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  data_ = nullptr;
  size_ = 0;
}

void MappedFile::let_go(size_t from, size_t to) const {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  from = from / page * page;
  to = std::min(to, size_) / page * page;
  if (mapped_ && from < to) madvise(const_cast<char*>(data_) + from, to - from, MADV_DONTNEED);
}

bool MappedFile::copy(size_t from, void* into, size_t bytes) const {
  if (!mapped_) {
    if (from > size_ || bytes > size_ - from) return false;
    std::memcpy(into, data_ + from, bytes);
    return true;
  }
  for (size_t done = 0; done < bytes;) {
    ssize_t got =
        pread(descriptor_, static_cast<char*>(into) + done, bytes - done, static_cast<off_t>(from + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<size_t>(got);
  }
  return true;
}

bool MappedFile::grow() {
  struct stat status{};
  if (!mapped_ || fstat(descriptor_, &status) != 0) return false;
  auto size = static_cast<size_t>(status.st_size);
  if (size <= size_) return false;
  void* data = data_ == nullptr ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor_, 0)
                                : mremap(const_cast<char*>(data_), size_, size, MREMAP_MAYMOVE);
  if (data == MAP_FAILED) return false;
  data_ = static_cast<const char*>(data);
  size_ = size;
  return true;
}

}  // namespace cleave
