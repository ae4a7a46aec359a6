/* Every primitive that is interposed, one family a run: primitives FAMILY. The events of each are exact. */
#define HAND_NAME "primitives.c"
#include "hand.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
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

static void mutexes(void) {
  pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
  CHECK(pthread_mutex_lock(&normal) == 0);
  CHECK(pthread_mutex_trylock(&normal) == EBUSY);
  struct timespec until = soon(), until_monotonic = soon_monotonic();
  CHECK(pthread_mutex_timedlock(&normal, &until) == ETIMEDOUT);
  CHECK(pthread_mutex_clocklock(&normal, CLOCK_MONOTONIC, &until_monotonic) == ETIMEDOUT);
  CHECK(pthread_mutex_unlock(&normal) == 0);
  CHECK(pthread_mutex_trylock(&normal) == 0);
  CHECK(pthread_mutex_unlock(&normal) == 0);
  until = soon();
  CHECK(pthread_mutex_timedlock(&normal, &until) == 0);
  CHECK(pthread_mutex_unlock(&normal) == 0);
  until_monotonic = soon_monotonic();
  CHECK(pthread_mutex_clocklock(&normal, CLOCK_MONOTONIC, &until_monotonic) == 0);
  CHECK(pthread_mutex_unlock(&normal) == 0);
}

static void checked_mutexes(void) {
  pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  for (int i = 0; i < 3; ++i) CHECK(pthread_mutex_lock(&recursive) == 0);
  CHECK(pthread_mutex_trylock(&recursive) == 0);
  for (int i = 0; i < 4; ++i) CHECK(pthread_mutex_unlock(&recursive) == 0);
  CHECK(pthread_mutex_unlock(&recursive) == EPERM);
  CHECK(pthread_mutex_unlock(&checking) == EPERM);
  CHECK(pthread_mutex_lock(&checking) == 0);
  CHECK(pthread_mutex_lock(&checking) == EDEADLK);
  CHECK(pthread_mutex_unlock(&checking) == 0);
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

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void *waiter(void *argument) {
  pthread_mutex_lock(&mutex);
  ready = 1;
  while (ready != 2) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  return argument;
}

static void conditions(void) {
  pthread_t thread;
  struct timespec until = soon(), until_monotonic = soon_monotonic();
  pthread_mutex_lock(&mutex);
  CHECK(pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT);
  CHECK(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until_monotonic) == ETIMEDOUT);
  pthread_mutex_unlock(&mutex);
  CHECK(pthread_create(&thread, NULL, waiter, NULL) == 0);
  for (int seen = 0; !seen;) {  /* outside our view: the number of turns is not fixed */
    usleep(1000);
    seen = __atomic_load_n(&ready, __ATOMIC_ACQUIRE);
  }
  pthread_mutex_lock(&mutex);
  ready = 2;
  CHECK(pthread_cond_signal(&condition) == 0);
  CHECK(pthread_cond_broadcast(&condition) == 0);
  pthread_mutex_unlock(&mutex);
  CHECK(pthread_join(thread, NULL) == 0);
}

static void semaphores(void) {
  sem_t semaphore;
  struct timespec until = soon(), until_monotonic = soon_monotonic();
  CHECK(sem_init(&semaphore, 0, 2) == 0);
  CHECK(sem_wait(&semaphore) == 0);
  CHECK(sem_trywait(&semaphore) == 0);
  CHECK(sem_trywait(&semaphore) == -1 && errno == EAGAIN);
  CHECK(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT);
  CHECK(sem_post(&semaphore) == 0);
  CHECK(sem_post(&semaphore) == 0);
  until = soon();
  CHECK(sem_timedwait(&semaphore, &until) == 0);
  CHECK(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until_monotonic) == 0);
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
  CHECK(pthread_create(&thread, NULL, exits, &key) == 0);  /* T1 */
  CHECK(pthread_join(thread, &result) == 0 && result == &key);
  CHECK(pthread_create(&thread, NULL, plain, NULL) == 0);  /* T2 */
  int tried;
  while ((tried = pthread_tryjoin_np(thread, NULL)) == EBUSY) sched_yield();
  CHECK(tried == 0);
  CHECK(pthread_create(&thread, NULL, plain, NULL) == 0);  /* T3 */
  CHECK(pthread_timedjoin_np(thread, NULL, &until) == 0);
  CHECK(pthread_create(&thread, NULL, plain, NULL) == 0);  /* T4 */
  CHECK(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &monotonic) == 0);
  CHECK(pthread_key_create(&key, key_gone) == 0);
  CHECK(pthread_create(&thread, NULL, waits_for_ever, &key) == 0);  /* T5: a key's destructor after its clean-up */
  while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) != 7) sched_yield();
  CHECK(pthread_cancel(thread) == 0);
  CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  CHECK(pthread_create(&thread, &attributes, detached, NULL) == 0);  /* T6 */
  pthread_attr_destroy(&attributes);
  CHECK(pthread_create(&thread, NULL, detached, &key) == 0);  /* T7 detaches itself */
  usleep(300000);  /* both are through long before */
}

static int c11_thread(void *argument) {
  hand_write(&variable, 6);
  if (argument != NULL) thrd_exit(-5);
  return 42;
}
static once_flag flag = ONCE_FLAG_INIT;

static void c11(void) {
  thrd_t thread;
  int result;
  mtx_t lock;
  cnd_t woken;
  struct timespec until = soon();
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
  free(NULL);
}

static void mappings(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *pages = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED);
  CHECK(mremap(pages, 4 * page, 2 * page, 0) == pages);
  CHECK(munmap(pages, 2 * page) == 0);
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
      {"conditions", conditions}, {"semaphores", semaphores}, {"barriers", barriers}, {"onces", onces},
      {"threads", threads}, {"c11", c11}, {"heap", heap}, {"mappings", mappings}, {"branches", branches},
      {"ranges", ranges}};
  CHECK(argc == 2);
  for (size_t i = 0; i < sizeof families / sizeof *families; ++i)
    if (strcmp(families[i].name, argv[1]) == 0) return families[i].run(), 0;
  return 9;
}
