// A stream: the raw words of one thread (or of one signal handler on top of a thread) on their way into the
// file.
//
// Thread contract. Only the thread that owns a stream writes into its buffer. It encodes and appends the
// buffer itself when it is full. Another thread may do that for it when the process ends, executes another
// program or crashes: `claimed` says who is at it, and whoever does not have it waits. A record that its
// owner is still writing is left for the owner, or, when there is no later, written as far as it came.
//
// Cost: a compare-exchange per full buffer; nothing per record.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <atomic>

#include "abi/hooks.h"
#include "abi/record.h"

namespace cleave::runtime {

enum Record : uint64_t {
#define CLEAVE_RECORD(name, number, words, text) kRecord_##name = number,
#include "abi/runtime_records.def"
#undef CLEAVE_RECORD
};

inline constexpr uint32_t kNobody = UINT32_MAX;
inline constexpr size_t kPage = 4096;
// Words behind `limit` that are always free, so that a crash can still add its last records without flushing.
inline constexpr size_t kSlackWords = 32;
// A time stamp stands in the buffer at least every so many words.
inline constexpr size_t kStampWords = 512;
// Under noise a thread comes by at least every so many words.
inline constexpr size_t kNoiseWords = 24;

enum class Claim : uint32_t { Free, Owner, Other, Closed };

struct Stream {
  uint64_t* base = nullptr;     // the buffer
  uint64_t* end = nullptr;      // one past what records may use; slack follows
  uint64_t* flushed = nullptr;  // everything before this is in the file
  cleave_thread_block saved{};  // the thread's block while something else runs on top of this stream
  // Where cursor stands: the thread's own block while the stream is current, `saved` otherwise.
  std::atomic<cleave_thread_block*> block{nullptr};
  std::atomic<Claim> claimed{Claim::Free};
  uint32_t number = kNobody;  // thread number in the trace
  uint32_t parent = kNobody;
  uint64_t sequence = 0;                    // next chunk
  uint64_t flush_stamp = 0;                 // when it was last flushed
  std::atomic<uint64_t>* stripe = nullptr;  // held, or about to be, by an atomic operation in progress
};

// How far a stream may be written.
enum class Extent {
  Whole,    // the owner calls: every record is complete
  Settled,  // the owner may be at work: leave its last record to it
  Broken,   // there is no later: what there is of the last record, with a `cut`
};

// Encodes and appends what is not yet in the file, up to `cursor`. The caller has the claim.
void write_stream(Stream& stream, uint64_t* cursor, Extent extent);
// The owner's own: claims, writes, empties the buffer and sets the thread's block to its start.
void flush_own(Stream& stream);
// Somebody else's, or one below the current one. `for_good` closes it: later records go nowhere.
void flush_other(Stream& stream, Extent extent, bool for_good);
// After a jump or crash out of the middle of a record: cuts it, and gives where the next may stand.
uint64_t* repair(Stream& stream, uint64_t* cursor);

// Makes the words of a buffer such that it shows which of them a record has stored.
void make_unwritten(uint64_t* from, const uint64_t* to);
// Payload words that a segment has stored.
size_t stored_words(const uint64_t* record, size_t payload);

// Payload words of the record at `record`, its header included; 0 when the header was not written.
size_t record_words(const uint64_t* record);

}  // namespace cleave::runtime
