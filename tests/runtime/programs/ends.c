/* The ways a process ends or changes, and what signals do: ends HOW. */
#define HAND_NAME "ends.c"
#include "hand.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t variable, other;
static _Atomic uint64_t number;
static volatile int stop;

static void *runs_on(void *argument) {
  hand_write(&variable, 11);
  *(volatile int *)argument = 1;
  for (uint64_t i = 0; !stop; ++i) hand_write(&other, i);
  return argument;
}

static void start_endless_thread(void) {
  static volatile int started;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, runs_on, (void *)&started) == 0);
  pthread_detach(thread);
  while (!started) sched_yield();
}

static void on_signal(int signal) {
  hand_write(&variable, 20);
  hand_add(&number, 1);
}

static sigjmp_buf back;
static void jumps(int signal) {
  hand_write(&variable, 30);
  siglongjmp(back, 1);
}

static int overflow(int depth) {
  volatile char frame[4096];
  frame[0] = (char)depth;
  return depth == 1 << 30 ? 0 : overflow(depth + 1) + frame[0];
}

/* Counts in a file until a signal that nobody handles ends it: ends alarm MICROSECONDS FILE. */
static void count_until_alarm(const char *microseconds, const char *file) {
  int descriptor = open(file, O_RDWR | O_CREAT, 0600);
  CHECK(descriptor >= 0 && ftruncate(descriptor, 8) == 0);
  volatile uint64_t *counter = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  struct itimerval once = {{0, 0}, {0, atol(microseconds)}};
  CHECK(counter != MAP_FAILED && setitimer(ITIMER_REAL, &once, NULL) == 0);
  for (uint64_t i = 1;; ++i) hand_write(counter, i);
}

static void in_child(int status) {
  hand_write(&variable, 40);
  hand_write(&variable, 41);
  exit(status);
}

static void wait_for(pid_t child, int status) {
  int how;
  CHECK(child > 0 && waitpid(child, &how, 0) == child && WIFEXITED(how) && WEXITSTATUS(how) == status);
}

static void interrupt_an_atomic(void) {  /* a handler in the middle of an atomic operation on the same address */
  uint64_t ticket = __cleave_atomic_begin(&hand_segments[HAND_HOOK], &number);
  raise(SIGUSR1);
  uint64_t old = atomic_fetch_add(&number, 5);
  __cleave_atomic_end(&hand_segments[HAND_HOOK], &number, ticket, CLEAVE_ATOMIC_UPDATE, 5, 8, old, 0, old + 5, 0);
}

static void interrupt_a_segment(void (*handler)(int)) {  /* … and in the middle of a record */
  signal(SIGUSR2, handler);
  volatile uint64_t *p = hand_segment(HAND_WRITE, 2);
  p[1] = (uint64_t)(uintptr_t)&variable;
  raise(SIGUSR2);
  variable = 50;
  p[2] = 50;
}

static void *interrupted(void *argument) {
  if (strcmp(argument, "handler-in-thread") == 0) raise(SIGUSR1);
  return argument;
}

static void ends_in_child(void) { _exit(5); }

/* A child begins with the locks that the forking thread holds, and within the once routine that it runs. */
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t semaphore;
static void forks_holding(void) {
  pthread_t thread;
  pthread_mutex_t gone = PTHREAD_MUTEX_INITIALIZER;
  CHECK(sem_init(&semaphore, 0, 1) == 0);
  pthread_mutex_lock(&plain);
  pthread_mutex_lock(&gone);
  pthread_rwlock_rdlock(&shared);
  pthread_mutex_unlock(&gone);
  CHECK(pthread_create(&thread, NULL, interrupted, "") == 0 && pthread_join(thread, NULL) == 0);
  pid_t child = fork();
  pthread_rwlock_unlock(&shared);
  pthread_mutex_unlock(&plain);
  CHECK(sem_wait(&semaphore) == 0);
  if (child != 0) wait_for(child, 5);
  else atexit(ends_in_child);
}

