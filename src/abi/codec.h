/* How raw words become bytes in a RECORDS chunk, and back: one place for both directions, used by the runtime
 * (encode, in the thread that filled the buffer) and by trace/ (decode).
 *
 * Every word of a record, its header first, is a code of four bits and up to eight bytes. Codes and bytes
 * stand apart, so that neither direction waits for the length of one word before it can look at the next:
 *
 *   body      4 bytes   how long the first part is, these four included
 *             bytes     of all words, one after the other
 *             codes     two to a byte, the low half first; every record starts a new byte
 *             8 bytes   zero: whoever takes eight bytes at once stays inside
 *
 *   code      0 to 8    so many low bytes of the zigzag coded difference to the first prediction
 *             9 to 15   0 to 6 low bytes of the zigzag coded difference to the second
 *
 * The first prediction of a header is the header that followed the one before it the last time; headers are
 * turned, so that the outcomes of branches are in the low bits; they have no second. The first prediction of
 * a payload word is the word that stood in this place of this record the last time. The second is the word
 * that stood in this place of a record that began with the same word, an address as a rule, the last time
 * (the value of a variable, the ticket of a lock); for the first word of a record it is the word that told
 * most of the record before: the last of a segment (a pointer that was read and is followed), the first of a
 * record of the runtime (a lock beside its data).
 *
 * What the decoder must do is written above; which prediction is taken is the encoder's choice. Of a
 * segment's words it takes the second only if it is exact, which costs half of what comparing both costs and
 * a few bytes in a hundred.
 *
 * The tables start from zero (cleave_codec_clear) or go on from the thread's chunk before
 * (CLEAVE_CHUNK_CONTINUES).
 */
#ifndef CLEAVE_ABI_CODEC_H
#define CLEAVE_ABI_CODEC_H

#include <stdint.h>
#include <string.h>

/* Inlined even into functions for newer processors, which have better instructions for it. */
#define CLEAVE_CODEC_INLINE inline __attribute__((always_inline))

#define CLEAVE_CODEC_PLACES 4096u /* slots by record and position */
#define CLEAVE_CODEC_BEHIND 2048u /* slots by first word and position */
#define CLEAVE_CODEC_FOLLOW 1024u /* slots by previous header */
#define CLEAVE_CODEC_ROW 256u     /* positions that are told apart; later ones share the last */
#define CLEAVE_CODEC_ADDRESS ((UINT64_C(1) << 48) - 1)
#define CLEAVE_CODEC_SLACK 8u
#define CLEAVE_CODEC_SECOND 9u /* codes from here on are differences to the second prediction */

/* One per thread that encodes, one per chunk reader. 61 KiB. */
struct cleave_codec {
  uint64_t places[CLEAVE_CODEC_PLACES + CLEAVE_CODEC_ROW];
  uint64_t behind[CLEAVE_CODEC_BEHIND + CLEAVE_CODEC_ROW];
  uint64_t follow[CLEAVE_CODEC_FOLLOW];
  uint64_t address; /* in the header of the record that is being coded, or was last */
  uint64_t recent;  /* second prediction of the next record's first word */
  uint8_t* next;    /* byte after those coded */
  uint8_t* codes;   /* encoder: code after those coded; decoder: first of the record */
  uint8_t* start;   /* encoder: of the body */
  uint8_t* middle;  /* encoder: where the codes begin until the end; decoder: one past the bytes */
  uint8_t* end;     /* one past the codes */
  uint64_t* second; /* decoder: row of the second predictions */
  uint32_t used;    /* decoder: codes of the record taken so far */
  uint32_t failed;  /* decoder: the body is not what an encoder writes */
};

static inline void cleave_codec_clear(struct cleave_codec* codec) { memset(codec, 0, sizeof *codec); }

