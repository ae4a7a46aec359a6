#include "trace/fake_recorder.h"

#include <cstring>
#include <fstream>

#include "abi/chunk_checksum.h"

namespace cleave {

FakeRecorder::FakeRecorder() {
  cleave_file_header header{CLEAVE_TRACE_MAGIC, CLEAVE_TRACE_VERSION, sizeof header, 1000, 4711};
  bytes_.assign(reinterpret_cast<const char*>(&header), sizeof header);
}

void FakeRecorder::chunk(cleave_chunk_header header, std::string_view body) {
  header.magic = CLEAVE_CHUNK_MAGIC;
  header.stored_bytes = static_cast<uint32_t>(body.size());
  if (header.flags == CLEAVE_CHUNK_RAW) {
    std::vector<uint64_t> words(body.size() / sizeof(uint64_t));
    if (!words.empty()) std::memcpy(words.data(), body.data(), words.size() * sizeof(uint64_t));
    header.checksum = cleave_raw_checksum(&header, words.data());
  } else {
    header.checksum = cleave_chunk_checksum(&header, body.data());
  }
  bytes_.append(reinterpret_cast<const char*>(&header), sizeof header);
  bytes_.append(body);
}

void FakeRecorder::write_module() {
  std::vector<uint8_t> coded = encode(tables);
  cleave_module_chunk header{};
  header.segments = segments_address;
  header.segment_count = tables.segments.size();
  header.identity = 42;
  header.name_bytes = static_cast<uint32_t>(tables.source.size());
  header.global_count = static_cast<uint32_t>(globals.size());
  header.table_bytes = coded.size();
  std::string body(reinterpret_cast<const char*>(&header), sizeof header);
  body += tables.source;
  for (const SegmentTable& table : tables.segments) {
    cleave_segment segment{table.words, table.flags};
    body.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  }
  body.append(reinterpret_cast<const char*>(globals.data()), globals.size() * 8);
  body.append(reinterpret_cast<const char*>(coded.data()), coded.size());
  chunk({.kind = CLEAVE_CHUNK_MODULE}, body);
}

FakeRecorder::Buffer& FakeRecorder::buffer(uint32_t thread) {
  if (thread >= buffers_.size()) buffers_.resize(thread + 1);
  return buffers_[thread];
}

void FakeRecorder::segment(uint32_t thread, uint32_t index, std::vector<uint64_t> words, uint16_t branches) {
  words.insert(words.begin(), segment_address(index) | uint64_t{branches} << 48);
  buffer(thread).records.push_back(std::move(words));
}

void FakeRecorder::record(uint32_t thread, RecordKind kind, std::vector<uint64_t> words, uint16_t branches) {
  words.insert(words.begin(), static_cast<uint64_t>(kind) | uint64_t{branches} << 48);
  buffer(thread).records.push_back(std::move(words));
}

uint64_t FakeRecorder::ticket(uint64_t address) {
  uint32_t stripe = cleave_stripe_of(reinterpret_cast<const void*>(address));
  return CLEAVE_TICKET(stripe, tickets_[stripe]++);
}

void FakeRecorder::flush(uint32_t thread) {
  Buffer& from = buffer(thread);
  if (from.records.empty()) return;
  if (raw) return flush_raw(thread);
  uint64_t words = 0;
  for (const auto& record : from.records) words += record.size();
  std::vector<uint8_t> coded(cleave_codec_bound(words));
  bool continues = from.sequence % CLEAVE_CHUNK_LONGEST_RUN != 0;  // as the runtime does it
  if (!from.codec) from.codec = std::make_shared<cleave_codec>();
  cleave_codec& codec = *from.codec;
  if (!continues) cleave_codec_clear(&codec);
  cleave_codec_begin_body(&codec, coded.data(), coded.size());
  for (const auto& record : from.records)
    cleave_codec_put_record(&codec, record.data(), static_cast<uint32_t>(record.size() - 1));
  cleave_chunk_header header{.kind = CLEAVE_CHUNK_RECORDS, .thread = thread, .sequence = from.sequence++};
  header.flags = continues ? CLEAVE_CHUNK_CONTINUES : 0;
  header.words = static_cast<uint32_t>(words);
  header.records = static_cast<uint32_t>(from.records.size());
  chunk(header, {reinterpret_cast<const char*>(coded.data()), cleave_codec_end_body(&codec)});
  from.records.clear();
}

void FakeRecorder::flush_raw(uint32_t thread) {
  Buffer& from = buffer(thread);
  std::vector<uint64_t> words;
  for (const auto& record : from.records) words.insert(words.end(), record.begin(), record.end());
  cleave_chunk_header header{
      .kind = CLEAVE_CHUNK_RECORDS, .flags = CLEAVE_CHUNK_RAW, .thread = thread, .sequence = from.sequence++};
  header.words = static_cast<uint32_t>(words.size());
  chunk(header, {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint64_t)});
  from.records.clear();
}

void FakeRecorder::flush_all() {
  for (uint32_t thread = 0; thread < buffers_.size(); ++thread) flush(thread);
}

void FakeRecorder::other_chunk(cleave_chunk_kind kind, std::string_view body) {
  chunk({.kind = static_cast<uint16_t>(kind)}, body);
}

void FakeRecorder::save(const std::string& path) const { std::ofstream(path, std::ios::binary) << bytes_; }

}  // namespace cleave
