/* Every primitive that is interposed, one family a run: primitives FAMILY. The events of each are exact. */
#define HAND_NAME "primitives.c"
#include "hand.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static struct timespec in_milliseconds(clockid_t clock, long milliseconds) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += milliseconds * 1000000;
  time.tv_sec += time.tv_nsec / 1000000000;
  time.tv_nsec %= 1000000000;
  return time;
}
static struct timespec soon(void) { return in_milliseconds(CLOCK_REALTIME, 20); }
static struct timespec soon_monotonic(void) { return in_milliseconds(CLOCK_MONOTONIC, 20); }

/* 0 lock, 1 try, 2 timed, 3 clock */
static int take(pthread_mutex_t *mutex, int way) {
  struct timespec until = soon(), until_monotonic = soon_monotonic();
  switch (way) {
    case 0: return pthread_mutex_lock(mutex);
    case 1: return pthread_mutex_trylock(mutex);
    case 2: return pthread_mutex_timedlock(mutex, &until);
    default: return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until_monotonic);
  }
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void mutexes(void) {
  for (int way = 0; way < 4; ++way) {
    CHECK(take(&mutex, way) == 0);
    for (int other = 1; other < 4; ++other) CHECK(take(&mutex, other) == (other == 1 ? EBUSY : ETIMEDOUT));
    CHECK(pthread_mutex_unlock(&mutex) == 0);
  }
}

/* The first to unwind a stack finds and reads what that needs, once for the process: not what is tested here. */
static void *ends(void *argument) { pthread_exit(argument); }
static void unwind_once(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, ends, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

/* Both kinds, each of the ways to take it, once free and once its own. */
static void checked_mutexes(void) {
  pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  for (int way = 0; way < 4; ++way) {
    for (int depth = 0; depth < 4; ++depth) CHECK(take(&recursive, way == 0 ? depth : way) == 0);
    for (int depth = 0; depth < 4; ++depth) CHECK(pthread_mutex_unlock(&recursive) == 0);
    CHECK(pthread_mutex_unlock(&recursive) == EPERM);
  }
  for (int way = 0; way < 4; ++way) {
    CHECK(pthread_mutex_unlock(&checking) == EPERM);
    CHECK(take(&checking, way) == 0);
    CHECK(take(&checking, way) == (way == 1 ? EBUSY : EDEADLK));
    CHECK(pthread_mutex_unlock(&checking) == 0);
  }
  CHECK(pthread_cond_wait(&condition, &checking) == EPERM);
}

/* Its owner ends without a word; who comes next has it, and is told. */
static pthread_mutex_t robust;
static void *takes_it_along(void *argument) {
  CHECK(pthread_mutex_lock(&robust) == 0);
  return argument;
}

static void robust_mutexes(void) {
  pthread_t thread;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  CHECK(pthread_mutex_init(&robust, &attributes) == 0);
  CHECK(pthread_create(&thread, NULL, takes_it_along, NULL) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(pthread_mutex_lock(&robust) == EOWNERDEAD);
  CHECK(pthread_mutex_consistent(&robust) == 0 && pthread_mutex_unlock(&robust) == 0);
}

static void spin_locks(void) {
  pthread_spinlock_t lock;
  CHECK(pthread_spin_init(&lock, 0) == 0);
  CHECK(pthread_spin_lock(&lock) == 0);
  CHECK(pthread_spin_trylock(&lock) == EBUSY);
  CHECK(pthread_spin_unlock(&lock) == 0);
  CHECK(pthread_spin_trylock(&lock) == 0);
  CHECK(pthread_spin_unlock(&lock) == 0);
}

static void rwlocks(void) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  struct timespec until = soon(), until_monotonic = soon_monotonic();
  CHECK(pthread_rwlock_rdlock(&lock) == 0);
  CHECK(pthread_rwlock_tryrdlock(&lock) == 0);
  CHECK(pthread_rwlock_timedrdlock(&lock, &until) == 0);
  CHECK(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &until_monotonic) == 0);
  CHECK(pthread_rwlock_trywrlock(&lock) == EBUSY);
  until = soon();
  CHECK(pthread_rwlock_timedwrlock(&lock, &until) == ETIMEDOUT);
  until_monotonic = soon_monotonic();
  CHECK(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &until_monotonic) == ETIMEDOUT);
  for (int i = 0; i < 4; ++i) CHECK(pthread_rwlock_unlock(&lock) == 0);
  CHECK(pthread_rwlock_wrlock(&lock) == 0);
  CHECK(pthread_rwlock_tryrdlock(&lock) == EBUSY);
  CHECK(pthread_rwlock_unlock(&lock) == 0);
  CHECK(pthread_rwlock_trywrlock(&lock) == 0);
  CHECK(pthread_rwlock_unlock(&lock) == 0);
  until = soon();
  CHECK(pthread_rwlock_timedwrlock(&lock, &until) == 0);
  CHECK(pthread_rwlock_unlock(&lock) == 0);
  until_monotonic = soon_monotonic();
  CHECK(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &until_monotonic) == 0);
  CHECK(pthread_rwlock_unlock(&lock) == 0);
}