static CLEAVE_CODEC_INLINE uint64_t cleave_codec_hash(uint64_t word) {
  return word * UINT64_C(0x9e3779b97f4a7c15) >> 40;
}
static CLEAVE_CODEC_INLINE uint64_t* cleave_codec_follow(struct cleave_codec* codec) {
  return &codec->follow[cleave_codec_hash(codec->address) % CLEAVE_CODEC_FOLLOW];
}
static CLEAVE_CODEC_INLINE uint64_t* cleave_codec_places(struct cleave_codec* codec) {
  return &codec->places[cleave_codec_hash(codec->address) % CLEAVE_CODEC_PLACES];
}
static CLEAVE_CODEC_INLINE uint64_t* cleave_codec_behind(struct cleave_codec* codec, uint64_t first_word) {
  return &codec->behind[cleave_codec_hash(first_word) % CLEAVE_CODEC_BEHIND];
}
static CLEAVE_CODEC_INLINE uint32_t cleave_codec_position(uint32_t position) {
  return position < CLEAVE_CODEC_ROW ? position : CLEAVE_CODEC_ROW - 1;
}
static CLEAVE_CODEC_INLINE uint64_t cleave_codec_zigzag(uint64_t difference) {
  return (difference << 1) ^ (uint64_t)((int64_t)difference >> 63);
}
static CLEAVE_CODEC_INLINE uint32_t cleave_codec_bytes(uint64_t bits) {
  return (71u - (uint32_t)(bits ? __builtin_clzll(bits) : 64)) >> 3;
}
static CLEAVE_CODEC_INLINE int cleave_codec_is_segment(const struct cleave_codec* codec) {
  return codec->address >= 4096;
}

/* ---- encoder ---- */

/* Bytes that the body of records of `words` words in all may need at most. */
static inline uint64_t cleave_codec_bound(uint64_t words) { return words * 10 + 128; }

static inline void cleave_codec_begin_body(struct cleave_codec* codec, uint8_t* body, uint64_t size) {
  codec->start = body;
  codec->next = body + 4;
  codec->middle = codec->codes = body + (size - size / 5);
  codec->end = body + size;
}

/* Whether a record of `words` words still fits. */
static CLEAVE_CODEC_INLINE int cleave_codec_fits(const struct cleave_codec* codec, uint64_t words) {
  return codec->next + 8 * words + 8 <= codec->middle && codec->codes + words / 2 + 16 <= codec->end;
}

/* Puts the codes behind the bytes; how long the body is. */
static inline uint64_t cleave_codec_end_body(struct cleave_codec* codec) {
  uint32_t bytes = (uint32_t)(codec->next - codec->start);
  uint64_t codes = (uint64_t)(codec->codes - codec->middle);
  memcpy(codec->start, &bytes, 4);
  memmove(codec->next, codec->middle, codes);
  memset(codec->next + codes, 0, CLEAVE_CODEC_SLACK);
  return bytes + codes + CLEAVE_CODEC_SLACK;
}

/* Each writes the bytes of one word, and up to 8 bytes of slack, at *next, and gives back its code. */
static CLEAVE_CODEC_INLINE uint64_t cleave_codec_put_best(uint8_t** next, uint64_t* first, uint64_t* second,
                                                          uint64_t word) {
  uint64_t one = cleave_codec_zigzag(word - *first), two = cleave_codec_zigzag(word - *second);
  *first = *second = word;
  int better = (two < one) & (two >> 48 == 0);
  uint64_t bits = __builtin_unpredictable(better) ? two : one, bytes = cleave_codec_bytes(bits);
  memcpy(*next, &bits, 8);
  *next += bytes;
  return bytes + (uint64_t)better * CLEAVE_CODEC_SECOND;
}
static CLEAVE_CODEC_INLINE uint64_t cleave_codec_put_exact(uint8_t** next, uint64_t* first, uint64_t* second,
                                                           uint64_t word) {
  uint64_t bits = cleave_codec_zigzag(word - *first);
  int same = word == *second;
  *first = *second = word;
  bits = __builtin_unpredictable(same) ? 0 : bits;
  uint64_t bytes = cleave_codec_bytes(bits);
  memcpy(*next, &bits, 8);
  *next += bytes;
  return __builtin_unpredictable(same) ? CLEAVE_CODEC_SECOND : bytes;
}

