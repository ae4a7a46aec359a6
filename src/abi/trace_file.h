/* The trace file as the runtime writes it and trace/ reads it. Little-endian. A file header, then chunks to
 * the end.
 *
 * Each chunk stands for itself: header, then `stored_bytes` of body. A reader that meets a chunk whose magic,
 * sizes or checksum are wrong, or that is cut off, keeps everything before it and says so. Chunks of one
 * thread are in program order; between threads only tickets and stamps order. Chunks are appended by
 * whichever thread has filled a buffer, with one write call each (the file is opened with O_APPEND), so no
 * lock is needed and a killed program leaves a readable file.
 */
#ifndef CLEAVE_ABI_TRACE_FILE_H
#define CLEAVE_ABI_TRACE_FILE_H

#include <stdint.h>

#define CLEAVE_TRACE_MAGIC UINT64_C(0x31455641454c4301) /* "\1CLEAVE1" */
#define CLEAVE_CHUNK_MAGIC UINT32_C(0x4b4e4843)         /* "CHNK" */
#define CLEAVE_TRACE_VERSION 4                          /* 4: checksums cover the chunk's header */

struct cleave_file_header {
  uint64_t magic;
  uint32_t version;
  uint32_t header_bytes; /* of this structure; a later version may be longer */
  uint64_t start_stamp;
  uint64_t process; /* process id */
};

enum cleave_chunk_kind {
  CLEAVE_CHUNK_RECORDS = 1, /* body: records of `thread`, coded as in codec.h, or raw */
  CLEAVE_CHUNK_MODULE = 2,  /* body: struct cleave_module_chunk, then name, segments (struct cleave_segment
                               each), globals' addresses (8 bytes each), tables */
  CLEAVE_CHUNK_PROCESS =
      3, /* body: JSON text: program, arguments, working directory, pid, parent, schedule, seed,
            environment that matters, mapped files with their addresses and build ids. One more after each
            dlopen that brought instrumented modules: only the mapped files are new */
  CLEAVE_CHUNK_END = 4, /* body: JSON text: how the program ended, counts; last chunk of a complete trace. One
                           that says "exec" and is followed by more chunks was an exec that failed */
  CLEAVE_CHUNK_UNLOAD = 5,   /* body: one word, segment array address of a module that is gone */
  CLEAVE_CHUNK_SCHEDULE = 6, /* body: the schedule that a controlled run followed, as schedule/ writes it; the
                               tool appends it when the program has ended, so it may stand behind END */
  CLEAVE_CHUNK_TABLES =
      7, /* an imported trace: zstd of its names, as trace/imported/imported_events.h writes them; once */
  CLEAVE_CHUNK_EVENTS = 8 /* an imported trace: up to 65536 events in their total order, as
                             trace/core/event_columns.h writes them */
};

/* RECORDS: the codec goes on with the tables that the thread's chunk before left. Chunks whose number is a
 * multiple of LONGEST_RUN never do, so a chunk in the middle is reached by decoding at most 15 others. */
#define CLEAVE_CHUNK_CONTINUES 1u
#define CLEAVE_CHUNK_LONGEST_RUN 16u

/* RECORDS: the body is the words as they stood in the buffer, eight bytes each. For a trace that is read
 * while it is written and that nobody keeps: then coding costs both sides more than the bytes that it saves.
 * `records` is 0, nobody has counted them, and a word whose low 48 bits are 0 where a header should be is a
 * gap. A program writes such chunks when CLEAVE_TRACE_RAW_VARIABLE is set in its environment; what it forks
 * or executes writes nothing then, for nobody would read it. */
#define CLEAVE_CHUNK_RAW 2u
#define CLEAVE_TRACE_RAW_VARIABLE "CLEAVE_TRACE_RAW"
#define CLEAVE_CHUNK_RAW_WORDS (1u << 20) /* a raw chunk has no more; a buffer has 8 thousand */
#define CLEAVE_CHUNK_RAW_TAIL 8u          /* words at the end of a raw body that the checksum is made of */

struct cleave_chunk_header {
  uint32_t magic;
  uint16_t kind;
  uint16_t flags;        /* CLEAVE_CHUNK_CONTINUES or CLEAVE_CHUNK_RAW */
  uint32_t thread;       /* thread number, RECORDS only */
  uint32_t stored_bytes; /* of the body as it stands in the file */
  uint64_t sequence;     /* RECORDS: number of the chunk within its thread, from 0; else 0 */
  uint32_t words;        /* RECORDS: raw words that the body decodes to */
  uint32_t records;      /* RECORDS: records in it */
  uint64_t checksum;     /* of everything above and of the body as stored: cleave_chunk_checksum in
                            chunk_checksum.h; of a raw chunk cleave_raw_checksum */
};

static inline uint64_t cleave_mix(uint64_t sum, uint64_t word) {
  return ((sum ^ word) * UINT64_C(0x9e3779b97f4a7c15)) ^ (sum >> 29);
}

/* Tells a raw chunk that was written to its end from one that was not and has another behind it: of all that
 * a writer does wrong, that is what happens (a full disk). Reading the whole body for it would cost as much
 * as using it. */
static inline uint64_t cleave_raw_checksum(const struct cleave_chunk_header* header, const uint64_t* words) {
  uint64_t sum = (uint64_t)header->magic << 32 | (uint32_t)header->kind << 16 | header->flags;
  sum = cleave_mix(sum, (uint64_t)header->thread << 32 | header->stored_bytes);
  sum = cleave_mix(sum, header->sequence);
  sum = cleave_mix(sum, (uint64_t)header->words << 32 | header->records);
  uint32_t from = header->words < CLEAVE_CHUNK_RAW_TAIL ? 0 : header->words - CLEAVE_CHUNK_RAW_TAIL;
  for (uint32_t i = from; i < header->words; ++i) sum = cleave_mix(sum, words[i]);
  return sum;
}

struct cleave_module_chunk {
  uint64_t segments; /* run-time address of the segment array: headers of records point into it */
  uint64_t segment_count;
  uint64_t identity;
  uint32_t name_bytes;
  uint32_t global_count;
  uint64_t table_bytes;
};

#ifdef __cplusplus
static_assert(sizeof(cleave_file_header) == 32);
static_assert(sizeof(cleave_chunk_header) == 40);
static_assert(sizeof(cleave_module_chunk) == 40);
#endif
#endif
