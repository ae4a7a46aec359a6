// A file's bytes, mapped for reading; what cannot be mapped (a pipe) is read into memory instead.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cleave {

class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return {data_, size_}; }
  // Looks whether the file has grown and maps what is new. Earlier views become invalid when it returns true.
  // A file that has become shorter keeps its old size: its bytes are gone, but no view of ours points beyond
  // the mapping.
  bool grow();
  // Copies what the file has at `from` now, without mapping it; false if it has less. What is used once and
  // at once costs less so than through pages of the mapping.
  bool copy(size_t from, void* into, size_t bytes) const;
  // These bytes are not wanted for now: the memory that holds them may go. They can still be read.
  void let_go(size_t from, size_t to) const;

 private:
  MappedFile() = default;
  void close();
  int descriptor_ = -1;
  const char* data_ = nullptr;
  size_t size_ = 0;
  bool mapped_ = false;
  std::string copy_;
};

}  // namespace cleave