static int ready;

/* NULL waits, "t" with a time-out on one clock, "c" on the other: all are woken. */
static void *waiter(void *how) {
  struct timespec until = in_milliseconds(CLOCK_REALTIME, 60000), monotonic = in_milliseconds(CLOCK_MONOTONIC, 60000);
  pthread_mutex_lock(&mutex);
  ready = 1;
  while (ready != 2) {
    int result = how == NULL              ? pthread_cond_wait(&condition, &mutex)
                 : *(char *)how == 't'    ? pthread_cond_timedwait(&condition, &mutex, &until)
                                          : pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &monotonic);
    CHECK(result == 0);
  }
  pthread_mutex_unlock(&mutex);
  return how;
}

static void conditions(void) {
  struct timespec until = soon(), until_monotonic = soon_monotonic();
  pthread_mutex_lock(&mutex);
  CHECK(pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT);
  CHECK(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until_monotonic) == ETIMEDOUT);
  pthread_mutex_unlock(&mutex);
  static char kinds[] = "tc";
  for (int i = 0; i < 3; ++i) {
    pthread_t thread;
    ready = 0;
    CHECK(pthread_create(&thread, NULL, waiter, i == 0 ? NULL : &kinds[i - 1]) == 0);
    for (int seen = 0; !seen;) {  /* outside our view: the number of turns is not fixed */
      usleep(1000);
      seen = __atomic_load_n(&ready, __ATOMIC_ACQUIRE);
    }
    pthread_mutex_lock(&mutex);
    ready = 2;
    CHECK((i == 1 ? pthread_cond_broadcast(&condition) : pthread_cond_signal(&condition)) == 0);
    pthread_mutex_unlock(&mutex);
    CHECK(pthread_join(thread, NULL) == 0);
  }
}

/* Cancelled while it waits: it has the mutex again when its clean-up runs. */
static void unlock_mutex(void *argument) { pthread_mutex_unlock(argument); }
static void *waits_for_nobody(void *argument) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock_mutex, &mutex);
  for (;;) pthread_cond_wait(&condition, &mutex);
  pthread_cleanup_pop(1);
  return argument;
}

static void cancelled_waits(void) {
  pthread_t thread;
  void *result;
  unwind_once();
  CHECK(pthread_create(&thread, NULL, waits_for_nobody, NULL) == 0);
  CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
}

static void semaphores(void) {
  sem_t semaphore;
  struct timespec until = soon(), until_monotonic = soon_monotonic();
  CHECK(sem_init(&semaphore, 0, 2) == 0);
  CHECK(sem_wait(&semaphore) == 0);
  CHECK(sem_trywait(&semaphore) == 0);
  CHECK(sem_trywait(&semaphore) == -1 && errno == EAGAIN);
  CHECK(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT);
  CHECK(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until_monotonic) == -1 && errno == ETIMEDOUT);
  CHECK(sem_post(&semaphore) == 0);
  CHECK(sem_post(&semaphore) == 0);
  until = soon();
  until_monotonic = soon_monotonic();
  CHECK(sem_timedwait(&semaphore, &until) == 0);
  CHECK(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until_monotonic) == 0);
}

