// Damage for tests of decoders.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "abi/chunk_checksum.h"
#include "abi/trace_file.h"

namespace cleave {

// Makes the checksums right again, so that the damage reaches what lies behind them.
inline void correct_checksums(std::string& bytes) {
  cleave_chunk_header header;
  for (size_t at = sizeof(cleave_file_header); at + sizeof header <= bytes.size();
       at += sizeof header + header.stored_bytes) {
    std::memcpy(&header, bytes.data() + at, sizeof header);
    if (header.stored_bytes > bytes.size() - at - sizeof header) return;
    const char* body = bytes.data() + at + sizeof header;
    if (header.kind == CLEAVE_CHUNK_RECORDS && (header.flags & CLEAVE_CHUNK_RAW) != 0) {
      std::vector<uint64_t> words(header.stored_bytes / sizeof(uint64_t));
      if (!words.empty()) std::memcpy(words.data(), body, words.size() * sizeof(uint64_t));
      if (header.words <= words.size()) header.checksum = cleave_raw_checksum(&header, words.data());
    } else {
      header.checksum = cleave_chunk_checksum(&header, body);
    }
    std::memcpy(bytes.data() + at, &header, sizeof header);
  }
}

}  // namespace cleave