/* Payload words from the second on; `codes` are those of the header and the first word. */
static CLEAVE_CODEC_INLINE void cleave_codec_put_rest(struct cleave_codec* codec, const uint64_t* words,
                                                      uint32_t payload, uint64_t codes, uint8_t* next,
                                                      int exact) {
  uint64_t *first = cleave_codec_places(codec), *second = cleave_codec_behind(codec, words[0]);
  uint8_t* at = codec->codes;
  uint32_t i = 1, shift = 8;
  for (;;) {
    uint32_t room = i + (64 - shift) / 4, stop = payload < room ? payload : room;
    for (; i < stop; ++i, shift += 4) {
      uint32_t place = exact ? i : cleave_codec_position(i); /* no segment is longer than a row */
      uint64_t code = exact ? cleave_codec_put_exact(&next, first + place, second + place, words[i])
                            : cleave_codec_put_best(&next, first + place, second + place, words[i]);
      codes |= code << shift;
    }
    memcpy(at, &codes, 8);
    if (i >= payload) break;
    at += 8;
    codes = 0;
    shift = 0;
  }
  codec->codes = at + (shift + 4) / 8;
  codec->next = next;
}

/* A whole record: header and `payload` words behind it. It must fit. */
static CLEAVE_CODEC_INLINE void cleave_codec_put_record(struct cleave_codec* codec, const uint64_t* record,
                                                        uint32_t payload) {
  uint8_t* next = codec->next;
  uint64_t turned = record[0] << 16 | record[0] >> 48, *follow = cleave_codec_follow(codec);
  uint64_t bits = cleave_codec_zigzag(turned - *follow), codes = cleave_codec_bytes(bits);
  *follow = turned;
  codec->address = record[0] & CLEAVE_CODEC_ADDRESS;
  memcpy(next, &bits, 8);
  next += codes;
  if (payload == 0) {
    *codec->codes++ = (uint8_t)codes;
    codec->next = next;
    return;
  }
  uint64_t recent = codec->recent;
  codes |= cleave_codec_put_best(&next, cleave_codec_places(codec), &recent, record[1]) << 4;
  if (cleave_codec_is_segment(codec)) {
    codec->recent = record[payload];
    cleave_codec_put_rest(codec, record + 1, payload, codes, next, 1);
  } else {
    codec->recent = record[1];
    cleave_codec_put_rest(codec, record + 1, payload, codes, next, 0);
  }
}

/* ---- decoder ---- */

static inline void cleave_codec_begin_reading(struct cleave_codec* codec, const uint8_t* body,
                                              uint64_t size) {
  uint32_t bytes = 0;
  codec->start = (uint8_t*)(uintptr_t)body;
  codec->failed = size < 4 + CLEAVE_CODEC_SLACK;
  if (!codec->failed) memcpy(&bytes, body, 4);
  codec->failed = codec->failed || bytes < 4 || bytes > size - CLEAVE_CODEC_SLACK;
  codec->next = codec->failed ? codec->start : codec->start + 4;
  codec->middle = codec->codes = codec->failed ? codec->next : codec->start + bytes;
  codec->end = codec->failed ? codec->next : codec->start + size - CLEAVE_CODEC_SLACK;
  codec->used = 0;
}

/* Whether all of the body has been taken. */
static inline int cleave_codec_at_end(const struct cleave_codec* codec) {
  return codec->next == codec->middle && codec->codes + (codec->used + 1) / 2 == codec->end;
}

/* The bytes behind a code, and a mask that keeps so many. */
static CLEAVE_CODEC_INLINE uint32_t cleave_codec_length(uint32_t code) {
  return (uint32_t)(UINT64_C(0x6543210876543210) >> (4 * code)) & 15u;
}
static CLEAVE_CODEC_INLINE uint64_t cleave_codec_difference(uint64_t bits, uint32_t bytes) {
  bits &= bytes < 8 ? (UINT64_C(1) << (8 * bytes)) - 1 : UINT64_MAX;
  return (bits >> 1) ^ (0 - (bits & 1));
}

