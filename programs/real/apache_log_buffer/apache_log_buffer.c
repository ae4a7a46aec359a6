/* A web server's buffered access log: a request's line is copied to where the buffer ends, and the end is moved. No lock
 * is taken; two requests write to the same place. */
#include <pthread.h>

#include "cleave/annotate.h"
#include "common/options.h"
#include "common/racy.h"

enum { kBuffer = 4096, kLine = 8 };
struct buffered_log {
  RACY(unsigned) outcnt;
  RACY(char) outbuf[kBuffer];
  unsigned flushed; /* bytes that went to the file */
#ifdef FIXED
  pthread_mutex_t lock;
#endif
};
static struct buffered_log access_log;
static unsigned lines_per_thread;

CLEAVE_ATOMIC static void buffered_log_writer(struct buffered_log *log, char what) {
#ifdef FIXED
  pthread_mutex_lock(&log->lock);
#endif
  unsigned end = LOAD(log->outcnt);
  if (end + kLine <= kBuffer) {
    for (unsigned i = 0; i < kLine; i++) STORE(log->outbuf[end + i], what);
    STORE(log->outcnt, LOAD(log->outcnt) + kLine);
  }
#ifdef FIXED
  pthread_mutex_unlock(&log->lock);
#endif
}

static void *serve(void *argument) {
  for (unsigned i = 0; i < lines_per_thread; i++) buffered_log_writer(&access_log, *(const char *)argument);
  return NULL;
}

int main(int argc, char **argv) {
  struct options options = read_options(argc, argv, 2, 4);
  unsigned threads = options.threads < 8 ? options.threads : 8;
  unsigned rounds = (unsigned)option_number(argc, argv, "--rounds", 1);
  lines_per_thread = options.iters * threads * kLine <= kBuffer ? options.iters : kBuffer / kLine / threads;
#ifdef FIXED
  pthread_mutex_init(&access_log.lock, NULL);
#endif
  int held = 1;
  for (unsigned round = 0; round < rounds && held; round++) {
    pthread_t workers[8];
    char names[8] = "ABCDEFGH";
    STORE(access_log.outcnt, 0);
    for (unsigned i = 0; i < threads; i++) pthread_create(&workers[i], NULL, serve, &names[i]);
    for (unsigned i = 0; i < threads; i++) pthread_join(workers[i], NULL);
    held = LOAD(access_log.outcnt) == threads * lines_per_thread * kLine;
    for (unsigned i = 0; i < LOAD(access_log.outcnt) && held; i++) /* lines are whole */
      held = LOAD(access_log.outbuf[i]) == LOAD(access_log.outbuf[i / kLine * kLine]);
    unsigned counts[8] = {0};
    for (unsigned i = 0; i < LOAD(access_log.outcnt) && held; i += kLine) counts[(LOAD(access_log.outbuf[i]) - 'A') & 7]++;
    for (unsigned i = 0; i < threads && held; i++) held = counts[i] == lines_per_thread;
  }
  return verdict(held, "a line of the log was lost or torn");
}