/* Others see these too, and may post: what they have is not known. */
static void shared_semaphores(void) {
  sem_t semaphore;
  CHECK(sem_init(&semaphore, 1, 1) == 0 && sem_wait(&semaphore) == 0 && sem_destroy(&semaphore) == 0);
  char name[40];
  snprintf(name, sizeof name, "/cleave-test-%d", (int)getpid());
  sem_t *named = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
  CHECK(named != SEM_FAILED && sem_unlink(name) == 0);
  CHECK(sem_wait(named) == 0 && sem_post(named) == 0 && sem_close(named) == 0);
}

static pthread_barrier_t barrier;
static void *meets(void *argument) {
  for (int i = 0; i < 2; ++i) pthread_barrier_wait(&barrier);
  return argument;
}

static void barriers(void) {
  pthread_t thread;
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
  CHECK(pthread_create(&thread, NULL, meets, NULL) == 0);
  meets(NULL);
  CHECK(pthread_join(thread, NULL) == 0);
}

static pthread_once_t outer = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static volatile uint64_t runs;
static void run_inner(void) { hand_write(&runs, runs + 1); }
static void run_outer(void) {
  pthread_once(&inner, run_inner);
  hand_write(&runs, runs + 10);
}

static void onces(void) {
  for (int i = 0; i < 2; ++i) CHECK(pthread_once(&outer, run_outer) == 0);
  CHECK(pthread_once(&inner, run_inner) == 0);
  CHECK(runs == 11);
}

/* A once routine that is left: by longjmp (two of them, one within the other), by the end of its thread, by cancellation.
 * Whoever comes next runs it again. */
static pthread_once_t left_outer = PTHREAD_ONCE_INIT, left_inner = PTHREAD_ONCE_INIT;
static jmp_buf out_of_once;
static void jump_out(void) { longjmp(out_of_once, 1); }
static void begin_inner(void) { pthread_once(&left_inner, jump_out); }
static void end_thread(void) { pthread_exit(NULL); }
static void wait_to_be_cancelled(void) {
  for (;;) pause();
}
static void *ends_within_once(void *argument) {
  pthread_once(&left_outer, argument == NULL ? end_thread : wait_to_be_cancelled);
  return argument;
}

static void left_onces(void) {
  pthread_t thread;
  unwind_once();
  if (setjmp(out_of_once) == 0) pthread_once(&left_outer, begin_inner);
  CHECK(pthread_create(&thread, NULL, ends_within_once, NULL) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(pthread_create(&thread, NULL, ends_within_once, &thread) == 0);
  CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(pthread_once(&left_inner, run_inner) == 0);
  CHECK(pthread_once(&left_outer, run_outer) == 0);
  CHECK(runs == 12);
}

static volatile uint64_t variable;
static pthread_key_t key;
static void *plain(void *argument) {
  hand_write(&variable, 1);
  return argument;
}
static void *exits(void *argument) {
  hand_write(&variable, 2);
  pthread_exit(argument);
}
static void clean_up(void *argument) { hand_write(&variable, 3); }
static void *waits_for_ever(void *argument) {
  pthread_setspecific(key, argument);
  pthread_cleanup_push(clean_up, NULL);
  __atomic_store_n(&ready, 7, __ATOMIC_RELEASE);
  for (;;) pause();
  pthread_cleanup_pop(0);
  return argument;
}
static void key_gone(void *argument) { hand_write(&variable, 4); }
static void *detached(void *argument) {
  if (argument != NULL) pthread_detach(pthread_self());
  hand_write(&variable, 5);
  return NULL;
}

static void threads(void) {
  pthread_t thread;
  void *result;
  struct timespec until = in_milliseconds(CLOCK_REALTIME, 10000), monotonic = in_milliseconds(CLOCK_MONOTONIC, 10000);
  unwind_once();  /* T1 */
  CHECK(pthread_create(&thread, NULL, exits, &key) == 0);  /* T2 */
  CHECK(pthread_join(thread, &result) == 0 && result == &key);
  CHECK(pthread_create(&thread, NULL, plain, NULL) == 0);  /* T3 */
  int tried;
  while ((tried = pthread_tryjoin_np(thread, NULL)) == EBUSY) sched_yield();
  CHECK(tried == 0);
  CHECK(pthread_create(&thread, NULL, plain, NULL) == 0);  /* T4 */
  CHECK(pthread_timedjoin_np(thread, NULL, &until) == 0);
  CHECK(pthread_create(&thread, NULL, plain, NULL) == 0);  /* T5 */
  CHECK(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &monotonic) == 0);
  CHECK(pthread_key_create(&key, key_gone) == 0);
  CHECK(pthread_create(&thread, NULL, waits_for_ever, &key) == 0);  /* T6: a key's destructor after its clean-up */
  while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) != 7) sched_yield();
  CHECK(pthread_cancel(thread) == 0);
  CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  CHECK(pthread_create(&thread, &attributes, detached, NULL) == 0);  /* T7 */
  pthread_attr_destroy(&attributes);
  CHECK(pthread_create(&thread, NULL, detached, &key) == 0);  /* T8 detaches itself */
  CHECK(pthread_create(&thread, NULL, detached, NULL) == 0 && pthread_detach(thread) == 0);  /* T9 */
  usleep(300000);  /* all are through long before */
}

