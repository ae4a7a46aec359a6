// A token bucket in front of a server.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

struct bucket {
  pthread_mutex_t mutex;
  int tokens;
  int refills;
};

static struct bucket bucket = {.mutex = PTHREAD_MUTEX_INITIALIZER, .tokens = 3};

static void bucket_refill(struct bucket* b, int tokens) {
  pthread_mutex_lock(&b->mutex);
  b->tokens += tokens;
  b->refills++;
  pthread_mutex_unlock(&b->mutex);
}

static int bucket_level(struct bucket* b) {
  pthread_mutex_lock(&b->mutex);
  int level = b->tokens;
  pthread_mutex_unlock(&b->mutex);
  return level;
}

#ifdef FIXED
static bool bucket_admit(struct bucket* b, int cost) {
  pthread_mutex_lock(&b->mutex);
  bool admit = b->tokens >= cost;
  if (admit) b->tokens -= cost;
  pthread_mutex_unlock(&b->mutex);
  return admit;
}
#else
static void bucket_take(struct bucket* b, int cost) {
  pthread_mutex_lock(&b->mutex);
  b->tokens -= cost;
  pthread_mutex_unlock(&b->mutex);
}

static bool bucket_admit(struct bucket* b, int cost) {
  if (bucket_level(b) < cost) return false;
  bucket_take(b, cost);
  return true;
}
#endif

struct client {
  pthread_t thread;
  int cost;
  int admitted;
};

static void* run_client(void* arg) {
  struct client* c = arg;
  for (int i = 0; i < 3; i++)
    if (bucket_admit(&bucket, c->cost)) c->admitted++;
  return NULL;
}

int main(void) {
  struct client clients[3] = {{.cost = 1}, {.cost = 2}, {.cost = 1}};
  for (int i = 0; i < 3; i++) pthread_create(&clients[i].thread, NULL, run_client, &clients[i]);
  bucket_refill(&bucket, 2);
  int used = 0;
  for (int i = 0; i < 3; i++) {
    pthread_join(clients[i].thread, NULL);
    used += clients[i].admitted * clients[i].cost;
  }
  if (used > 5 || bucket_level(&bucket) < 0) {
    printf("wrong: %d tokens used of 5\n", used);
    return 1;
  }
  printf("%d tokens used\n", used);
  return 0;
}
