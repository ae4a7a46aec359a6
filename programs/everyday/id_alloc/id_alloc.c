// A table of records with ids.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MAX_RECORDS 32

struct record {
  int id;
  char name[16];
};

static pthread_mutex_t id_mutex = PTHREAD_MUTEX_INITIALIZER;
static int next_id = 1;

static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct record table[MAX_RECORDS];
static int used;

#ifdef FIXED
static int id_take(void) {
  pthread_mutex_lock(&id_mutex);
  int id = next_id++;
  pthread_mutex_unlock(&id_mutex);
  return id;
}
#else
static int id_peek(void) {
  pthread_mutex_lock(&id_mutex);
  int id = next_id;
  pthread_mutex_unlock(&id_mutex);
  return id;
}

static void id_advance(void) {
  pthread_mutex_lock(&id_mutex);
  next_id++;
  pthread_mutex_unlock(&id_mutex);
}
#endif

static int records_insert(const struct record* r) {
  int stored = 0;
  pthread_mutex_lock(&table_mutex);
  if (used < MAX_RECORDS) {
    table[used++] = *r;
    stored = 1;
  }
  pthread_mutex_unlock(&table_mutex);
  return stored;
}

static int records_add(const char* name) {
  struct record r;
#ifdef FIXED
  r.id = id_take();
#else
  r.id = id_peek();
#endif
  snprintf(r.name, sizeof r.name, "%s-%d", name, r.id);
  int stored = records_insert(&r);
#ifndef FIXED
  if (stored) id_advance();
#endif
  return stored ? r.id : -1;
}

static void* import(void* arg) {
  for (int i = 0; i < 4; i++) records_add(arg);
  return NULL;
}

int main(void) {
  static char* names[] = {"north", "south"};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, import, names[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < used; i++)
    for (int j = 0; j < i; j++)
      if (table[i].id == table[j].id) {
        printf("wrong: %s and %s have the same id\n", table[j].name, table[i].name);
        return 1;
      }
  printf("%d records\n", used);
  return 0;
}