static int c11_thread(void *argument) {
  hand_write(&variable, 6);
  if (argument != NULL) thrd_exit(-5);
  return 42;
}
static once_flag flag = ONCE_FLAG_INIT;
static tss_t slot;
static void slot_gone(void *argument) { hand_write(&variable, 8); }
static int c11_slot(void *argument) {
  CHECK(tss_set(slot, argument) == thrd_success && tss_get(slot) == argument);
  return 0;
}
static mtx_t c11_lock;
static cnd_t c11_woken;
static int c11_waiter(void *argument) {
  mtx_lock(&c11_lock);
  ready = 1;
  while (ready != 2) cnd_wait(&c11_woken, &c11_lock);
  mtx_unlock(&c11_lock);
  return 0;
}

static void c11(void) {
  thrd_t thread;
  int result;
  mtx_t lock;
  cnd_t woken;
  struct timespec until = soon();
  unwind_once();
  CHECK(thrd_create(&thread, c11_thread, NULL) == thrd_success);
  CHECK(thrd_join(thread, &result) == thrd_success && result == 42);
  CHECK(thrd_create(&thread, c11_thread, &flag) == thrd_success);
  CHECK(thrd_join(thread, &result) == thrd_success && result == -5);
  CHECK(mtx_init(&lock, mtx_timed) == thrd_success && cnd_init(&woken) == thrd_success);
  CHECK(mtx_lock(&lock) == thrd_success);
  CHECK(mtx_trylock(&lock) == thrd_busy);
  CHECK(mtx_timedlock(&lock, &until) == thrd_timedout);
  until = soon();
  CHECK(cnd_timedwait(&woken, &lock, &until) == thrd_timedout);
  CHECK(cnd_signal(&woken) == thrd_success && cnd_broadcast(&woken) == thrd_success);
  CHECK(mtx_unlock(&lock) == thrd_success);
  for (int i = 0; i < 2; ++i) call_once(&flag, run_inner);
}

static void c11_more(void) {
  thrd_t thread;
  mtx_t recursive;
  struct timespec until = soon();
  CHECK(tss_create(&slot, slot_gone) == thrd_success);
  CHECK(thrd_create(&thread, c11_slot, &slot) == thrd_success && thrd_join(thread, NULL) == thrd_success);
  CHECK(mtx_init(&recursive, mtx_timed | mtx_recursive) == thrd_success && mtx_lock(&recursive) == thrd_success);
  CHECK(mtx_trylock(&recursive) == thrd_success && mtx_timedlock(&recursive, &until) == thrd_success);
  for (int i = 0; i < 3; ++i) CHECK(mtx_unlock(&recursive) == thrd_success);
  CHECK(mtx_init(&c11_lock, mtx_plain) == thrd_success && cnd_init(&c11_woken) == thrd_success);
  CHECK(thrd_create(&thread, c11_waiter, NULL) == thrd_success);
  while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) == 0) thrd_yield();
  CHECK(mtx_lock(&c11_lock) == thrd_success);
  ready = 2;
  CHECK(cnd_broadcast(&c11_woken) == thrd_success && mtx_unlock(&c11_lock) == thrd_success);
  CHECK(thrd_join(thread, NULL) == thrd_success);
  CHECK(thrd_create(&thread, c11_thread, NULL) == thrd_success && thrd_detach(thread) == thrd_success);
  usleep(200000);
}

