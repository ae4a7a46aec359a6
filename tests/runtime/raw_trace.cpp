#include "runtime/raw_trace.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "abi/chunk_checksum.h"
#include "abi/codec.h"
#include "abi/record.h"
#include "abi/trace_file.h"

namespace cleave::test {
namespace {

struct Kind {
  const char* name;
  uint64_t number;
  uint64_t words;
};
constexpr Kind kKinds[] = {
#define CLEAVE_RECORD(name, number, words, text) {#name, number, words},
#include "abi/runtime_records.def"
#undef CLEAVE_RECORD
};

const Kind* kind_by_number(uint64_t number) {
  for (const Kind& kind : kKinds)
    if (kind.number == number) return &kind;
  return nullptr;
}

[[noreturn]] void wrong(const std::string& what) { throw std::runtime_error(what); }

uint64_t payload_words(const RawTrace& trace, uint64_t kind) {
  if (kind < 4096) {
    const Kind* known = kind_by_number(kind);
    if (known == nullptr) wrong(fmt::format("record number {} is not known", kind));
    return known->words;
  }
  for (const RawModule& module : trace.modules)
    if (kind >= module.segments && kind < module.segments + 4 * module.words.size())
      return module.words[(kind - module.segments) / 4];
  wrong(fmt::format("no module has the segment {:#x}", kind));
}

void read_raw_records(RawTrace& trace, const cleave_chunk_header& header, const uint8_t* body) {
  std::vector<uint64_t> words(header.words);
  if (header.stored_bytes != 8 * words.size() || header.records != 0) wrong("a raw chunk does not add up");
  std::memcpy(words.data(), body, header.stored_bytes);
  if (cleave_raw_checksum(&header, words.data()) != header.checksum) wrong("a checksum is wrong");
  for (size_t at = 0; at < words.size();) {
    if (words[at] == 0) {
      ++at;
      continue;
    }
    RawRecord record;
    record.header = words[at++];
    uint64_t count = payload_words(trace, record.kind());
    if (count == 0xffff) count = 1 + words.at(at);
    if (count > words.size() - at) wrong("a record is longer than its chunk");
    record.words.assign(words.begin() + static_cast<ptrdiff_t>(at),
                        words.begin() + static_cast<ptrdiff_t>(at + count));
    at += count;
    trace.threads[header.thread].push_back(std::move(record));
  }
  ++trace.record_chunks;
}

using Codecs = std::map<uint32_t, std::unique_ptr<cleave_codec>>;

void read_records(RawTrace& trace, Codecs& codecs, const cleave_chunk_header& header, const uint8_t* body) {
  std::unique_ptr<cleave_codec>& codec = codecs[header.thread];
  bool continues = (header.flags & CLEAVE_CHUNK_CONTINUES) != 0;
  if (continues && !codec) wrong("a chunk continues one that is not there");
  if (!codec) codec = std::make_unique<cleave_codec>();
  if (!continues) cleave_codec_clear(codec.get());
  cleave_codec_begin_reading(codec.get(), body, header.stored_bytes);
  uint64_t words = 0, records = 0;
  while (words < header.words) {
    RawRecord record;
    record.header = cleave_codec_get_header(codec.get());
    uint64_t count = payload_words(trace, record.kind());
    if (count == 0xffff) {
      cleave_codec_get_words(codec.get(), 0, &record.words.emplace_back(), 1);
      count = 1 + record.words[0];
    }
    auto known = static_cast<uint32_t>(record.words.size());
    record.words.resize(count);
    cleave_codec_get_words(codec.get(), known, record.words.data() + known,
                           static_cast<uint32_t>(count) - known);
    if (codec->failed) wrong("a chunk's body does not decode");
    words += 1 + count;
    ++records;
    trace.threads[header.thread].push_back(std::move(record));
  }
  if (!cleave_codec_at_end(codec.get())) wrong("a chunk's body has something behind its records");
  if (words != header.words || records != header.records) wrong("a chunk does not hold what its header says");
  ++trace.record_chunks;
}

void read_module(RawTrace& trace, const uint8_t* body, size_t size) {
  cleave_module_chunk facts;
  std::memcpy(&facts, body, sizeof facts);
  size_t expected =
      sizeof facts + facts.name_bytes + 4 * facts.segment_count + 8 * facts.global_count + facts.table_bytes;
  if (expected != size) wrong("a module chunk has another size than it says");
  const char* at = reinterpret_cast<const char*>(body) + sizeof facts;
  RawModule module{std::string(at, facts.name_bytes), facts.segments, {}, {}, facts.identity};
  at += facts.name_bytes;
  for (uint64_t i = 0; i < facts.segment_count; ++i) {
    cleave_segment segment;
    std::memcpy(&segment, at + 4 * i, sizeof segment);
    module.words.push_back(segment.words);
  }
  at += 4 * facts.segment_count + 8 * facts.global_count;
  module.tables.assign(at, facts.table_bytes);
  trace.modules.push_back(std::move(module));
}

void read_chunk(RawTrace& trace, Codecs& codecs, const cleave_chunk_header& header, const uint8_t* body,
                std::map<uint32_t, uint64_t>& sequences) {
  const bool raw = header.kind == CLEAVE_CHUNK_RECORDS && header.flags == CLEAVE_CHUNK_RAW;
  if (!raw && cleave_chunk_checksum(&header, body) != header.checksum) wrong("a checksum is wrong");
  std::string text(reinterpret_cast<const char*>(body), header.stored_bytes);
  switch (header.kind) {
    case CLEAVE_CHUNK_RECORDS:
      if (header.sequence != sequences[header.thread]++) wrong("chunks of a thread are out of order");
      return raw ? read_raw_records(trace, header, body) : read_records(trace, codecs, header, body);
    case CLEAVE_CHUNK_MODULE:
      return read_module(trace, body, header.stored_bytes);
    case CLEAVE_CHUNK_PROCESS:
      trace.process_texts.push_back(text);
      return;
    case CLEAVE_CHUNK_END:
      trace.end_texts.push_back(text);
      return;
    case CLEAVE_CHUNK_UNLOAD: {
      uint64_t address;
      std::memcpy(&address, body, sizeof address);
      trace.unloads.push_back(address);
      return;
    }
    default:
      wrong(fmt::format("chunk kind {}", header.kind));
  }
}

}  // namespace

bool RawRecord::is(const char* name) const {
  const Kind* known = kind() < 4096 ? kind_by_number(kind()) : nullptr;
  return known != nullptr && std::strcmp(known->name, name) == 0;
}

std::vector<RawRecord> RawTrace::all(const std::string& name) const {
  std::vector<RawRecord> found;
  for (const auto& [thread, records] : threads)
    for (const RawRecord& record : records)
      if (record.is(name.c_str())) found.push_back(record);
  return found;
}

std::vector<std::string> RawTrace::names(uint32_t thread) const {
  std::vector<std::string> result;
  auto found = threads.find(thread);
  if (found == threads.end()) return result;
  for (const RawRecord& record : found->second) {
    if (record.kind() >= 4096) {
      bool write = false;
      for (const RawModule& module : modules) write |= record.kind() == module.segments + 4;
      result.push_back(write ? "write" : "read");
    } else if (!record.is("stamp") && !record.is("stack")) {
      result.push_back(kind_by_number(record.kind())->name);
    }
  }
  return result;
}

RawTrace read_raw_trace(const std::string& path, bool* truncated) {
  std::ifstream file(path, std::ios::binary);
  if (!file) wrong(path + " cannot be opened");
  std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  cleave_file_header start;
  if (bytes.size() < sizeof start) wrong("no file header");
  std::memcpy(&start, bytes.data(), sizeof start);
  if (start.magic != CLEAVE_TRACE_MAGIC || start.version != CLEAVE_TRACE_VERSION) wrong("not a trace");
  RawTrace trace;
  trace.process = start.process;
  trace.bytes = bytes.size();
  std::map<uint32_t, uint64_t> sequences;
  Codecs codecs;
  for (size_t at = start.header_bytes; at < bytes.size();) {
    cleave_chunk_header header;
    bool cut = bytes.size() - at < sizeof header;
    if (!cut) std::memcpy(&header, bytes.data() + at, sizeof header);
    cut = cut || header.stored_bytes > bytes.size() - at - sizeof header;
    if (cut && truncated != nullptr) {
      *truncated = true;
      return trace;
    }
    if (cut) wrong("the file ends within a chunk");
    if (header.magic != CLEAVE_CHUNK_MAGIC) wrong("a chunk has the wrong magic");
    read_chunk(trace, codecs, header, bytes.data() + at + sizeof header, sequences);
    at += sizeof header + header.stored_bytes;
  }
  return trace;
}

}  // namespace cleave::test
