// The file through which the tool and the scheduler inside the program talk (abi/control.h).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "abi/control.h"
#include "base/result.h"
#include "base/temporary.h"
#include "exec/run.h"
#include "exec/tables.h"

namespace cleave::exec {

// The segments at the places that a request speaks of.
struct RequestPlaces {
  std::vector<std::vector<SegmentPlace>> milestones;  // for each of the plan
  struct OfConstraint {
    std::vector<SegmentPlace> after, then, between;
  };
  std::vector<OfConstraint> constraints;
};

// Made for one run, gone with the object.
class ControlFile {
 public:
  static Result<ControlFile> make(const RunRequest& request, const RequestPlaces& places);
  ~ControlFile();
  ControlFile(ControlFile&& other) noexcept;
  ControlFile(const ControlFile&) = delete;
  ControlFile& operator=(const ControlFile&) = delete;

  const std::string& path() const { return file_->path(); }
  const cleave_control_header& header() const { return *header_; }

  // What the program's scheduler noted: complete even if the program was killed.
  Schedule schedule() const;
  std::vector<cleave_control_wait> waits() const;
  std::vector<std::string> thread_paths() const;
  std::vector<ModuleIdentity> modules() const;

 private:
  using Area = cleave_control_area cleave_control_header::*;

  ControlFile() = default;
  // What the program has put into one of its areas, wherever it says that lies: it may have written over the
  // header.
  std::span<const char> bytes_in(Area area) const;
  template <typename Entry>
  std::vector<Entry> read(Area area) const;

  std::optional<TemporaryFile> file_;  // always there once made
  cleave_control_header* header_ = nullptr;
  cleave_control_header made_{};  // as we made it
  uint64_t bytes_ = 0;
};

}  // namespace cleave::exec