static void *volatile block;
static void heap(void) {
  block = malloc(100);
  memset(block, 7, 100);
  block = realloc(block, 200000);
  free(block);
  block = calloc(3, 5);
  free(block);
  block = reallocarray(NULL, 2, 10);
  free(block);
  void *aligned;
  CHECK(posix_memalign(&aligned, 64, 640) == 0);
  free(aligned);
  block = aligned_alloc(128, 256);
  free(block);
  block = memalign(256, 300);
  free(block);
  block = strdup("copied by libc");
  free(block);
  block = valloc(50);
  free(block);
  block = pvalloc(50);
  free(block);
  free(NULL);
}

static int refused(void *volatile result) { return result == NULL; }  /* volatile: the compiler believes no answer */

/* Sizes that a failed request does not change, that shrink in place, that become nothing. */
static void heap_again(void) {
  block = realloc(NULL, 40);
  void *same = block;
  CHECK((block = realloc(block, 24)) == same);
  CHECK(refused(realloc(block, SIZE_MAX / 2)) && refused(reallocarray(block, SIZE_MAX, 2)));
  CHECK(refused(malloc(SIZE_MAX / 2)) && refused(calloc(SIZE_MAX, 2)) && refused(aligned_alloc(64, SIZE_MAX / 2)));
  CHECK((block = reallocarray(block, 3, 8)) == same);
  CHECK(refused(realloc(block, 0)));
}

static void mappings(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *pages = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED);
  CHECK(mremap(pages, 4 * page, 2 * page, 0) == pages);
  CHECK(munmap(pages, 2 * page) == 0);
}

static void mappings_again(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *pages = mmap(NULL, 6 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mmap(pages, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == pages);
  CHECK(munmap(pages + page, page) == 0);
  CHECK(mremap(pages, page, 2 * page, 0) == pages);          /* grows where it is */
  CHECK(mremap(pages + 3 * page, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, pages) == pages);  /* moves */
  CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
  CHECK(munmap(pages + 1, page) == -1 && munmap(pages, 0) == -1);
}

static void branches(void) {
  for (int i = 0; i < 40; ++i) hand_branch(i % 3 == 0);
  hand_write(&variable, 9);
}

static void ranges(void) {
  static char from[300], to[300];
  for (int i = 0; i < 300; ++i) from[i] = (char)(i * 7);
  __cleave_range_read(&hand_segments[HAND_HOOK], from, 20);
  memcpy(to, from, 20);
  __cleave_range_write(&hand_segments[HAND_HOOK], to, 20);
  __cleave_range_read(&hand_segments[HAND_HOOK], from, 300);
  memcpy(to, from, 300);
  __cleave_range_write(&hand_segments[HAND_HOOK], to, 300);
  __cleave_range_write(&hand_segments[HAND_HOOK], to, 0);
  __cleave_fence(&hand_segments[HAND_HOOK], 5);
  CHECK(__cleave_input_int("amount", -3) == -3);
  CHECK(__cleave_input_uint("limit", 12) == 12);
  char text[] = "bytes";
  __cleave_input_bytes("text", text, sizeof text);
}

int main(int argc, char **argv) {
  struct { const char *name; void (*run)(void); } families[] = {
      {"mutexes", mutexes}, {"checked", checked_mutexes}, {"spin", spin_locks}, {"rwlocks", rwlocks},
      {"robust", robust_mutexes},
      {"conditions", conditions}, {"cancelled_waits", cancelled_waits}, {"semaphores", semaphores},
      {"shared_semaphores", shared_semaphores}, {"barriers", barriers}, {"onces", onces}, {"left_onces", left_onces},
      {"threads", threads}, {"c11", c11}, {"c11_more", c11_more}, {"heap", heap},
      {"heap_again", heap_again}, {"mappings", mappings}, {"mappings_again", mappings_again}, {"branches", branches},
      {"ranges", ranges}};
  CHECK(argc == 2);
  for (size_t i = 0; i < sizeof families / sizeof *families; ++i)
    if (strcmp(families[i].name, argv[1]) == 0) return families[i].run(), 0;
  return 9;
}
