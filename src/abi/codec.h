/* How raw words become bytes in a RECORDS chunk, and back: one place for both directions, used by the runtime
 * (encode, in the thread that filled the buffer) and by trace/ (decode).
 *
 * A header is predicted to be the one that followed the previous header the last time. A payload word has two
 * predictions. The first is the word that stood in the same place of this record the last time. The second is the word
 * that came at the same distance behind the same address the last time (the value of a variable, the ticket of a lock);
 * for the first word of a record it is the last address seen (a pointer that was read and is followed, a lock
 * beside its data). What looks like an address is one. The tables start from zero (cleave_codec_start) or go on from
 * the thread's chunk before (cleave_codec_resume; CLEAVE_CHUNK_CONTINUES).
 *
 * Every symbol has a code of four bits; codes stand two to a byte, in front of the bytes of the two symbols they
 * belong to, and every record starts a new byte of them.
 *
 *   header    0         as predicted
 *             1 to 7    so many low bytes of the zigzag coded difference of the address, then two of the branches
 *             9, 10     the predicted address; one or two bytes of branches
 *   payload   0 to 8    so many low bytes of the zigzag coded difference to the first prediction follow
 *             9 to 13   0 to 4 low bytes of the zigzag coded difference to the second
 *             14, 15    the highest 2 or 4 bytes of the difference to the first: the rest is zero (doubles)
 *
 * Addresses that walk through an array cost a byte, repeated values nothing.
 *
 * put_header, put_word, get_header and get_word say what the bytes are, symbol by symbol. put_record and get_words give
 * the same bytes and words several times faster: the state stays in registers.
 */
#ifndef CLEAVE_ABI_CODEC_H
#define CLEAVE_ABI_CODEC_H

#include <stdint.h>
#include <string.h>

/* Inlined even into functions for newer processors, which have better instructions for it. */
#define CLEAVE_CODEC_INLINE inline __attribute__((always_inline))

#define CLEAVE_CODEC_PLACES 4096u  /* slots by record and position */
#define CLEAVE_CODEC_BEHIND 2048u  /* slots by address and distance */
#define CLEAVE_CODEC_FOLLOW 1024u  /* slots by previous header */
#define CLEAVE_CODEC_ADDRESS ((UINT64_C(1) << 48) - 1)

/* One per thread that encodes, one per chunk reader. 56 KiB. */
struct cleave_codec {
  uint64_t places[CLEAVE_CODEC_PLACES];
  uint64_t behind[CLEAVE_CODEC_BEHIND + 1]; /* the last one is for the first word of a record */
  uint64_t follow[CLEAVE_CODEC_FOLLOW];
  uint64_t header;        /* of the record that is being coded, or was last */
  uint64_t recent;        /* the last word that looked like an address */
  uint32_t distance;      /* slot in `behind` of the next payload word */
  uint32_t half;          /* 1 when the high half of *codes is next */
  uint8_t *codes;         /* the byte whose high half is still free */
  uint8_t *next;          /* encoder: where the next byte goes; decoder: const in spirit */
  const uint8_t *end;     /* decoder: one past the body */
  uint32_t failed;        /* decoder: the body is not what an encoder writes */
};

static inline void cleave_codec_start(struct cleave_codec *codec, uint8_t *bytes, uint64_t size) {
  memset(codec, 0, sizeof *codec);
  codec->next = bytes;
  codec->end = bytes + size;
}

/* The same with the tables as they are. */
static inline void cleave_codec_resume(struct cleave_codec *codec, uint8_t *bytes, uint64_t size) {
  codec->next = bytes;
  codec->end = bytes + size;
  codec->half = 0;
}

/* Bytes that records of `words` words in all may need at most, the slack behind the last symbol included. */
static inline uint64_t cleave_codec_bound(uint64_t words) { return words * 11 + 32; }

static CLEAVE_CODEC_INLINE uint64_t cleave_codec_hash(uint64_t address) {
  return address * UINT64_C(0x9e3779b97f4a7c15) >> 48;
}
static CLEAVE_CODEC_INLINE uint64_t *cleave_codec_follow(struct cleave_codec *codec, uint64_t header) {
  return &codec->follow[cleave_codec_hash(header & CLEAVE_CODEC_ADDRESS) % CLEAVE_CODEC_FOLLOW];
}
static CLEAVE_CODEC_INLINE uint64_t *cleave_codec_place(struct cleave_codec *codec, uint64_t address, uint32_t position) {
  return &codec->places[(cleave_codec_hash(address) + position) % CLEAVE_CODEC_PLACES];
}
static CLEAVE_CODEC_INLINE uint64_t cleave_codec_zigzag(uint64_t difference) {
  return (difference << 1) ^ (uint64_t)((int64_t)difference >> 63);
}
static CLEAVE_CODEC_INLINE uint32_t cleave_codec_bytes(uint64_t bits) {
  return bits ? (uint32_t)(71 - __builtin_clzll(bits)) >> 3 : 0;
}

