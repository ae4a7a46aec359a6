// The file through which the tool and the scheduler inside the program talk (abi/control.h).
#pragma once

#include <memory>
#include <string>

#include "abi/control.h"
#include "base/result.h"
#include "exec/run.h"
#include "exec/tables.h"

namespace cleave::exec {

// Made for one run, gone with the object.
class ControlFile {
 public:
  // `places` holds, for each milestone of the request's plan, the segments at its place.
  static Result<ControlFile> make(const RunRequest& request, const std::vector<std::vector<SegmentPlace>>& places);
  ~ControlFile();
  ControlFile(ControlFile&& other) noexcept;
  ControlFile(const ControlFile&) = delete;
  ControlFile& operator=(const ControlFile&) = delete;

  const std::string& path() const { return path_; }
  const cleave_control_header& header() const { return *header_; }

  // What the program's scheduler noted: complete even if the program was killed.
  Schedule schedule() const;
  std::vector<cleave_control_wait> waits() const;
  std::vector<std::string> thread_paths() const;
  std::vector<ModuleIdentity> modules() const;

 private:
  ControlFile() = default;
  template <typename Entry>
  std::vector<Entry> read(const cleave_control_area& area) const;

  std::string path_;
  int descriptor_ = -1;  // of a file in memory; a file on disk has none
  cleave_control_header* header_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace cleave::exec
