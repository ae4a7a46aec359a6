// Raw records of one thread, as it wrote them: for whoever walks a thread's path again (symbolic/), and
// underneath the reader. Random access by record number; a cursor holds one decoded chunk.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "abi/codec.h"
#include "abi/record.h"
#include "trace/recorded/trace_file.h"

namespace cleave {

enum class RecordKind : uint16_t {
  segment = 0,
#define CLEAVE_RECORD(name, number, words, text) name = number,
#include "abi/runtime_records.def"
#undef CLEAVE_RECORD
};

struct Record {
  RecordKind kind = RecordKind::segment;
  uint16_t branches = 1;  // outcomes since the previous record, below a sentinel 1; see branch_count
  const SegmentPlan* segment = nullptr;  // of a segment
  std::span<const uint64_t> words;       // payload
  uint64_t number = 0;                   // within the thread, from 0
};

// Conditional branches that a header tells of, and the outcome of the i-th, oldest first.
inline uint32_t branch_count(uint16_t branches) {
  return branches == 0 ? 0 : 31 - static_cast<uint32_t>(__builtin_clz(branches));
}
inline bool branch_outcome(uint16_t branches, uint32_t i) {
  return branches >> (branch_count(branches) - 1 - i) & 1;
}

// Where in the payload of a runtime's record its order stands; kNowhere if it has none.
struct RecordShape {
  static constexpr uint8_t kNowhere = 0xff;
  uint16_t words = 0;  // 0xffff: the first says how many follow
  uint8_t ticket = kNowhere, ticket2 = kNowhere, stamp = kNowhere;
  bool known = false;
};
const RecordShape& shape_of(uint64_t number);

// One decoded chunk: raw words, header and payload of every record one after the other.
class DecodedChunk {
 public:
  // A record with a stamp, for interpolation between them.
  struct Mark {
    uint32_t position;  // of its header in words()
    uint64_t stamp;
  };
  // Null on success. On failure the records decoded so far are there, and what is wrong is returned. One
  // after the other costs one chunk each; elsewhere up to CLEAVE_CHUNK_LONGEST_RUN.
  const char* decode(const TraceFile& file, const std::vector<RecordChunk>& chunks, size_t index);

  std::span<const uint64_t> words() const { return {words_.data(), size_}; }
  const std::vector<Mark>& marks() const { return marks_; }
  // Of the chunk's record with this number, from 0; null for a record of the runtime.
  const SegmentPlan* segment(size_t record) const { return segments_[record]; }
  uint64_t offset() const { return offset_; }
  // Gives back all memory; more can be decoded all the same.
  void release();

 private:
  const char* decode_next(const TraceFile& file, const RecordChunk& chunk);
  const char* take_raw(const TraceFile& file, const RecordChunk& chunk);
  std::vector<uint64_t> words_;
  size_t size_ = 0;
  std::vector<Mark> marks_;
  std::vector<const SegmentPlan*> segments_;  // by record
  uint64_t offset_ = 0;                       // of the chunk that is here
  uint64_t coded_ = 0;  // offset of the chunk that left the codec's tables as they are; 0: none
  std::unique_ptr<cleave_codec> codec_;  // tens of kilobytes; null until it is needed
};

// Walks the records of one thread.
class RecordCursor {
 public:
  // `thread` is an index into TraceFile::threads(). The file must outlive the cursor and not be refreshed.
  RecordCursor(const TraceFile& file, size_t thread) : file_(file), thread_(thread) {}

  // The next record, or null at the end; valid until the next call.
  const Record* next();
  // The next call of next() gives this record. O(log chunks) and the decoding of one chunk, of
  // raw ones all before it.
  void seek(uint64_t record);
  // What stopped the walk before the end of the thread, or null.
  const char* problem() const { return problem_; }

 private:
  bool open_chunk();
  const TraceFile& file_;
  size_t thread_;
  size_t chunk_ = 0;  // next to be opened
  bool open_ = false;
  uint32_t position_ = 0;
  uint64_t skip_ = 0;
  uint64_t upcoming_ = 0;  // number of the next record
  const char* problem_ = nullptr;
  DecodedChunk decoded_;
  Record record_;
};

}  // namespace cleave
