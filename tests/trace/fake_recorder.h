// Writes binary traces as the runtime would, for made-up programs: records of several threads, tickets,
// stamps, chunks. The test says what happens in real order; the file only has what each thread saw.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "abi/codec.h"
#include "abi/order.h"
#include "abi/trace_file.h"
#include "tables/site_tables.h"
#include "trace/recorded/records.h"

namespace cleave {

class FakeRecorder {
 public:
  FakeRecorder();

  // ---- the module: one for the whole program ----
  SiteTables tables;
  std::vector<uint64_t> globals;  // addresses, as tables.globals
  uint64_t segments_address = 0x400000;
  void write_module();

  // ---- records ----
  void segment(uint32_t thread, uint32_t index, std::vector<uint64_t> words, uint16_t branches = 1);
  void record(uint32_t thread, RecordKind kind, std::vector<uint64_t> words, uint16_t branches = 1);
  uint64_t ticket(uint64_t address);
  uint64_t stamp() { return now_ += 10; }
  uint64_t segment_address(uint32_t index) const { return segments_address + 4 * index; }

  // ---- the usual operations, each with its ticket and stamp ----
  void start(uint32_t thread, uint32_t parent) {
    record(thread, RecordKind::thread_start, {thread, parent, stamp()});
  }
  void exit(uint32_t thread) { record(thread, RecordKind::thread_exit, {stamp()}); }
  void fork(uint32_t thread, uint32_t child) { record(thread, RecordKind::fork, {child, stamp()}); }
  void join(uint32_t thread, uint32_t child) { record(thread, RecordKind::join, {child, stamp()}); }
  void on_object(uint32_t thread, RecordKind kind, uint64_t address) {
    uint64_t number = ticket(address);
    record(thread, kind, {address, number, stamp()});
  }

  // Writes what the thread has recorded so far as a chunk, coded or, if that is set, raw.
  bool raw = false;
  void flush(uint32_t thread);
  void flush_all();
  void other_chunk(cleave_chunk_kind kind, std::string_view body);
  void end() { other_chunk(CLEAVE_CHUNK_END, "{\"ended\": \"exit\"}"); }

  const std::string& bytes() const { return bytes_; }
  void save(const std::string& path) const;

 private:
  struct Buffer {
    std::vector<std::vector<uint64_t>> records;
    uint64_t sequence = 0;
    std::shared_ptr<cleave_codec> codec;
  };
  void chunk(cleave_chunk_header header, std::string_view body);
  void flush_raw(uint32_t thread);
  Buffer& buffer(uint32_t thread);

  std::string bytes_;
  std::vector<Buffer> buffers_;
  std::vector<uint64_t> tickets_ = std::vector<uint64_t>(CLEAVE_STRIPES, 0);
  uint64_t now_ = 1000;
};

}  // namespace cleave
