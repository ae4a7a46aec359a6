/* How raw words become bytes in a RECORDS chunk, and back: one place for both directions, used by the runtime
 * (encode, in the thread that filled the buffer) and by trace/ (decode).
 *
 * Each word is predicted to be the word that stood in the same place the last time this record was written: the table
 * is indexed by a hash of (header, position) and starts from zero in every chunk, so a chunk decodes alone. A header
 * is two symbols, its address part (predicted from the previous header) and its branch outcomes. The difference to
 * the prediction is zigzag coded into 0 to 8 bytes; lengths stand in nibbles, two to a byte, in front of the two
 * symbols they belong to. Addresses that walk through an array cost a byte, repeated values nothing.
 */
#ifndef CLEAVE_ABI_CODEC_H
#define CLEAVE_ABI_CODEC_H

#include <stdint.h>
#include <string.h>

#define CLEAVE_CODEC_TABLE 4096u

/* One per thread that encodes, one per chunk reader. 32 KiB. */
struct cleave_codec {
  uint64_t last[CLEAVE_CODEC_TABLE];
  uint64_t previous_header;
  uint8_t *next;          /* encoder: where the next byte goes; decoder: const in spirit */
  const uint8_t *end;     /* decoder: one past the body */
  uint8_t *lengths;       /* the byte whose high nibble is still free */
  uint32_t half;          /* 1 when the high nibble of *lengths is next */
  uint32_t failed;        /* decoder: the body is not what an encoder writes */
};

static inline void cleave_codec_start(struct cleave_codec *codec, uint8_t *bytes, uint64_t size) {
  memset(codec, 0, sizeof *codec);
  codec->next = bytes;
  codec->end = bytes + size;
}

static inline uint32_t cleave_codec_slot(uint64_t header_address, uint32_t position) {
  uint64_t key = header_address + (position + 1) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(key * UINT64_C(0xd6e8feb86659fd93) >> 52);
}

/* Bytes that `words` words may need at most, the slack behind the last symbol included. */
static inline uint64_t cleave_codec_bound(uint64_t words) { return words * 18 + 16; }

static inline void cleave_codec_put(struct cleave_codec *codec, uint32_t slot, uint64_t word) {
  uint64_t difference = word - codec->last[slot];
  uint64_t zigzag = (difference << 1) ^ (uint64_t)((int64_t)difference >> 63);
  uint32_t bytes = zigzag ? (uint32_t)(71 - __builtin_clzll(zigzag)) >> 3 : 0;
  codec->last[slot] = word;
  if (codec->half) {
    *codec->lengths |= (uint8_t)(bytes << 4);
  } else {
    codec->lengths = codec->next++;
    *codec->lengths = (uint8_t)bytes;
  }
  codec->half ^= 1;
  memcpy(codec->next, &zigzag, 8);
  codec->next += bytes;
}

static inline uint64_t cleave_codec_get(struct cleave_codec *codec, uint32_t slot) {
  uint32_t bytes;
  uint64_t zigzag = 0;
  if (codec->half) {
    bytes = *codec->lengths >> 4;
  } else {
    if (codec->next >= codec->end) {
      codec->failed = 1;
      return 0;
    }
    codec->lengths = codec->next++;
    bytes = *codec->lengths & 15u;
  }
  codec->half ^= 1;
  if (bytes > 8 || (uint64_t)(codec->end - codec->next) < bytes) {
    codec->failed = 1;
    return 0;
  }
  if (codec->end - codec->next >= 8) {
    memcpy(&zigzag, codec->next, 8);
    if (bytes < 8) zigzag &= (UINT64_C(1) << (bytes * 8)) - 1;
  } else {
    memcpy(&zigzag, codec->next, bytes);
  }
  codec->next += bytes;
  uint64_t word = codec->last[slot] + ((zigzag >> 1) ^ (0 - (zigzag & 1)));
  codec->last[slot] = word;
  return word;
}

static inline void cleave_codec_put_header(struct cleave_codec *codec, uint64_t header) {
  uint64_t address = header & ((UINT64_C(1) << 48) - 1);
  cleave_codec_put(codec, cleave_codec_slot(codec->previous_header, 0), address);
  cleave_codec_put(codec, cleave_codec_slot(address, 1), header >> 48);
  codec->previous_header = address;
}

static inline uint64_t cleave_codec_get_header(struct cleave_codec *codec) {
  uint64_t address = cleave_codec_get(codec, cleave_codec_slot(codec->previous_header, 0));
  uint64_t branches = cleave_codec_get(codec, cleave_codec_slot(address, 1));
  codec->previous_header = address;
  return (address & ((UINT64_C(1) << 48) - 1)) | branches << 48;
}

/* Payload word `position` (from 0) of the record with this header. */
static inline void cleave_codec_put_word(struct cleave_codec *codec, uint64_t header, uint32_t position,
                                         uint64_t word) {
  cleave_codec_put(codec, cleave_codec_slot(header & ((UINT64_C(1) << 48) - 1), position + 2), word);
}

static inline uint64_t cleave_codec_get_word(struct cleave_codec *codec, uint64_t header, uint32_t position) {
  return cleave_codec_get(codec, cleave_codec_slot(header & ((UINT64_C(1) << 48) - 1), position + 2));
}

#endif
