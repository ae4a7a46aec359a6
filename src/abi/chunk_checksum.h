/* The checksum of a chunk that is not raw. Apart from trace_file.h because it needs xxhash: whoever cannot
 * link it defines XXH_INLINE_ALL first.
 *
 * The header is the seed of the body's hash. So a changed kind, thread or sequence number is as visible as a
 * changed body, and a body of any length is still hashed in one go.
 */
#ifndef CLEAVE_ABI_CHUNK_CHECKSUM_H
#define CLEAVE_ABI_CHUNK_CHECKSUM_H

#include <stddef.h>
#include <xxhash.h>

#include "abi/trace_file.h"

/* All other fields of the header must be set. */
static inline uint64_t cleave_chunk_seed(const struct cleave_chunk_header* header) {
  return XXH3_64bits(header, offsetof(struct cleave_chunk_header, checksum));
}

static inline uint64_t cleave_chunk_checksum(const struct cleave_chunk_header* header, const void* body) {
  return XXH3_64bits_withSeed(body, header->stored_bytes, cleave_chunk_seed(header));
}

#endif
