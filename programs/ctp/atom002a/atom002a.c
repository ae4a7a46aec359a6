/* atom002 with a repair that takes no lock: the other writer waits on a flag that the transaction sets when its record
 * is complete. There is no violation, but who looks at locks alone still sees all of them. */
#include <pthread.h>

#include "cleave/annotate.h"
#include "common/options.h"
#include "common/racy.h"

enum { kSize = 64 };
struct log {
  RACY(int) outcnt;
  RACY(char) outbuf[kSize];
  pthread_mutex_t lock;
  int records;
};
static struct log server_log = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static int through;

static void put(struct log *log, char character) {
  int place = LOAD(log->outcnt);
  STORE(log->outbuf[place % kSize], character);
  STORE(log->outcnt, place + 1);
}

static void write_record(struct log *log, const char *text, int length) {
  for (int i = 0; i < length; i++) put(log, text[i]);
  pthread_mutex_lock(&log->lock);
  log->records++;
  pthread_mutex_unlock(&log->lock);
}

static void *transaction(void *unused) {
  CLEAVE_ATOMIC_BEGIN("transaction");
  write_record(&server_log, "GET /a", 6);
  CLEAVE_ATOMIC_END();
  pthread_mutex_lock(&turn_lock);
  through = 1;
  pthread_cond_signal(&turn);
  pthread_mutex_unlock(&turn_lock);
  return unused;
}

static void *other_writer(void *unused) {
  pthread_mutex_lock(&turn_lock);
  while (!through) pthread_cond_wait(&turn, &turn_lock);
  pthread_mutex_unlock(&turn_lock);
  write_record(&server_log, "PUT", 3);
  return unused;
}

static int holds(struct log *log, const char *text) {
  char bytes[kSize + 1] = {0};
  for (int i = 0; i < kSize; i++) bytes[i] = LOAD(log->outbuf[i]);
  return strstr(bytes, text) != NULL;
}

int main(int argc, char **argv) {
  struct options options = read_options(argc, argv, 2, 1); /* two writers, as in the report */
  int held = 1;
  for (unsigned i = 0; i < options.iters && held; i++) {
    pthread_t first, second;
    STORE(server_log.outcnt, 0);
    server_log.records = 0;
    through = 0;
    write_record(&server_log, "log opened now ", 15);
    pthread_create(&first, NULL, transaction, NULL);
    pthread_create(&second, NULL, other_writer, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    held = LOAD(server_log.outcnt) == 24 && server_log.records == 3 && holds(&server_log, "GET /a") &&
           holds(&server_log, "PUT");
  }
  return verdict(held, "a record was torn or lost");
}
