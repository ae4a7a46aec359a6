// Reads a trace as the runtime wrote it, record by record, without the reader of src/trace: it is what that
// reader is tested against, too. Checks every checksum; throws on anything that an intact file cannot have.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cleave::test {

struct RawRecord {
  uint64_t header = 0;
  std::vector<uint64_t> words;                                          // payload
  uint64_t kind() const { return header & ((uint64_t{1} << 48) - 1); }  // record number or segment address
  uint64_t branches() const { return header >> 48; }
  bool is(const char* name) const;  // a name of runtime_records.def
};

struct RawModule {
  std::string name;
  uint64_t segments = 0;
  std::vector<uint16_t> words;
  std::string tables;
  uint64_t identity = 0;
};

struct RawTrace {
  uint64_t process = 0;
  std::map<uint32_t, std::vector<RawRecord>> threads;
  std::vector<RawModule> modules;
  std::vector<std::string> process_texts, end_texts;
  std::vector<uint64_t> unloads;
  size_t record_chunks = 0;
  uint64_t bytes = 0;

  // Records of all threads with that name.
  std::vector<RawRecord> all(const std::string& name) const;
  // Names of a thread's records in order; segments as "read" and "write" (hand.h), stamps and stacks left
  // out.
  std::vector<std::string> names(uint32_t thread) const;
};

// `truncated`, if given, is set instead of throwing when the file ends within a chunk.
RawTrace read_raw_trace(const std::string& path, bool* truncated = nullptr);

}  // namespace cleave::test