static int children(const char *how) {
  if (strcmp(how, "fork") == 0) {
    pid_t child = fork();
    if (child == 0) in_child(5);
    wait_for(child, 5);
  } else if (strcmp(how, "fork-exec") == 0) {
    pid_t child = vfork();
    if (child == 0) {
      execlp("sh", "sh", "-c", "exit 6", NULL);
      _exit(127);
    }
    wait_for(child, 6);
    CHECK(system("exit 4") >> 8 == 4);
  } else if (strcmp(how, "spawn") == 0) {
    char *words[] = {"sh", "-c", "exit 7", NULL};
    pid_t child;
    CHECK(posix_spawnp(&child, "sh", NULL, NULL, words, environ) == 0);
    wait_for(child, 7);
    char *again[] = {"ends", "return", NULL};
    CHECK(posix_spawn(&child, "/proc/self/exe", NULL, NULL, again, environ) == 0);
    wait_for(child, 3);
    FILE *pipe = popen("exit 5", "r");
    CHECK(pipe != NULL && pclose(pipe) >> 8 == 5);
  } else if (strcmp(how, "fork-held") == 0) {
    pthread_once(&once, forks_holding);
  } else if (strcmp(how, "exec") == 0) {
    execlp("sh", "sh", "-c", "exit 8", NULL);
  } else if (strcmp(how, "exec-fails") == 0) {
    execl("/no/such/program", "x", NULL);
    CHECK(errno == ENOENT);
  } else if (strcmp(how, "exec-self") == 0) {
    execl("/proc/self/exe", "ends", "return", NULL);
  } else {
    return 9;
  }
  hand_write(&variable, 2);
  return 0;
}


static int signals(const char *how) {
  if (strcmp(how, "handler") == 0) {
    signal(SIGUSR1, on_signal);
    interrupt_an_atomic();
    interrupt_a_segment(on_signal);
    CHECK(number == 7);
  } else if (strcmp(how, "handler-in-thread") == 0) {
    signal(SIGUSR1, on_signal);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, interrupted, (void *)how) == 0 && pthread_join(thread, NULL) == 0);
  } else if (strcmp(how, "jump") == 0) {
    if (sigsetjmp(back, 1) == 0) interrupt_a_segment(jumps);
  } else if (strcmp(how, "query") == 0) {
    struct sigaction now;
    CHECK(sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    CHECK(signal(SIGTERM, on_signal) == SIG_DFL && signal(SIGTERM, SIG_DFL) == on_signal);
  } else {
    return 9;
  }
  hand_write(&variable, 2);
  return 0;
}

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  const char *how = argv[1];
  if (argc == 4 && strcmp(how, "alarm") == 0) count_until_alarm(argv[2], argv[3]);
  hand_write(&variable, 1);
  if (strcmp(how, "return") == 0) return 3;
  if (strcmp(how, "_exit") == 0) _exit(4);
  if (strcmp(how, "quick_exit") == 0) quick_exit(5);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "term") == 0) raise(SIGTERM);
  if (strcmp(how, "overflow") == 0) return overflow(0);
  if (strcmp(how, "segv") == 0) {
    start_endless_thread();
    hand_read((volatile uint64_t *)(uintptr_t)(argc + 6));
  }
  if (strcmp(how, "exit-while-running") == 0) {
    start_endless_thread();
    return 0;
  }
  if (strcmp(how, "main-thread-exits") == 0) {
    pthread_t thread;
    static volatile int started;
    stop = 1;
    CHECK(pthread_create(&thread, NULL, runs_on, (void *)&started) == 0);
    pthread_exit(NULL);
  }
  if (strcmp(how, "close-all") == 0) {
    for (int i = 3; i < 2000; ++i) close(i);
    closefrom(3);
    CHECK(close_range(3, ~0u, 0) == 0);
    /* Ours is not there for who looks, and looking leaves nothing behind. */
    for (int i = 3; i < 2000; ++i) CHECK(dup2(i, i) == -1 && errno == EBADF);
    for (int i = 3; i < 2000; ++i) CHECK(dup2(i, 2500) == -1 && dup3(2500, i, O_CLOEXEC) == -1 && errno == EBADF);
    for (int i = 900; i < 1020; ++i) CHECK(dup2(2, i) == i);
    for (uint64_t i = 0; i < 30000; ++i) hand_write(&other, i);
    return 0;
  }
  if (strcmp(how, "write-much") == 0) {
    for (uint64_t i = 0; i < 300000; ++i) hand_write(&other, i);
    CHECK(other == 299999);
    return 0;
  }
  int status = children(how);
  return status == 9 ? signals(how) : status;
}