/* The next difference; 0 and `failed` where the bytes end before it. Behind the bytes are the codes and the
 * slack, so eight can be taken at any place among them. */
static CLEAVE_CODEC_INLINE uint64_t cleave_codec_take(struct cleave_codec* codec, uint32_t code) {
  uint64_t bits;
  uint32_t bytes = cleave_codec_length(code);
  if (__builtin_expect((uint64_t)(codec->middle - codec->next) < bytes, 0)) {
    codec->failed = 1;
    return 0;
  }
  memcpy(&bits, codec->next, 8);
  codec->next += bytes;
  return cleave_codec_difference(bits, bytes);
}

static inline uint64_t cleave_codec_get_header(struct cleave_codec* codec) {
  codec->codes += (codec->used + 1) / 2;
  codec->used = 1;
  uint32_t code = codec->codes < codec->end ? *codec->codes & 15u : 15u;
  uint64_t* follow = cleave_codec_follow(codec);
  if (code < CLEAVE_CODEC_SECOND)
    *follow += cleave_codec_take(codec, code);
  else
    codec->failed = 1;
  uint64_t header = *follow >> 16 | *follow << 48;
  codec->address = header & CLEAVE_CODEC_ADDRESS;
  return header;
}

static CLEAVE_CODEC_INLINE uint64_t cleave_codec_get_one(struct cleave_codec* codec, uint32_t code,
                                                         uint64_t* first, uint64_t* second) {
  uint64_t word = (code < CLEAVE_CODEC_SECOND ? *first : *second) + cleave_codec_take(codec, code);
  return *first = *second = word;
}

/* Payload words `from` to `from + count - 1` of the record whose header was read last; in order, all or in
 * parts. */
static CLEAVE_CODEC_INLINE void cleave_codec_get_words(struct cleave_codec* codec, uint32_t from,
                                                       uint64_t* words, uint32_t count) {
  if (count == 0) return;
  uint64_t* first = cleave_codec_places(codec);
  uint32_t i = 0;
  if ((uint64_t)(codec->end - codec->codes) < ((uint64_t)from + count + 2) / 2) {
    codec->failed = 1;
    memset(words, 0, count * sizeof *words);
    return;
  }
  codec->used = from + count + 1;
  if (from == 0) {
    words[i++] = cleave_codec_get_one(codec, *codec->codes >> 4, first, &codec->recent);
    codec->second = cleave_codec_behind(codec, words[0]);
    codec->recent = words[0];
  }
  uint64_t* second = codec->second;
  while (i < count) {
    uint32_t at = from + i + 1, within = at % 16, most = count - i < 16 - within ? count - i : 16 - within;
    uint64_t codes;
    memcpy(&codes, codec->codes + at / 16 * 8, 8); /* the slack is behind the last */
    codes >>= 4 * within;
    int roomy = codec->middle - codec->next >= 8 * (int64_t)most && from + i + most <= CLEAVE_CODEC_ROW;
    uint8_t* next = codec->next;
    for (uint32_t stop = i + most; roomy && i < stop; ++i, codes >>= 4) {
      uint32_t code = (uint32_t)codes & 15u, bytes = cleave_codec_length(code), place = from + i;
      uint64_t bits, *prediction = code < CLEAVE_CODEC_SECOND ? first + place : second + place;
      memcpy(&bits, next, 8);
      next += bytes;
      words[i] = first[place] = second[place] = *prediction + cleave_codec_difference(bits, bytes);
    }
    codec->next = next;
    for (uint32_t stop = roomy ? i : i + most; i < stop; ++i, codes >>= 4) {
      uint32_t place = cleave_codec_position(from + i);
      words[i] = cleave_codec_get_one(codec, (uint32_t)codes & 15u, first + place, second + place);
    }
  }
  if (cleave_codec_is_segment(codec)) codec->recent = words[count - 1];
}

#endif
