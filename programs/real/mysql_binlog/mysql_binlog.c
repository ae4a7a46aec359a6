/* Rotating a server's binary log closes the old file and opens the new one; a statement that comes in between finds the
 * log closed and is not written to it. */
#include <pthread.h>

#include "cleave/annotate.h"
#include "common/options.h"

struct binary_log {
  pthread_mutex_t lock;
  int is_open;
  unsigned events;
};
static struct binary_log binlog;
static unsigned statements_per_thread;

static void log_close(struct binary_log *log) {
  pthread_mutex_lock(&log->lock);
  log->is_open = 0;
  pthread_mutex_unlock(&log->lock);
}

static void log_open(struct binary_log *log) {
  pthread_mutex_lock(&log->lock);
  log->is_open = 1;
  pthread_mutex_unlock(&log->lock);
}

CLEAVE_ATOMIC static void new_file(struct binary_log *log) {
#ifdef FIXED
  pthread_mutex_lock(&log->lock);
#endif
  log_close(log);
  log_open(log);
#ifdef FIXED
  pthread_mutex_unlock(&log->lock);
#endif
}

CLEAVE_ATOMIC static void write_event(struct binary_log *log) {
  pthread_mutex_lock(&log->lock);
  if (log->is_open) log->events++;
  pthread_mutex_unlock(&log->lock);
}

static void *client(void *unused) {
  for (unsigned i = 0; i < statements_per_thread; i++) write_event(&binlog);
  return unused;
}

static void *flush_logs(void *unused) {
  for (unsigned i = 0; i < statements_per_thread; i++) new_file(&binlog);
  return unused;
}

int main(int argc, char **argv) {
  struct options options = read_options(argc, argv, 2, 3); /* one rotates, the others write */
  unsigned threads = options.threads < 2 ? 2 : options.threads < 16 ? options.threads : 16;
  pthread_t workers[16];
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&binlog.lock, &recursive);
  statements_per_thread = options.iters;
  log_open(&binlog);
  for (unsigned i = 0; i < threads; i++) pthread_create(&workers[i], NULL, i == 0 ? flush_logs : client, NULL);
  for (unsigned i = 0; i < threads; i++) pthread_join(workers[i], NULL);
  return verdict(binlog.events == (threads - 1) * options.iters, "a statement is missing in the binary log");
}
