#include "trace/recorded/trace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "abi/chunk_checksum.h"
#include "base/interrupt.h"

namespace cleave {
namespace {

constexpr uint64_t kAtATime = 4 << 20;  // bytes that are let go of together

bool is_raw(const cleave_chunk_header& header) {
  return header.kind == CLEAVE_CHUNK_RECORDS && (header.flags & CLEAVE_CHUNK_RAW) != 0;
}

}  // namespace

Result<TraceFile> TraceFile::open(const std::string& path, bool live) {
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped) return mapped.error();
  TraceFile file(std::move(mapped).value(), path, live);
  std::string_view bytes = file.file_.bytes();
  if (bytes.size() < sizeof file.header_)
    return Error{path, "is too short to be a trace; was the program stopped at once?"};
  std::memcpy(&file.header_, bytes.data(), sizeof file.header_);
  if (file.header_.magic != CLEAVE_TRACE_MAGIC)
    return Error{path, "is not a binary trace; cleave record writes one"};
  if (file.header_.version != CLEAVE_TRACE_VERSION) {
    return Error{path,
                 fmt::format("is a trace of version {}, and this Cleave reads version {}; record it again",
                             file.header_.version, CLEAVE_TRACE_VERSION)};
  }
  if (file.header_.header_bytes < sizeof file.header_ || file.header_.header_bytes > bytes.size()) {
    return Error{path, "has a damaged file header; record it again"};
  }
  file.at_ = file.header_.header_bytes;
  file.scan();
  if (!live && interrupted()) return Error{path, "interrupted while it was read"};
  return file;
}

bool TraceFile::refresh() {
  file_.grow();
  return scan();
}

void TraceFile::damage(uint64_t offset, const char* what) {
  damaged_ = true;
  remarks_.push_back(fmt::format("byte {}: {}; everything before it is used, {} bytes from there on are not",
                                 offset, what, file_.bytes().size() - offset));
}

bool TraceFile::scan() {
  bool fresh = false;
  uint64_t let_go = at_;
  while (!damaged_ && at_ < file_.bytes().size() && (live_ || !interrupted())) {
    const uint64_t rest = file_.bytes().size() - at_;
    cleave_chunk_header header;
    const bool whole = rest >= sizeof header && file_.copy(at_, &header, sizeof header);
    if (whole && header.magic != CLEAVE_CHUNK_MAGIC) {
      damage(at_, "damaged chunk");
      break;
    }
    if (!whole || rest - sizeof header < header.stored_bytes) {
      if (!live_) damage(at_, "the file ends in the middle of a chunk");
      break;
    }
    // Of a raw one when its words are copied: until then they are not looked at.
    if (!is_raw(header) && cleave_chunk_checksum(&header, body_at(at_, 0).data()) != header.checksum) {
      damage(at_, "damaged chunk (its checksum is wrong)");
      break;
    }
    if (!take(header)) break;
    at_ += sizeof header + header.stored_bytes;
    fresh = true;
    // A finished file is looked through as a whole before the first event is read.
    if (!live_ && at_ - let_go >= kAtATime) file_.let_go(std::exchange(let_go, at_), at_);
  }
  return fresh;
}

// Whether a chunk of records may be what it says.
bool TraceFile::fits(const cleave_chunk_header& header) {
  const bool continues = (header.flags & CLEAVE_CHUNK_CONTINUES) != 0;
  const char* wrong = nullptr;
  if (is_raw(header)) {
    if (header.stored_bytes != sizeof(uint64_t) * header.words || header.records != 0 || continues ||
        header.words > CLEAVE_CHUNK_RAW_WORDS)
      wrong = "a raw chunk does not add up";
  } else if (header.words > uint64_t{2} * header.stored_bytes || header.records > header.words) {
    wrong = "a chunk promises more than it can hold";  // a word takes half a byte at least
  } else if (continues && header.sequence % CLEAVE_CHUNK_LONGEST_RUN == 0) {
    wrong = "a chunk continues the one before it where a new run begins";
  }
  if (wrong != nullptr) damage(at_, wrong);
  return wrong == nullptr;
}

bool TraceFile::take(const cleave_chunk_header& header) {
  if (header.kind == CLEAVE_CHUNK_MODULE) {
    if (const char* wrong = modules_.add(body_at(at_, header.stored_bytes), at_)) {
      remarks_.push_back(fmt::format("byte {}: {}", at_, wrong));
    }
    return true;
  }
  if (header.kind != CLEAVE_CHUNK_RECORDS) {
    others_.push_back({header.kind, at_, header.stored_bytes});
    ended_ = header.kind == CLEAVE_CHUNK_END || (ended_ && header.kind == CLEAVE_CHUNK_SCHEDULE);
    return true;
  }
  if (!fits(header)) return false;
  auto [it, fresh] = thread_index_.emplace(header.thread, threads_.size());
  if (fresh) threads_.push_back({.number = header.thread});
  ThreadChunks& thread = threads_[it->second];
  if (header.sequence != thread.chunks.size()) {
    damage(at_, "a chunk of a thread is missing");
    return false;
  }
  thread.chunks.push_back({at_, header.stored_bytes, header.words, header.records, thread.records,
                           (header.flags & CLEAVE_CHUNK_CONTINUES) != 0, is_raw(header)});
  thread.records += header.records;
  thread.raw |= is_raw(header);
  const uint64_t end = at_ + sizeof header + header.stored_bytes;
  if (records_.empty() || records_.back().end != at_) records_.push_back({at_, end});
  records_.back().end = end;
  return true;
}

void TraceFile::read_up_to(uint64_t offset, bool erase) {
  if (offset >= let_go_ + kAtATime) file_.let_go(std::exchange(let_go_, offset), offset);
  if (!erase || offset < erased_ + kAtATime) return;
  const int descriptor = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  for (const Stretch& stretch : records_) {
    const uint64_t begin = std::max(stretch.begin, erased_), end = std::min(stretch.end, offset);
    if (descriptor >= 0 && begin < end)
      fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                static_cast<off_t>(end - begin));
  }
  if (descriptor >= 0) ::close(descriptor);
  std::erase_if(records_, [&](const Stretch& stretch) { return stretch.end <= offset; });
  erased_ = offset;
}

const char* TraceFile::copy_raw(const RecordChunk& chunk, uint64_t* words) const {
  cleave_chunk_header header;
  if (!file_.copy(chunk.offset, &header, sizeof header) ||
      !file_.copy(chunk.offset + sizeof header, words, chunk.stored_bytes))
    return "the file has become shorter";
  if (header.words != chunk.words || cleave_raw_checksum(&header, words) != header.checksum)
    return "damaged chunk (its checksum is wrong)";
  return nullptr;
}

std::span<const uint8_t> TraceFile::body_at(uint64_t offset, uint32_t bytes) const {
  auto* data = reinterpret_cast<const uint8_t*>(file_.bytes().data());
  return {data + offset + sizeof(cleave_chunk_header), bytes};
}

std::string_view TraceFile::text(cleave_chunk_kind kind) const {
  for (const OtherChunk& chunk : others_) {
    if (chunk.kind == kind) return {reinterpret_cast<const char*>(body(chunk).data()), chunk.stored_bytes};
  }
  return {};
}

std::string_view TraceFile::last_text(cleave_chunk_kind kind) const {
  for (auto chunk = others_.rbegin(); chunk != others_.rend(); ++chunk) {
    if (chunk->kind == kind) return {reinterpret_cast<const char*>(body(*chunk).data()), chunk->stored_bytes};
  }
  return {};
}

}  // namespace cleave
