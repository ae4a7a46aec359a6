// Files that nobody asked to keep: the one place that makes them.
//
// They have no name. So there is no name that somebody else could guess, follow or have put there first, and
// none that could be left behind: the file is gone when the last process that has it open is gone, however
// that ends.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cleave {

// Where temporary files go: TMPDIR, or /tmp where that is not set.
std::string temporary_folder();

class TemporaryFile {
 public:
  enum class Place {
    Disk,    // in temporary_folder()
    Memory,  // never on a disk
    Either,  // in memory unless TMPDIR says where
  };
  // Empty, mode 0600. `what` is for people who look at /proc. An Error that names the folder when it cannot
  // be made.
  static Result<TemporaryFile> make(std::string_view what, Place place = Place::Disk);

  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&& other) noexcept;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  // Under this path this process and every other one of this user can open it, as long as this object lives.
  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }

 private:
  explicit TemporaryFile(int descriptor);
  int descriptor_ = -1;
  std::string path_;
};

}  // namespace cleave
