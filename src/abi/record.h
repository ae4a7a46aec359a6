/* What an instrumented program, the runtime inside it and the tool agree on about records. C, freestanding.
 *
 * A thread writes records into a raw buffer of 64-bit words of its own. The instrumentation does that inline:
 * there is no call on the access path. Every record is one header word and a number of payload words:
 *
 *   header  bits 0..47   address of the segment's descriptor (struct cleave_segment), or a number below 4096:
 *                        a record of the runtime itself, from runtime_records.def
 *           bits 48..63  outcomes of the conditional branches since the thread's previous record, oldest in
 * the highest place, below a sentinel 1. 0x0001 means none. At most 15 fit; the overflow hook writes a
 * `branches` record before a sixteenth would be lost
 *
 * A segment is a straight run of events within one basic block: nothing in it calls code that could record or
 * synchronise. Its descriptor says how many payload words it has; what they mean (which is the address of
 * which access, what is constant or derived and so not stored) is in the module's tables, slot by slot in
 * program order. The pass writes the tables, trace/ reads them: site_tables.h.
 *
 * A segment in which two accesses may touch the same memory has legs: within one leg no two accesses may, so
 * a scheduler that decides between legs decides between any two accesses that matter. Running free, all legs
 * share one record. Where somebody else runs between two, each leg is a record with a descriptor of its own:
 * those of the legs stand behind that of their segment. The record of a leg has the words of the legs before
 * it in front of its own.
 *
 * Inline code of a segment of n payload words:
 *
 *   word *p = __cleave_thread.cursor;
 *   if (p + 1 + n > __cleave_thread.limit) p = __cleave_reserve(1 + n, descriptor);  // cold; a scheduling
 * point under control
 *   __cleave_thread.cursor = p + 1 + n;                                     // reserved before the first
 * access p[0] = descriptor | __cleave_thread.branches << 48;  __cleave_thread.branches = 1; p[1] = address of
 * the first access;  v = load;  p[2] = v;  … if (__cleave_thread.limit <= p) p = __cleave_leg(p, descriptor +
 * 2);    // before the second leg; cold, under control p[3] = …
 *
 * The buffer is zeroed when it is handed out, and the addresses are stored before the access, so a segment
 * that was interrupted (crash, another thread's exit) shows how far it came: an address word of 0 was not
 * reached.
 *
 * Under control (schedule other than free) `limit` is kept at 0, so every segment enters __cleave_reserve:
 * that is the scheduling point before its first access, and costs nothing when nobody schedules. Every
 * further leg enters __cleave_leg for the same reason.
 */
#ifndef CLEAVE_ABI_RECORD_H
#define CLEAVE_ABI_RECORD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CLEAVE_ABI_VERSION 2

#define CLEAVE_HEADER_ADDRESS_BITS 48
#define CLEAVE_HEADER_ADDRESS_MASK ((UINT64_C(1) << 48) - 1)
#define CLEAVE_BRANCHES_NONE UINT64_C(1)
#define CLEAVE_BRANCHES_FULL UINT64_C(0x8000) /* sentinel in the highest place: 15 outcomes */

/* The thread's end of the inline code. Initial-exec thread-local, defined by the runtime, symbol
 * __cleave_thread. */
struct cleave_thread_block {
  uint64_t* cursor;  /* next free word */
  uint64_t* limit;   /* one past the last usable word; 0 under control */
  uint64_t branches; /* outcomes since the last record below their sentinel */
};

/* One segment. The array of a module stands in writable-by-nobody memory; its order is that of the tables. */
struct cleave_segment {
  uint16_t words; /* payload words */
  uint16_t flags; /* CLEAVE_SEGMENT_* */
};
#define CLEAVE_SEGMENT_MAX_WORDS \
  240u /* the pass starts a new segment before this; the smallest buffer holds two */
#define CLEAVE_SEGMENT_ACCESS 1u /* has at least one memory access */
#define CLEAVE_SEGMENT_CALL 2u   /* ends in a call */
#define CLEAVE_SEGMENT_LEGS 4u   /* the descriptors of its legs follow */

/* What a module (translation unit) tells the runtime at start, through __cleave_register. */
struct cleave_module {
  uint32_t abi_version;
  uint32_t segment_count;
  const struct cleave_segment* segments;
  const void* const* globals; /* relocated addresses of the globals that slots refer to by index */
  uint64_t global_count;
  const void* tables; /* encoded site tables, copied into the trace as they are */
  uint64_t table_bytes;
  const char* name;  /* source file as given to the compiler */
  uint64_t identity; /* hash of the instrumented bitcode: finds it again in the binary */
};

#ifdef __cplusplus
}
static_assert(sizeof(cleave_segment) == 4);
static_assert(sizeof(cleave_thread_block) == 24);
#endif
#endif
