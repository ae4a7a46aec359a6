// A tiny timer wheel with a callback per timer.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

typedef void (*timer_fn)(void* context);

struct timer {
  int armed;
  int due;
  timer_fn fn;
  void* context;
};

#define TIMERS 4

static pthread_mutex_t wheel_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct timer wheel[TIMERS];

static int timer_arm(int due, timer_fn fn, void* context) {
  int slot = -1;
  pthread_mutex_lock(&wheel_mutex);
  for (int i = 0; i < TIMERS && slot < 0; i++)
    if (!wheel[i].armed) {
      wheel[i] = (struct timer){.armed = 1, .due = due, .fn = fn, .context = context};
      slot = i;
    }
  pthread_mutex_unlock(&wheel_mutex);
  return slot;
}

static void timer_cancel(int slot) {
  pthread_mutex_lock(&wheel_mutex);
  wheel[slot].armed = 0;
  pthread_mutex_unlock(&wheel_mutex);
}

static int due_locked(int now) {
  for (int i = 0; i < TIMERS; i++)
    if (wheel[i].armed && wheel[i].due <= now) return i;
  return -1;
}

// Callbacks run with the wheel locked; they must be short.
static void fire_locked(int slot) {
  wheel[slot].armed = 0;
  wheel[slot].fn(wheel[slot].context);
}

#ifdef FIXED
static void timers_poll(int now) {
  pthread_mutex_lock(&wheel_mutex);
  int slot = due_locked(now);
  if (slot >= 0) fire_locked(slot);
  pthread_mutex_unlock(&wheel_mutex);
}
#else
static int timer_due(int now) {
  pthread_mutex_lock(&wheel_mutex);
  int slot = due_locked(now);
  pthread_mutex_unlock(&wheel_mutex);
  return slot;
}

static void timer_fire(int slot) {
  pthread_mutex_lock(&wheel_mutex);
  fire_locked(slot);
  pthread_mutex_unlock(&wheel_mutex);
}

static void timers_poll(int now) {
  int slot = timer_due(now);
  if (slot >= 0) timer_fire(slot);
}
#endif

struct request {
  pthread_mutex_t mutex;
  int finished;
  int late_timeouts;
};

static void on_timeout(void* context) {
  struct request* r = context;
  pthread_mutex_lock(&r->mutex);
  if (r->finished) r->late_timeouts++;
  pthread_mutex_unlock(&r->mutex);
}

static struct request requests[3];

static void* ticker(void* arg) {
  (void)arg;
  for (int now = 0; now < 6; now++) {
    timers_poll(now);
    sched_yield();
  }
  return NULL;
}

static void* client(void* arg) {
  (void)arg;
  for (int i = 0; i < 3; i++) {
    int slot = timer_arm(i, on_timeout, &requests[i]);
    sched_yield();
    timer_cancel(slot);
    pthread_mutex_lock(&requests[i].mutex);
    requests[i].finished = 1;
    pthread_mutex_unlock(&requests[i].mutex);
  }
  return NULL;
}

int main(void) {
  for (int i = 0; i < 3; i++) pthread_mutex_init(&requests[i].mutex, NULL);
  pthread_t a, b;
  pthread_create(&a, NULL, ticker, NULL);
  pthread_create(&b, NULL, client, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  for (int i = 0; i < 3; i++)
    if (requests[i].late_timeouts) {
      printf("wrong: request %d timed out after it had finished\n", i);
      return 1;
    }
  printf("no late timeouts\n");
  return 0;
}
