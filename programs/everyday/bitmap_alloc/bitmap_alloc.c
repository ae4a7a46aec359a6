// Slot allocator on a bitmap.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define SLOTS 64
#define WORKERS 3
#define PER_WORKER 4

struct bitmap {
  pthread_mutex_t mutex;
  uint32_t words[SLOTS / 32];
};

static struct bitmap map = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static int scan_locked(struct bitmap* m) {
  for (int w = 0; w < SLOTS / 32; w++) {
    if (m->words[w] == UINT32_MAX) continue;
    return w * 32 + __builtin_ctz(~m->words[w]);
  }
  return -1;
}

static void mark_locked(struct bitmap* m, int slot) { m->words[slot / 32] |= UINT32_C(1) << (slot % 32); }

#ifndef FIXED
static int bitmap_first_free(struct bitmap* m) {
  pthread_mutex_lock(&m->mutex);
  int slot = scan_locked(m);
  pthread_mutex_unlock(&m->mutex);
  return slot;
}

static void bitmap_mark(struct bitmap* m, int slot) {
  pthread_mutex_lock(&m->mutex);
  mark_locked(m, slot);
  pthread_mutex_unlock(&m->mutex);
}
#endif

static int slot_alloc(struct bitmap* m) {
#ifdef FIXED
  pthread_mutex_lock(&m->mutex);
  int slot = scan_locked(m);
  if (slot >= 0) mark_locked(m, slot);
  pthread_mutex_unlock(&m->mutex);
#else
  int slot = bitmap_first_free(m);
  if (slot >= 0) bitmap_mark(m, slot);
#endif
  return slot;
}

struct worker {
  pthread_t thread;
  int got[PER_WORKER];
};

static void* work(void* arg) {
  struct worker* self = arg;
  for (int i = 0; i < PER_WORKER; i++) self->got[i] = slot_alloc(&map);
  return NULL;
}

int main(void) {
  struct worker workers[WORKERS];
  for (int i = 0; i < WORKERS; i++) pthread_create(&workers[i].thread, NULL, work, &workers[i]);
  for (int i = 0; i < WORKERS; i++) pthread_join(workers[i].thread, NULL);
  int owners[SLOTS] = {0};
  for (int i = 0; i < WORKERS; i++)
    for (int j = 0; j < PER_WORKER; j++) {
      int slot = workers[i].got[j];
      if (slot < 0 || owners[slot]++) {
        printf("wrong: slot %d was handed out twice\n", slot);
        return 1;
      }
    }
  printf("%d slots handed out\n", WORKERS * PER_WORKER);
  return 0;
}
