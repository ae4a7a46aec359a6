// Binary traces, as cleave record writes them: streamed as they go, or loaded.
//
// Streaming needs memory for what is open (one chunk a thread, atoms of memory, tables) and not for the
// events. A loaded trace has the same events, except that locations that were split later are split from the
// beginning, and objects that turned out to be members of others are resolved to the outermost.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/result.h"
#include "trace/core/stream.h"
#include "trace/recorded/event_builder.h"
#include "trace/recorded/trace_file.h"

namespace cleave {

struct ReadOptions {
  // Follow a file that is still being written: next() blocks until more comes, END is there, or this says
  // false.
  std::function<bool()> writer_alive;
  // Variables, objects and locks in memory that was given back leave their ids to others
  // (EventSource::freed), so that the tables are as large as what there is at a time. For those who judge
  // events as they come.
  bool reuse_ids = false;
  // A range of memory that is copied or filled is one location, of up to 4096 bytes, until a part of it is
  // touched: fewer events and variables, and the same conflicts. Its events have no value (kNoValue). Only
  // with reuse_ids.
  bool stretches = false;
  // What has been read of a file that is larger than this is erased: for one that nobody else wants. 0:
  // never.
  uint64_t erase_beyond = 0;
  // Told from time to time how many bytes of the file are done with: read, and erased where that is allowed.
  std::function<void(uint64_t)> on_progress;
  bool live() const { return static_cast<bool>(writer_alive); }
};

// What was learned on the way, for stats and validate.
struct ReadNotes {
  uint64_t unexplained_reads = 0;                        // reads whose value nobody is known to have written
  std::vector<std::pair<SiteId, uint64_t>> unexplained;  // by site, most first
};

class BinarySource : public BatchSource {
 public:
  virtual ReadNotes notes() const = 0;
  virtual const TraceFile& file() const = 0;
  // Sentences about what was lost or guessed; complete at the end.
  virtual std::vector<std::string> remarks() const = 0;
  // Bytes of the file that have been read, about; to be asked by any thread.
  virtual uint64_t position() const { return 0; }
};

// Works for both kinds of binary trace: recorded ones, and those that `trace import` wrote.
Result<std::unique_ptr<BinarySource>> open_binary_trace(const std::string& path,
                                                        const ReadOptions& options = {});

// A loaded trace together with where each event came from. `records` allows walking each thread's path again.
struct RecordedTrace {
  Trace trace;
  std::shared_ptr<const TraceFile> file;
  std::vector<EventOrigin> origins;    // of each event; empty for an imported trace
  std::vector<size_t> lane_of_thread;  // ThreadId → index into file->threads(), SIZE_MAX if it has no records
  ReadNotes notes;
};
Result<RecordedTrace> load_recorded_trace(const std::string& path);
Result<Trace> load_binary_trace(const std::string& path);

}  // namespace cleave