/* The slot behind `word` if it looks like an address of a 64-bit process, else the next slot. */
static CLEAVE_CODEC_INLINE uint32_t cleave_codec_advance(uint64_t *recent, uint32_t distance, uint64_t word) {
  uint32_t fresh = (uint32_t)(cleave_codec_hash(word) % CLEAVE_CODEC_BEHIND);
  int address = word - (UINT64_C(0x55) << 40) < UINT64_C(0x2b) << 40;
  *recent = address ? word : *recent;
  return address ? fresh : (distance + 1) % CLEAVE_CODEC_BEHIND;
}

/* Writes the bytes of one payload word (and up to 8 bytes of slack) at *next, gives back its code. */
static CLEAVE_CODEC_INLINE uint32_t cleave_codec_payload(uint8_t **next, uint64_t *place, uint64_t *behind,
                                                         uint64_t word) {
  uint64_t difference = word - *place;
  uint64_t bits = cleave_codec_zigzag(difference), other = cleave_codec_zigzag(word - *behind);
  uint32_t bytes = cleave_codec_bytes(bits), other_bytes = cleave_codec_bytes(other);
  *place = *behind = word;
  int second = other_bytes < bytes && other_bytes <= 4;
  uint32_t code = second ? 9 + other_bytes : bytes;
  bits = second ? other : bits;
  bytes = second ? other_bytes : bytes;
  if (__builtin_expect(bytes > 4, 0) && (uint32_t)difference == 0) {
    code = difference << 16 ? 15 : 14;
    bytes = code == 14 ? 2 : 4;
    bits = difference >> (64 - 8 * bytes);
  }
  memcpy(*next, &bits, 8);
  *next += bytes;
  return code;
}

/* The same for a header that is not as predicted. */
static CLEAVE_CODEC_INLINE uint32_t cleave_codec_changed_header(uint8_t **next, uint64_t predicted, uint64_t header) {
  uint64_t difference = (header - predicted) & CLEAVE_CODEC_ADDRESS, branches = header >> 48;
  uint32_t code = branches < 256 ? 9 : 10, bytes = 0;
  if (difference != 0) {
    uint64_t bits = cleave_codec_zigzag((uint64_t)((int64_t)(difference << 16) >> 16));
    code = bytes = cleave_codec_bytes(bits);
    memcpy(*next, &bits, 8);
  }
  memcpy(*next + bytes, &branches, 8);
  *next += bytes + (code == 9 ? 1 : 2);
  return code;
}

static inline void cleave_codec_put_code(struct cleave_codec *codec, uint32_t code) {
  if (codec->half) *codec->codes |= (uint8_t)(code << 4);
  else *codec->codes = (uint8_t)code;
  codec->half ^= 1;
}

static inline void cleave_codec_put_header(struct cleave_codec *codec, uint64_t header) {
  uint64_t *follow = cleave_codec_follow(codec, codec->header);
  codec->half = 0;
  codec->codes = codec->next++;
  cleave_codec_put_code(codec, *follow == header ? 0 : cleave_codec_changed_header(&codec->next, *follow, header));
  *follow = codec->header = header;
  codec->distance = CLEAVE_CODEC_BEHIND;
  codec->behind[CLEAVE_CODEC_BEHIND] = codec->recent;
}

/* Payload word `position` (from 0) of the record with this header; in order. */
static inline void cleave_codec_put_word(struct cleave_codec *codec, uint64_t header, uint32_t position,
                                         uint64_t word) {
  if (!codec->half) codec->codes = codec->next++;
  uint64_t *place = cleave_codec_place(codec, header & CLEAVE_CODEC_ADDRESS, position);
  cleave_codec_put_code(codec, cleave_codec_payload(&codec->next, place, &codec->behind[codec->distance], word));
  codec->distance = cleave_codec_advance(&codec->recent, codec->distance, word);
}

/* A whole record: header and `payload` words behind it. */
static CLEAVE_CODEC_INLINE void cleave_codec_put_record(struct cleave_codec *codec, const uint64_t *record,
                                                        uint32_t payload) {
  uint8_t *next = codec->next, *codes = next++;
  uint64_t header = record[0], *follow = cleave_codec_follow(codec, codec->header);
  uint64_t base = cleave_codec_hash(header & CLEAVE_CODEC_ADDRESS);
  uint64_t recent = codec->behind[CLEAVE_CODEC_BEHIND] = codec->recent;
  uint32_t distance = CLEAVE_CODEC_BEHIND;
  uint32_t low = *follow == header ? 0 : cleave_codec_changed_header(&next, *follow, header), high;
  *follow = codec->header = header;
  for (uint32_t i = 0;; i += 2) {
    if (i >= payload) {
      *codes = (uint8_t)low;
      break;
    }
    uint64_t word = record[1 + i];
    high = cleave_codec_payload(&next, &codec->places[(base + i) % CLEAVE_CODEC_PLACES],
                                &codec->behind[distance], word);
    *codes = (uint8_t)(low | high << 4);
    distance = cleave_codec_advance(&recent, distance, word);
    if (i + 1 >= payload) break;
    codes = next++;
    word = record[2 + i];
    low = cleave_codec_payload(&next, &codec->places[(base + i + 1) % CLEAVE_CODEC_PLACES],
                               &codec->behind[distance], word);
    distance = cleave_codec_advance(&recent, distance, word);
  }
  codec->next = next;
  codec->recent = recent;
}

