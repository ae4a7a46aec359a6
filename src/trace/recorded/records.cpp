#include "trace/recorded/records.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace cleave {
namespace {

constexpr size_t kNumbers = 64;  // of the records there are; more are not known to this version

constexpr std::array<RecordShape, kNumbers> make_shapes() {
  std::array<RecordShape, kNumbers> shapes{};
#define CLEAVE_RECORD(name, number, count, text) shapes[number].words = count, shapes[number].known = true;
#include "abi/runtime_records.def"
#undef CLEAVE_RECORD
  auto order = [&](RecordKind kind, uint8_t ticket, uint8_t stamp, uint8_t ticket2 = RecordShape::kNowhere) {
    RecordShape& shape = shapes[static_cast<size_t>(kind)];
    shape.ticket = ticket;
    shape.stamp = stamp;
    shape.ticket2 = ticket2;
  };
  constexpr uint8_t kNowhere = RecordShape::kNowhere;
  using enum RecordKind;
  order(stamp, kNowhere, 0);
  order(thread_start, kNowhere, 2);
  order(thread_exit, kNowhere, 0);
  order(fork, kNowhere, 1);
  order(join, kNowhere, 1);
  for (RecordKind kind :
       {mutex_lock, mutex_unlock, shared_lock, shared_unlock, exclusive_lock, exclusive_unlock, cond_signal,
        cond_broadcast, sem_init, sem_post, sem_down, barrier_init, barrier_arrive, barrier_pass, once_begin,
        once_end, once_seen, once_abort}) {
    order(kind, 1, 2);
  }
  order(cond_wait, 2, 4, 3);
  order(cond_wake, 2, 4, 3);
  order(atomic, 2, kNowhere);
  order(fence, kNowhere, 2);
  order(alloc, kNowhere, 2);
  order(free, kNowhere, 1);
  order(map, kNowhere, 2);
  order(unmap, kNowhere, 2);
  order(fault, kNowhere, 2);
  order(turn, kNowhere, 1);
  order(cancel, kNowhere, 1);
  order(handler_begin, kNowhere, 2);
  order(handler_end, kNowhere, 0);
  return shapes;
}

constexpr std::array<RecordShape, kNumbers> kShapes = make_shapes();
constexpr uint16_t kCounted = 0xffff;

}  // namespace

const RecordShape& shape_of(uint64_t number) {
  static constexpr RecordShape kUnknown{};
  return number < kNumbers ? kShapes[number] : kUnknown;
}

void DecodedChunk::release() {
  words_ = {};
  marks_ = {};
  segments_ = {};
  size_ = 0;
  codec_.reset();
  coded_ = 0;
}

const char* DecodedChunk::decode(const TraceFile& file, const std::vector<RecordChunk>& chunks,
                                 size_t index) {
  size_t from = index;
  while (from > 0 && chunks[from].continues && chunks[from - 1].offset != coded_) --from;
  for (; from < index; ++from) {
    if (const char* problem = decode_next(file, chunks[from])) return problem;
  }
  return decode_next(file, chunks[index]);
}

// The words are copied, so that nothing of them changes or goes once it has been checked.
const char* DecodedChunk::take_raw(const TraceFile& file, const RecordChunk& chunk) {
  if (const char* problem = file.copy_raw(chunk, words_.data())) return problem;
  uint64_t* words = words_.data();
  size_t gaps = 0;  // words of gaps so far: what follows moves to the front
  const size_t end = chunk.words;
  for (size_t at = 0; at < end;) {
    const uint64_t address = words[at] & CLEAVE_HEADER_ADDRESS_MASK;
    const SegmentPlan* segment = nullptr;
    size_t count = 0;
    if (address >= 4096) [[likely]] {
      segment = file.modules().find(address, chunk.offset);
      if (segment == nullptr) return "a record belongs to no module of the trace";
      count = segment->words;
    } else if (address == 0) {
      ++gaps;
      ++at;
      continue;
    } else {
      const RecordShape& shape = shape_of(address);
      if (!shape.known) return "a record of an unknown kind";
      if (shape.words == kCounted && (at + 1 >= end || words[at + 1] >= end - at))
        return "a record is longer than its chunk";
      count = shape.words == kCounted ? words[at + 1] + 1 : shape.words;
      if (count < end - at && shape.stamp != RecordShape::kNowhere)
        marks_.push_back({static_cast<uint32_t>(at - gaps), words[at + 1 + shape.stamp]});
    }
    if (count >= end - at) return "a record is longer than its chunk";
    if (gaps != 0) [[unlikely]]
      std::copy_n(words + at, 1 + count, words + at - gaps);
    segments_.push_back(segment);
    at += 1 + count;
    size_ = at - gaps;
  }
  return nullptr;
}

