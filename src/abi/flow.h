/* One page that the tool and the runtimes of a recorded run share: how much may be written, how much was, and
 * how far whoever reads along has come. The tool makes it and names it in CLEAVE_FLOW_VARIABLE. All processes
 * of the run have the same one. Every field is written by one side only, atomically.
 *
 * A program that is too far ahead of its reader waits here of its own accord, on the futex `woken`. It does
 * not depend on being stopped: a reader that is slow, is stopped itself or dies never lets the trace grow.
 */
#ifndef CLEAVE_ABI_FLOW_H
#define CLEAVE_ABI_FLOW_H

#include <stdint.h>

#define CLEAVE_FLOW_VARIABLE "CLEAVE_FLOW"
#define CLEAVE_FLOW_MAGIC UINT64_C(0x31574f4c46434c01)
#define CLEAVE_FLOW_NO_LIMIT UINT64_MAX

/* Without a tool that says otherwise a recording ends here, or when half of what was free on the file system
 * is taken. */
#define CLEAVE_FLOW_MOST_BYTES (UINT64_C(8) << 30)

struct cleave_flow {
  uint64_t magic;
  /* The tool's side. */
  uint64_t most_bytes; /* of all traces of the run together; at this size the recording ends */
  uint64_t
      allowed_lag; /* bytes that the first process may be ahead of the reader; NO_LIMIT: nobody reads along */
  uint64_t consumed; /* bytes of the first process's trace that the reader is done with */
  uint32_t woken;    /* futex; changes whenever `consumed` or `closed` does */
  uint32_t closed;   /* nobody reads any more: the recording is over, the program goes on */
  /* The program's side. */
  uint64_t written;  /* bytes, all traces */
  uint64_t appended; /* bytes of the first process's trace */
  uint64_t records;  /* that were coded */
  uint32_t waiting;  /* threads that wait now */
  uint32_t waits;    /* how often one had to */
  uint32_t cut;      /* the recording ended at most_bytes */
  uint32_t unused;
};

#ifdef __cplusplus
static_assert(sizeof(cleave_flow) == 80);
#endif
#endif
