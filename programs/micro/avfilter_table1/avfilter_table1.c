/* The ten rows of the table: two accesses of T1 in one unit, one of T2, in the order in which a serial run observes
 * them. --row N picks one; the thread that is observed first is started first. */
#include <pthread.h>

#include "cleave/annotate.h"
#include "common/options.h"
#include "common/racy.h"

struct row {
  const char *unit, *remote; /* what T1 does in its unit, what T2 does */
  int remote_first;
  void *(*t1)(void *), *(*t2)(void *);
};
static RACY(int) x;
static const struct row *row;
static int seen1[2], seen2; /* what was read */
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&lock)
#define UNLOCK() pthread_mutex_unlock(&lock)
#else
#define LOCK() ((void)0)
#define UNLOCK() ((void)0)
#endif

/* One function for each kind of unit: a branch between two accesses would make the filter give up. */
#define T1(name, first, second)     \
  static void *name(void *unused) { \
    int a = 0, b = 0;               \
    LOCK();                         \
    CLEAVE_ATOMIC_BEGIN(#name);     \
    first;                          \
    second;                         \
    CLEAVE_ATOMIC_END();            \
    UNLOCK();                       \
    seen1[0] = a;                   \
    seen1[1] = b;                   \
    return unused;                  \
  }
T1(read_read, a = LOAD(x), b = LOAD(x))
T1(read_write, a = LOAD(x), STORE(x, 12))
T1(write_read, STORE(x, 11), b = LOAD(x))
T1(write_write, STORE(x, 11), STORE(x, 12))

static void *remote_read(void *unused) {
  LOCK();
  int a = LOAD(x);
  UNLOCK();
  seen2 = a;
  return unused;
}

static void *remote_write(void *unused) {
  LOCK();
  STORE(x, 21);
  UNLOCK();
  return unused;
}

static const struct row rows[] = {
    {"RR", "W", 0, read_read, remote_write},   {"RW", "W", 0, read_write, remote_write},
    {"WW", "W", 0, write_write, remote_write}, {"WW", "R", 1, write_write, remote_read},
    {"WW", "W", 1, write_write, remote_write}, {"WR", "W", 0, write_read, remote_write},
    {"WW", "R", 0, write_write, remote_read},  {"RR", "W", 1, read_read, remote_write},
    {"WR", "W", 1, write_read, remote_write},  {"RW", "W", 1, read_write, remote_write},
};

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
    if (i > 0) STORE(x, 0); /* reads of the first round read the initial value, as in the table */
    for (int k = 0; k < 2; k++)
      pthread_create(&threads[k], NULL, k == row->remote_first ? row->t1 : row->t2, NULL);
    for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
    held = serial();
  }
  return verdict(held, "no serial order explains what was read");
}