const char* DecodedChunk::decode_next(const TraceFile& file, const RecordChunk& chunk) {
  std::span<const uint8_t> body = file.body(chunk);
  if (words_.size() < chunk.words) words_.resize(chunk.words);
  marks_.clear();
  segments_.clear();
  segments_.reserve(chunk.records);
  size_ = 0;
  offset_ = chunk.offset;
  coded_ = 0;
  if (chunk.raw) return take_raw(file, chunk);
  if (codec_ == nullptr) codec_ = std::make_unique<cleave_codec>();
  cleave_codec* codec = codec_.get();
  if (!chunk.continues) cleave_codec_clear(codec);
  cleave_codec_begin_reading(codec, body.data(), body.size());
  uint64_t* out = words_.data();
  size_t at = 0, end = chunk.words;
  while (at < end) {
    uint64_t header = cleave_codec_get_header(codec);
    uint64_t address = header & CLEAVE_HEADER_ADDRESS_MASK;
    out[at] = header;
    size_t count = 0;
    const RecordShape* shape = nullptr;
    const SegmentPlan* segment = nullptr;
    uint32_t first = 0;
    if (address >= 4096) {
      segment = file.modules().find(address, chunk.offset);
      if (segment == nullptr) return "a record belongs to no module of the trace";
      count = segment->words;
    } else {
      shape = &shape_of(address);
      if (!shape->known) return "a record of an unknown kind";
      count = shape->words;
      if (count == kCounted) {
        if (at + 1 >= end) return "a record is cut off";
        cleave_codec_get_words(codec, 0, out + at + 1, 1);
        if (out[at + 1] >= end - at) return "a record is longer than its chunk";
        count = out[at + 1] + 1;
        first = 1;
      }
    }
    if (count >= end - at) return "a record is longer than its chunk";
    cleave_codec_get_words(codec, first, out + at + 1 + first, static_cast<uint32_t>(count) - first);
    if (codec->failed) return "a chunk's records cannot be decoded";
    if (shape != nullptr && shape->stamp != RecordShape::kNowhere) {
      marks_.push_back({static_cast<uint32_t>(at), out[at + 1 + shape->stamp]});
    }
    segments_.push_back(segment);
    at += 1 + count;
    size_ = at;
  }
  coded_ = chunk.offset;
  return nullptr;
}

bool RecordCursor::open_chunk() {
  const ThreadChunks& thread = file_.threads()[thread_];
  if (problem_ != nullptr || chunk_ >= thread.chunks.size()) return false;
  if (!thread.raw) upcoming_ = thread.chunks[chunk_].first_record;
  problem_ = decoded_.decode(file_, thread.chunks, chunk_);
  ++chunk_;
  position_ = 0;
  open_ = true;
  return true;
}

const Record* RecordCursor::next() {
  for (;;) {
    while (!open_ || position_ >= decoded_.words().size()) {
      if (!open_chunk()) return nullptr;
    }
    record_.number = upcoming_++;
    const uint64_t* at = decoded_.words().data() + position_;
    uint64_t address = at[0] & CLEAVE_HEADER_ADDRESS_MASK;
    record_.branches = static_cast<uint16_t>(at[0] >> CLEAVE_HEADER_ADDRESS_BITS);
    size_t count;
    if (address >= 4096) {
      record_.kind = RecordKind::segment;
      record_.segment = file_.modules().find(address, decoded_.offset());
      count = record_.segment->words;
    } else {
      record_.kind = static_cast<RecordKind>(address);
      record_.segment = nullptr;
      count = shape_of(address).words;
      if (count == kCounted) count = at[1] + 1;
    }
    record_.words = {at + 1, count};
    position_ += static_cast<uint32_t>(1 + count);
    if (skip_ > 0) {
      --skip_;
      continue;
    }
    return &record_;
  }
}

void RecordCursor::seek(uint64_t record) {
  const std::vector<RecordChunk>& chunks = file_.threads()[thread_].chunks;
  auto after =
      std::upper_bound(chunks.begin(), chunks.end(), record,
                       [](uint64_t wanted, const RecordChunk& chunk) { return wanted < chunk.first_record; });
  chunk_ = after == chunks.begin() ? 0 : static_cast<size_t>(after - chunks.begin()) - 1;
  if (file_.threads()[thread_].raw) chunk_ = 0;  // records are not counted: from the beginning then
  upcoming_ = 0;
  skip_ = chunks.empty() ? 0 : record - chunks[chunk_].first_record;
  open_ = false;
  problem_ = nullptr;
}

}  // namespace cleave
