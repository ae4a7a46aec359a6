// Workers that look for queued jobs in a table.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE };

struct job {
  enum job_state state;
  int runs;
  int (*run)(int);
  int argument;
  int result;
};

#define JOBS 5

static struct {
  pthread_mutex_t mutex;
  struct job jobs[JOBS];
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static enum job_state job_get_state(int index) {
  pthread_mutex_lock(&table.mutex);
  enum job_state state = table.jobs[index].state;
  pthread_mutex_unlock(&table.mutex);
  return state;
}

#ifdef FIXED
static bool job_change_state(int index, enum job_state from, enum job_state to) {
  pthread_mutex_lock(&table.mutex);
  bool ok = table.jobs[index].state == from;
  if (ok) table.jobs[index].state = to;
  pthread_mutex_unlock(&table.mutex);
  return ok;
}
#endif

static void job_set_state(int index, enum job_state state) {
  pthread_mutex_lock(&table.mutex);
  table.jobs[index].state = state;
  pthread_mutex_unlock(&table.mutex);
}

static bool job_try_start(int index) {
  if (job_get_state(index) != JOB_QUEUED) return false;
#ifdef FIXED
  return job_change_state(index, JOB_QUEUED, JOB_RUNNING);
#else
  job_set_state(index, JOB_RUNNING);
  return true;
#endif
}

static void job_run(int index) {
  struct job* job = &table.jobs[index];
  int result = job->run(job->argument);
  pthread_mutex_lock(&table.mutex);
  job->result = result;
  job->runs++;
  pthread_mutex_unlock(&table.mutex);
  job_set_state(index, JOB_DONE);
}

static void* worker(void* arg) {
  (void)arg;
  for (int i = 0; i < JOBS; i++)
    if (job_try_start(i)) job_run(i);
  return NULL;
}

static int square(int n) { return n * n; }

int main(void) {
  for (int i = 0; i < JOBS; i++) table.jobs[i] = (struct job){.run = square, .argument = i};
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, worker, NULL);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < JOBS; i++)
    if (table.jobs[i].runs != 1) {
      printf("wrong: job %d ran %d times\n", i, table.jobs[i].runs);
      return 1;
    }
  printf("%d jobs done\n", JOBS);
  return 0;
}
