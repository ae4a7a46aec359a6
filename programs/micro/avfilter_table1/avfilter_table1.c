/* The ten rows of the table: two accesses of T1 in one unit, one of T2, in the order in which a serial run observes
 * them. --row N picks one; the thread that is observed first is started first. */
#include <pthread.h>

#include "cleave/annotate.h"
#include "common/options.h"
#include "common/racy.h"

struct row {
  const char *unit, *remote; /* what T1 does in its unit, what T2 does */
  int remote_first;
};
static const struct row rows[] = {
    {"RR", "W", 0}, {"RW", "W", 0}, {"WW", "W", 0}, {"WW", "R", 1}, {"WW", "W", 1},
    {"WR", "W", 0}, {"WW", "R", 0}, {"RR", "W", 1}, {"WR", "W", 1}, {"RW", "W", 1},
};
static RACY(int) x;
static const struct row *row;
static int seen1[2], seen2; /* what was read; -1 for a write */
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&lock)
#define UNLOCK() pthread_mutex_unlock(&lock)
#else
#define LOCK() ((void)0)
#define UNLOCK() ((void)0)
#endif

static int access_x(char what, int value) {
  if (what == 'R') return LOAD(x);
  STORE(x, value);
  return -1;
}

static void *t1(void *argument) {
  const struct row *mine = argument;
  char first = mine->unit[0], second = mine->unit[1];
  LOCK();
  CLEAVE_ATOMIC_BEGIN("t1");
  int a = access_x(first, 11);
  int b = access_x(second, 12);
  CLEAVE_ATOMIC_END();
  UNLOCK();
  seen1[0] = a;
  seen1[1] = b;
  return NULL;
}

static void *t2(void *argument) {
  char what = ((const struct row *)argument)->remote[0];
  LOCK();
  int a = access_x(what, 21);
  UNLOCK();
  seen2 = a;
  return NULL;
}

/* Is there a serial order with these reads and this last value? */
static int serial(void) {
  char first = row->unit[0], second = row->unit[1], remote = row->remote[0];
  for (int t2_first = 0; t2_first < 2; t2_first++) {
    int value = 0, ok = 1;
    if (t2_first && remote == 'R') ok = ok && seen2 == value;
    if (t2_first && remote == 'W') value = 21;
    if (first == 'R') ok = ok && seen1[0] == value;
    else value = 11;
    if (second == 'R') ok = ok && seen1[1] == value;
    else value = 12;
    if (!t2_first && remote == 'R') ok = ok && seen2 == value;
    if (!t2_first && remote == 'W') value = 21;
    if (ok && value == LOAD(x)) return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  struct options options = read_options(argc, argv, 2, 1); /* two threads, as in the table */
  uint64_t number = option_number(argc, argv, "--row", 1);
  if (number < 1 || number > 10) return 2;
  row = &rows[number - 1];
  int held = 1;
  for (unsigned i = 0; i < options.iters && held; i++) {
    pthread_t threads[2];
    STORE(x, 0);
    for (int k = 0; k < 2; k++)
      pthread_create(&threads[k], NULL, k == row->remote_first ? t1 : t2, (void *)row);
    for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
    held = serial();
  }
  return verdict(held, "no serial order explains what was read");
}
