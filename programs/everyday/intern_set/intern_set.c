// Interned strings: a set with a comparison callback.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MAX 32

typedef int (*compare_fn)(const void* a, const void* b);

struct string_set {
  pthread_mutex_t mutex;
  compare_fn compare;
  const void* items[MAX];
  size_t count;
};

static int find_locked(const struct string_set* s, const void* item) {
  for (size_t i = 0; i < s->count; i++)
    if (s->compare(s->items[i], item) == 0) return (int)i;
  return -1;
}

static int set_find(struct string_set* s, const void* item) {
  pthread_mutex_lock(&s->mutex);
  int index = find_locked(s, item);
  pthread_mutex_unlock(&s->mutex);
  return index;
}

static int set_add(struct string_set* s, const void* item) {
  int index = -1;
  pthread_mutex_lock(&s->mutex);
#ifdef FIXED
  index = find_locked(s, item);
#endif
  if (index < 0 && s->count < MAX) {
    s->items[s->count] = item;
    index = (int)s->count++;
  }
  pthread_mutex_unlock(&s->mutex);
  return index;
}

static int intern(struct string_set* s, const char* text) {
  int index = set_find(s, text);
  if (index >= 0) return index;
  return set_add(s, text);
}

static int compare_strings(const void* a, const void* b) { return strcmp(a, b); }

static struct string_set symbols = {.mutex = PTHREAD_MUTEX_INITIALIZER, .compare = compare_strings};

static const char* words[] = {"if", "else", "while", "if", "return", "while"};

static void* lexer(void* arg) {
  (void)arg;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) intern(&symbols, words[i]);
  return NULL;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, lexer, NULL);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  if (symbols.count != 4) {
    printf("wrong: %zu symbols instead of 4\n", symbols.count);
    return 1;
  }
  printf("4 symbols\n");
  return 0;
}
