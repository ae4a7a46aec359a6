// The binary trace file of abi/trace_file.h: its chunks found, checked and indexed. Random access by thread
// and chunk; what the chunks mean is for records.h, reader.h and plain_events.h.
//
// Opening reads the whole file once to check it. What follows the first damaged or cut-off chunk is left out
// and said in remarks(). A live file is one that its program still writes: refresh() looks for more.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "abi/trace_file.h"
#include "base/mapped_file.h"
#include "base/result.h"
#include "trace/recorded/modules.h"

namespace cleave {

struct RecordChunk {
  uint64_t offset = 0;  // of the chunk's header in the file
  uint32_t stored_bytes = 0;
  uint32_t words = 0;
  uint32_t records = 0;
  uint64_t first_record = 0;  // number of its first record within the thread
  bool continues = false;     // its coding goes on from the chunk before
  bool raw = false;           // the body is the words themselves; records is 0, and first_record says nothing
};

struct ThreadChunks {
  uint32_t number = 0;  // as the runtime counts
  std::vector<RecordChunk> chunks;
  uint64_t records = 0;  // in those that count them
  bool raw = false;      // some do not
};

struct OtherChunk {
  uint32_t kind = 0;  // a cleave_chunk_kind, or what a damaged file says
  uint64_t offset = 0;
  uint32_t stored_bytes = 0;
};

class TraceFile {
 public:
  // An Error when there is no file, or it is no binary trace at all, or of another version.
  static Result<TraceFile> open(const std::string& path, bool live = false);

  // Up to where the file has been taken in.
  uint64_t scanned() const { return at_; }
  // All records before `offset` have been read and are not wanted again: they need no memory from here on,
  // and with `erase` no room on the disk either; the file keeps its size. That they cannot be erased is no
  // misfortune.
  void read_up_to(uint64_t offset, bool erase);

  // Takes in what has been added since; true if there is anything new. Invalidates earlier spans.
  bool refresh();

  const std::string& path() const { return path_; }
  const std::vector<ThreadChunks>& threads() const { return threads_; }  // in order of first appearance
  const Modules& modules() const { return modules_; }
  const std::vector<OtherChunk>& others() const { return others_; }  // all but records and modules
  uint64_t process_id() const { return header_.process; }
  uint64_t bytes() const { return file_.bytes().size(); }
  bool ended() const { return ended_; }      // the program's END is there
  bool damaged() const { return damaged_; }  // nothing after this point is read
  const std::vector<std::string>& remarks() const { return remarks_; }

  std::span<const uint8_t> body(const RecordChunk& chunk) const {
    return body_at(chunk.offset, chunk.stored_bytes);
  }
  // Copies the words of a raw chunk; null, or what is wrong with it.
  const char* copy_raw(const RecordChunk& chunk, uint64_t* words) const;
  std::span<const uint8_t> body(const OtherChunk& chunk) const {
    return body_at(chunk.offset, chunk.stored_bytes);
  }
  // Text of the first chunk of a kind (PROCESS, END), empty if there is none.
  std::string_view text(cleave_chunk_kind kind) const;
  // Text of the last one: an END that says "exec" may be followed by another.
  std::string_view last_text(cleave_chunk_kind kind) const;

 private:
  TraceFile(MappedFile file, std::string path, bool live)
      : file_(std::move(file)), path_(std::move(path)), live_(live) {}
  bool scan();
  bool take(const cleave_chunk_header& header);
  bool fits(const cleave_chunk_header& header);
  void damage(uint64_t offset, const char* what);
  std::span<const uint8_t> body_at(uint64_t offset, uint32_t bytes) const;

  MappedFile file_;
  std::string path_;
  bool live_ = false;
  cleave_file_header header_{};
  uint64_t at_ = 0;  // where the next chunk begins
  bool ended_ = false, damaged_ = false;
  std::vector<ThreadChunks> threads_;
  std::map<uint32_t, size_t> thread_index_;
  Modules modules_;
  std::vector<OtherChunk> others_;
  std::vector<std::string> remarks_;
  struct Stretch {
    uint64_t begin = 0, end = 0;
  };
  std::vector<Stretch> records_;  // of the file that are nothing but records
  uint64_t let_go_ = 0, erased_ = 0;
};

}  // namespace cleave
