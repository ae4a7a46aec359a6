// A growable string shared by threads.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX 128

struct strbuf {
  pthread_mutex_t mutex;
  size_t length;
  char text[MAX];
};

static void strbuf_init(struct strbuf* s, const char* text) {
  pthread_mutex_init(&s->mutex, NULL);
  memset(s->text, 0, sizeof s->text);
  s->length = strlen(text);
  memcpy(s->text, text, s->length);
}

static void strbuf_truncate(struct strbuf* s, size_t length) {
  pthread_mutex_lock(&s->mutex);
  if (length < s->length) {
    memset(s->text + length, 0, s->length - length);
    s->length = length;
  }
  pthread_mutex_unlock(&s->mutex);
}

#ifdef FIXED
static size_t strbuf_snapshot(struct strbuf* s, char* out, size_t room) {
  pthread_mutex_lock(&s->mutex);
  size_t length = s->length < room ? s->length : room;
  memcpy(out, s->text, length);
  pthread_mutex_unlock(&s->mutex);
  return length;
}
#else
static size_t strbuf_length(struct strbuf* s) {
  pthread_mutex_lock(&s->mutex);
  size_t length = s->length;
  pthread_mutex_unlock(&s->mutex);
  return length;
}

static void strbuf_copy(struct strbuf* s, char* out, size_t length) {
  pthread_mutex_lock(&s->mutex);
  for (size_t i = 0; i < length && i < s->length; i++) out[i] = s->text[i];
  pthread_mutex_unlock(&s->mutex);
}
#endif

// Appends what is in `from` to `to`.
static void strbuf_append_all(struct strbuf* to, struct strbuf* from) {
  char part[MAX] = {0};
#ifdef FIXED
  size_t length = strbuf_snapshot(from, part, sizeof part);
#else
  size_t length = strbuf_length(from);
  strbuf_copy(from, part, length);
#endif
  pthread_mutex_lock(&to->mutex);
  if (to->length + length < MAX) {
    memcpy(to->text + to->length, part, length);
    to->length += length;
  }
  pthread_mutex_unlock(&to->mutex);
}

static struct strbuf source, result;

static void* appender(void* arg) {
  (void)arg;
  for (int i = 0; i < 3; i++) strbuf_append_all(&result, &source);
  return NULL;
}

static void* shrinker(void* arg) {
  (void)arg;
  for (size_t length = 12; length > 6; length -= 3) strbuf_truncate(&source, length);
  return NULL;
}

int main(void) {
  strbuf_init(&source, "hello, wide world");
  strbuf_init(&result, "");
  pthread_t a, b;
  pthread_create(&a, NULL, appender, NULL);
  pthread_create(&b, NULL, shrinker, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  if (memchr(result.text, 0, result.length)) {
    printf("wrong: the result has characters that were never in the source\n");
    return 1;
  }
  printf("%.*s\n", (int)result.length, result.text);
  return 0;
}
