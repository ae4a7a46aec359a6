// Damage for tests of decoders.
#pragma once

#include <xxhash.h>

#include <cstring>
#include <string>

#include "abi/trace_file.h"

namespace cleave {

// Makes the checksums right again, so that the damage reaches what lies behind them.
inline void correct_checksums(std::string& bytes) {
  cleave_chunk_header header;
  for (size_t at = sizeof(cleave_file_header); at + sizeof header <= bytes.size();
       at += sizeof header + header.stored_bytes) {
    std::memcpy(&header, bytes.data() + at, sizeof header);
    if (header.stored_bytes > bytes.size() - at - sizeof header) return;
    header.checksum = XXH3_64bits(bytes.data() + at + sizeof header, header.stored_bytes);
    std::memcpy(bytes.data() + at, &header, sizeof header);
  }
}

}  // namespace cleave
