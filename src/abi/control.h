/* What the tool and the runtime agree on about a controlled run: one sparse file that exec/ makes and the
 * runtime maps (its name stands in the environment variable CLEAVE_CONTROL). A header, what is asked for,
 * then the areas that the runtime fills while the program runs, so that a killed program leaves everything up
 * to its last point.
 *
 * Threads are a tree: parent (index in the same area, the main thread is its own) and ordinal among its
 * parent's children, from 1. Nothing in the file is an address of the program, except in cleave_control_wait,
 * for messages.
 */
#ifndef CLEAVE_ABI_CONTROL_H
#define CLEAVE_ABI_CONTROL_H

#include <stdint.h>

#define CLEAVE_CONTROL_MAGIC UINT64_C(0x4c52544356414c43) /* "CLAVCTRL" */
#define CLEAVE_CONTROL_VERSION 4
#define CLEAVE_CONTROL_VARIABLE "CLEAVE_CONTROL"

enum cleave_policy { /* the order of schedule/'s Policy */
                     CLEAVE_POLICY_FREE = 0,
                     CLEAVE_POLICY_SERIAL = 1,
                     CLEAVE_POLICY_RANDOM = 2,
                     CLEAVE_POLICY_PCT = 3,
                     CLEAVE_POLICY_NOISE = 4,
                     CLEAVE_POLICY_PLAN = 5,
                     CLEAVE_POLICY_REPLAY = 6,
                     CLEAVE_POLICY_SWITCHES = 7,
                     CLEAVE_POLICY_POS = 8,
                     CLEAVE_POLICY_RF = 9,
                     CLEAVE_POLICY_REVERSE = 10,
                     CLEAVE_POLICY_FIRST = 11
};

enum cleave_point {
#define CLEAVE_POINT(name, number, word, sync) CLEAVE_POINT_##name = number,
#include "abi/control_points.def"
#undef CLEAVE_POINT
  CLEAVE_POINT_none = 0
};

enum cleave_pinned { /* where a value from outside came from */
                     CLEAVE_PINNED_TIME = 1,
                     CLEAVE_PINNED_RANDOM = 2,
                     CLEAVE_PINNED_THREAD_ID = 3,
                     CLEAVE_PINNED_CHOICE =
                         4, /* of the scheduler: which waiter, whether a call gave the turn away */
                     CLEAVE_PINNED_INPUT = 5 /* what a system call brought in */
};

#define CLEAVE_CONTROL_SPURIOUS 1u
#define CLEAVE_CONTROL_NO_DRAIN 2u /* other threads do not go on when main returns */

struct cleave_control_area {
  uint64_t offset, capacity, used; /* bytes */
};

struct cleave_control_thread {
  uint32_t parent, ordinal;
  uint64_t pinned; /* replay: where its values begin in replay_pinned; UINT64_MAX if it has none */
};

#define CLEAVE_RUN_GAVE_AWAY 0u /* it had to wait, called out, or ended, after its last point */
#define CLEAVE_RUN_PREEMPTED 1u /* at its last point */
#define CLEAVE_RUN_TAKEN 2u     /* it slept in a call that we do not know */
struct cleave_control_run {
  uint32_t thread;
  uint32_t how; /* CLEAVE_RUN_* */
  uint64_t points;
};

/* Policy SWITCHES: when `thread` has come to so many points and its run ends in this way (PREEMPTED: it could
 * go on), `next` gets the turn. Switches of one thread stand together, in their order. */
struct cleave_control_switch {
  uint32_t thread, next; /* indexes into the request's threads */
  uint32_t how;          /* CLEAVE_RUN_PREEMPTED or CLEAVE_RUN_GAVE_AWAY */
  uint32_t reserved;
  uint64_t points;
};

/* Every point of which the step is kept in full, and every one that is no plain access, has a fingerprint; of
 * plain accesses behind those one in so many has, counted from the thread's last, and one at the end of its
 * run if it has none. Each is of all that its thread did so far. */
#define CLEAVE_CONTROL_GROUP 8u

#define CLEAVE_NO_PLACE UINT32_MAX
struct cleave_control_step {
  uint32_t operation;
  uint32_t module, segment; /* module CLEAVE_NO_PLACE: not known */
  uint32_t thread;
  uint64_t value;
};

struct cleave_control_pinned { /* then `bytes` bytes, padded to a multiple of 8 */
  uint32_t thread;
  uint16_t source;
  uint16_t reserved;
  uint64_t bytes;
};

struct cleave_control_module {
  uint64_t identity;
  char name[120];
};

