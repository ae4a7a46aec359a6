/* What every program of the suite shares: its options, a seeded random number, the way it ends. C and C++.
 *
 *   --threads N   how many threads (programs whose cast is fixed say so and ignore it)
 *   --iters N     how often each thread does its work, or how often the scene is played
 *   --seed N      where the program's own random choices start
 *
 * Exit status: 0 the invariant held, 1 it broke, 2 wrong usage, 3 the program would have hung.
 */
#ifndef PROGRAMS_OPTIONS_H
#define PROGRAMS_OPTIONS_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
  unsigned threads, iters;
  uint64_t seed;
};

/* The number behind `name` on the command line, or `otherwise`. */
static inline uint64_t option_number(int argc, char **argv, const char *name, uint64_t otherwise) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], name) != 0) continue;
    char *end = NULL;
    uint64_t number = i + 1 < argc ? strtoull(argv[i + 1], &end, 10) : 0;
    if (end == NULL || *end != '\0' || end == argv[i + 1]) {
      fprintf(stderr, "%s: %s wants a number\n", argv[0], name);
      exit(2);
    }
    return number;
  }
  return otherwise;
}

static inline struct options read_options(int argc, char **argv, unsigned threads, unsigned iters) {
  struct options options;
  options.threads = (unsigned)option_number(argc, argv, "--threads", threads);
  options.iters = (unsigned)option_number(argc, argv, "--iters", iters);
  options.seed = option_number(argc, argv, "--seed", 1);
  return options;
}

/* splitmix64: the caller owns the state, so threads share nothing. */
static inline uint64_t next_random(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static inline void give_up(int signal_number) {
  (void)signal_number;
  _exit(3);
}

/* For programs whose bug may let them hang: status 3 after so many seconds. */
static inline void start_watchdog(unsigned seconds) {
  signal(SIGALRM, give_up);
  alarm(seconds);
}

/* The program's exit status; says what broke. */
static inline int verdict(int held, const char *what) {
  if (!held) printf("broken: %s\n", what);
  return held ? 0 : 1;
}

#endif
