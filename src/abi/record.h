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
 * A segment of several accesses has legs, one for each access, so that a scheduler that decides between legs
 * decides between any two accesses. Running free, all legs share one record. Where somebody else runs between
 * two, each leg is a record with a descriptor of its own: those of the legs stand behind that of their
 * segment. The record of a leg has the words of the legs before it in front of its own, of which it has at
 * least one.
 *
 * Inline code of a segment of n payload words:
 *
 *   word *p = __cleave_thread.cursor;
 *   if (p + 1 + n > __cleave_thread.limit) {         // cold
 *     p = __cleave_reserve(1 + n, descriptor);       // under control a scheduling point
 *     if (__cleave_thread.limit <= p) goto stepwise; // where there are legs
 *   }
 *   __cleave_thread.cursor = p + 1 + n;              // reserved before the first access
 *   p[0] = descriptor | __cleave_thread.branches << 48, __cleave_thread.branches = 1;
 *   p[1] = address of the first access, p[2] = what it loads, p[3] = …
 *
 * `stepwise` is a second copy of the same code, with p = __cleave_leg(p, descriptor + 2) before the second
 * access, and so on: free recording pays nothing for it.
 *
 * Every word of the buffer is CLEAVE_UNWRITTEN when it is handed out, words are stored in their order, and
 * addresses before the access. So a segment that was interrupted (crash, another thread's exit) shows how far
 * it came, whatever it stored: a read whose address is there and whose value is not is the one that faulted.
 *
 * Under control (schedule other than free) `limit` is kept at 0, so every segment enters __cleave_reserve:
 * that is the scheduling point before its first access, and costs nothing when nobody schedules. Every
 * further access is a leg and has its scheduling point in __cleave_leg.
 */
#ifndef CLEAVE_ABI_RECORD_H
#define CLEAVE_ABI_RECORD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CLEAVE_ABI_VERSION 3

#define CLEAVE_HEADER_ADDRESS_BITS 48
#define CLEAVE_HEADER_ADDRESS_MASK ((UINT64_C(1) << 48) - 1)
/* What no record has stored yet. As a header it has no descriptor and no kind: a gap. As a payload it is a
 * value that no program is likely to have, and matters only at the end of a record that was interrupted. */
#define CLEAVE_UNWRITTEN UINT64_C(0x8f3d000000000000)
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
#define CLEAVE_SEGMENT_MAX_WORDS 240u /* a new one starts before this; the smallest buffer holds two */
#define CLEAVE_SEGMENT_ACCESS 1u      /* has at least one memory access */
#define CLEAVE_SEGMENT_CALL 2u        /* ends in a call */
#define CLEAVE_SEGMENT_LEGS 4u        /* the descriptors of its legs follow */
#define CLEAVE_SEGMENT_POINT 8u /* a range that is only written: __cleave_range_point stands before it */

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