/* A place that milestones speak of: all segments with the same `group` are the same place in the source. */
struct cleave_control_place {
  uint64_t identity; /* of the module */
  uint32_t segment;
  uint32_t group;
};

struct cleave_control_milestone {
  uint32_t thread; /* index into the request's threads */
  uint32_t group;
  uint64_t occurrence; /* from 1 */
  uint64_t value;
  uint32_t has_value;
  uint32_t at_call; /* reached in the call that ends the segment, not before its accesses */
};

/* Policy RF: an access of group `then` follows one of group `after` by another thread, and none of group
 * `between` comes between the two. NEGATIVE: it does not follow it directly. */
#define CLEAVE_CONSTRAINT_NEGATIVE 1u
struct cleave_control_constraint {
  uint32_t after; /* group; CLEAVE_NO_PLACE: the beginning of the run */
  uint32_t then, between;
  uint32_t flags;
  uint64_t occurrence; /* of `after`, over all threads, from 1: earlier ones do not count */
};

/* Who waits for what, when nobody can go on or a plan gives up. */
struct cleave_control_wait {
  uint32_t thread;
  uint32_t operation; /* CLEAVE_POINT_* it waits in; 0: it could run; CLEAVE_WAIT_HELD: the plan holds it */
  uint32_t holder;    /* thread that has the object, CLEAVE_NO_PLACE if none or not known */
  uint32_t module, segment;
  uint32_t lost_by; /* a condition: thread whose signal met nobody, CLEAVE_NO_PLACE if none */
  uint32_t lost_module, lost_segment;
  uint64_t object; /* address, for its name */
  uint64_t mutex;  /* of a condition */
};
#define CLEAVE_WAIT_HELD 1000u

enum cleave_control_end {
  CLEAVE_END_NONE = 0, /* the program ended by itself */
  CLEAVE_END_DEADLOCK = 1,
  CLEAVE_END_LIVELOCK = 2,
  CLEAVE_END_DIVERGED = 3,
  CLEAVE_END_FULL = 4 /* the file cannot take more */
};

enum cleave_plan_why {
  CLEAVE_PLAN_RUNNING = 0,
  CLEAVE_PLAN_COMPLETE = 1,
  CLEAVE_PLAN_STUCK = 2, /* nobody but held threads could run: `waits` says who waits for what */
  CLEAVE_PLAN_THREAD_ENDED = 3,
  CLEAVE_PLAN_VALUE = 4,   /* the access had another value */
  CLEAVE_PLAN_SPINNING = 5 /* those that could run only waited in loops */
};

enum cleave_divergence {
  CLEAVE_DIVERGED_STEP = 1,    /* the thread is about to do something else */
  CLEAVE_DIVERGED_BLOCKED = 2, /* it cannot go on, then it could */
  CLEAVE_DIVERGED_RUNNING = 3, /* it goes on, then it gave the turn away */
  CLEAVE_DIVERGED_THREAD = 4,  /* the next thread does not exist, or has ended */
  CLEAVE_DIVERGED_LONGER = 5,  /* the schedule is at its end, the program is not */
  CLEAVE_DIVERGED_PINNED = 6,  /* it asks for another kind of value from outside */
  CLEAVE_DIVERGED_BUILD = 7
};

struct cleave_control_header {
  uint64_t magic;
  uint32_t version;
  uint32_t policy;
  uint64_t seed;
  uint64_t pct_points;
  uint32_t pct_depth;
  uint32_t flags;

  /* asked for */
  struct cleave_control_area request_threads, milestones, places, switches, constraints;
  struct cleave_control_area replay_runs, replay_fingerprints, replay_steps, replay_pinned, replay_modules;

  /* answered */
  struct cleave_control_area threads, runs, fingerprints, steps, pinned, modules, waits;
  uint64_t points;   /* of all threads; in a replay those that agreed */
  uint32_t process;  /* the one that is controlled: the first that came */
  uint32_t end;      /* enum cleave_control_end */
  uint32_t holder;   /* thread that has the turn */
  uint32_t spinning; /* 1 while everybody who could run waits in a loop */
  uint64_t plan_reached;
  uint32_t plan_why, plan_thread;
  uint64_t plan_value;
  uint64_t constraints_met;

  uint32_t divergence, diverged_thread;
  uint64_t diverged_point;
  struct cleave_control_step diverged_now;
  uint64_t diverged_detail;
};

#ifdef __cplusplus
static_assert(sizeof(cleave_control_run) == 16);
static_assert(sizeof(cleave_control_step) == 24);
static_assert(sizeof(cleave_control_module) == 128);
#endif
#endif