/* Bytes behind the code of a payload word. */
static CLEAVE_CODEC_INLINE uint32_t cleave_codec_length(uint32_t code) {
  return (uint32_t)(UINT64_C(0x4243210876543210) >> (4 * code)) & 15u;
}

/* The word that a symbol of this code stands for; `bits` are its bytes, with anything above them. */
static CLEAVE_CODEC_INLINE uint64_t cleave_codec_word(uint32_t code, uint64_t bits, uint64_t place, uint64_t behind) {
  uint32_t bytes = cleave_codec_length(code);
  if (__builtin_expect(code >= 14, 0)) return place + (bits << (64 - 8 * bytes));
  if (bytes < 8) bits &= (UINT64_C(1) << (8 * bytes)) - 1;
  return (code < 9 ? place : behind) + ((bits >> 1) ^ (0 - (bits & 1)));
}

/* The next code; 0 and `failed` where the body has none. */
static inline uint32_t cleave_codec_next_code(struct cleave_codec *codec) {
  if (!codec->half) {
    if (codec->next >= codec->end) {
      codec->failed = 1;
      return 0;
    }
    codec->codes = codec->next++;
  }
  uint32_t code = codec->half ? *codec->codes >> 4 : *codec->codes & 15u;
  codec->half ^= 1;
  return code;
}

/* The next `bytes` bytes; 0 and `failed` where the body does not have them. */
static inline uint64_t cleave_codec_take(struct cleave_codec *codec, uint32_t bytes) {
  uint64_t bits = 0;
  if ((uint64_t)(codec->end - codec->next) < bytes) {
    codec->failed = 1;
    return 0;
  }
  memcpy(&bits, codec->next, bytes);
  codec->next += bytes;
  return bits;
}

static inline uint64_t cleave_codec_get_header(struct cleave_codec *codec) {
  uint64_t *follow = cleave_codec_follow(codec, codec->header), header = *follow;
  codec->half = 0;
  uint32_t code = cleave_codec_next_code(codec);
  if (code >= 1 && code <= 7) {
    uint64_t difference = cleave_codec_word(code, cleave_codec_take(codec, code), 0, 0);
    header = ((header + difference) & CLEAVE_CODEC_ADDRESS) | cleave_codec_take(codec, 2) << 48;
  } else if (code == 9 || code == 10) {
    header = (header & CLEAVE_CODEC_ADDRESS) | cleave_codec_take(codec, code - 8) << 48;
  } else if (code != 0) {
    codec->failed = 1;
  }
  *follow = codec->header = header;
  codec->distance = CLEAVE_CODEC_BEHIND;
  codec->behind[CLEAVE_CODEC_BEHIND] = codec->recent;
  return header;
}

static inline uint64_t cleave_codec_get_word(struct cleave_codec *codec, uint64_t header, uint32_t position) {
  uint64_t *place = cleave_codec_place(codec, header & CLEAVE_CODEC_ADDRESS, position);
  uint64_t *behind = &codec->behind[codec->distance];
  uint32_t code = cleave_codec_next_code(codec);
  uint64_t bits = cleave_codec_take(codec, cleave_codec_length(code));
  uint64_t word = cleave_codec_word(code, bits, *place, *behind);
  *place = *behind = word;
  codec->distance = cleave_codec_advance(&codec->recent, codec->distance, word);
  return word;
}

/* Payload words `first` to `first + count - 1`, in order like get_word. */
static inline void cleave_codec_get_words(struct cleave_codec *codec, uint64_t header, uint32_t first, uint64_t *words,
                                          uint32_t count) {
  uint32_t i = 0;
  if (count != 0 && codec->half) words[i++] = cleave_codec_get_word(codec, header, first);
  uint64_t base = cleave_codec_hash(header & CLEAVE_CODEC_ADDRESS) + first;
  uint8_t *next = codec->next;
  uint32_t distance = codec->distance;
  uint64_t recent = codec->recent;
  while (i + 1 < count && codec->end - next >= 24) { /* a byte of codes, two symbols, slack */
    uint32_t codes = *next++;
    for (uint32_t k = 0; k < 2; ++k, codes >>= 4) {
      uint64_t bits, *place = &codec->places[(base + i + k) % CLEAVE_CODEC_PLACES];
      uint64_t *behind = &codec->behind[distance];
      memcpy(&bits, next, 8);
      next += cleave_codec_length(codes & 15u);
      uint64_t word = cleave_codec_word(codes & 15u, bits, *place, *behind);
      words[i + k] = *place = *behind = word;
      distance = cleave_codec_advance(&recent, distance, word);
    }
    i += 2;
  }
  codec->next = next;
  codec->distance = distance;
  codec->recent = recent;
  for (; i < count; ++i) words[i] = cleave_codec_get_word(codec, header, first + i);
}

#endif
