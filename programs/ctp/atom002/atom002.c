/* A buffered log: a record is copied into the buffer one character at a time, and where the next one goes is shared
 * and unprotected. Two writers tear each other's records apart, or lose them; records differ in how far a character moves
 * that place, so a lost step shows in the values. The count of records has its lock. */
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
#ifdef FIXED
static pthread_mutex_t buffer_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void put(struct log *log, char character, int width) {
  int place = LOAD(log->outcnt);
  STORE(log->outbuf[place % kSize], character);
  STORE(log->outcnt, place + width);
}

static void write_record(struct log *log, const char *text, int length, int width) {
#ifdef FIXED
  pthread_mutex_lock(&buffer_lock);
#endif
  for (int i = 0; i < length; i++) put(log, text[i], width);
#ifdef FIXED
  pthread_mutex_unlock(&buffer_lock);
#endif
  pthread_mutex_lock(&log->lock);
  log->records++;
  pthread_mutex_unlock(&log->lock);
}

static void *transaction(void *unused) {
  CLEAVE_ATOMIC_BEGIN("transaction");
  write_record(&server_log, "GET /a", 6, 1);
  CLEAVE_ATOMIC_END();
  return unused;
}

static void *other_writer(void *unused) {
  write_record(&server_log, "PUT", 3, 2);
  return unused;
}

static int holds(struct log *log, const char *text, int length, int width) {
  char bytes[kSize];
  for (int i = 0; i < kSize; i++) bytes[i] = LOAD(log->outbuf[i]);
  for (int at = 0; at + (length - 1) * width < kSize; at++) {
    int same = 0;
    while (same < length && bytes[at + same * width] == text[same]) same++;
    if (same == length) return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  struct options options = read_options(argc, argv, 2, 1); /* two writers, as in the report */
  int held = 1;
  for (unsigned i = 0; i < options.iters && held; i++) {
    pthread_t first, second;
    STORE(server_log.outcnt, 0);
    server_log.records = 0;
    write_record(&server_log, "log opened now ", 15, 1);
    pthread_create(&first, NULL, transaction, NULL);
    pthread_create(&second, NULL, other_writer, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    held = LOAD(server_log.outcnt) == 27 && server_log.records == 3 && holds(&server_log, "GET /a", 6, 1) &&
           holds(&server_log, "PUT", 3, 2);
  }
  return verdict(held, "a record was torn or lost");
}
