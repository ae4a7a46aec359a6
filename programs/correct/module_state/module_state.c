// A module that hands out numbered tickets and remembers who has which.
#include <pthread.h>
#include <stdio.h>

#define MAX_TICKETS 16

static pthread_mutex_t tickets_mutex = PTHREAD_MUTEX_INITIALIZER;
static int owners[MAX_TICKETS];
static int next_ticket;
static int returned[MAX_TICKETS];
static int returned_count;

static int take_number(void) {
  if (returned_count > 0) return returned[--returned_count];
  return next_ticket < MAX_TICKETS ? next_ticket++ : -1;
}

int ticket_take(int owner) {
  pthread_mutex_lock(&tickets_mutex);
  int ticket = take_number();
  if (ticket >= 0) owners[ticket] = owner;
  pthread_mutex_unlock(&tickets_mutex);
  return ticket;
}

int ticket_return(int ticket, int owner) {
  int ok = 0;
  pthread_mutex_lock(&tickets_mutex);
  if (owners[ticket] == owner) {
    owners[ticket] = 0;
    returned[returned_count++] = ticket;
    ok = 1;
  }
  pthread_mutex_unlock(&tickets_mutex);
  return ok;
}

int tickets_out(void) {
  pthread_mutex_lock(&tickets_mutex);
  int out = next_ticket - returned_count;
  pthread_mutex_unlock(&tickets_mutex);
  return out;
}

struct visitor {
  pthread_t thread;
  int id;
  int failures;
};

static void* visit(void* arg) {
  struct visitor* v = arg;
  int kept = ticket_take(v->id);
  for (int i = 0; i < 3; i++) {
    int ticket = ticket_take(v->id);
    if (ticket < 0 || ticket == kept || !ticket_return(ticket, v->id)) v->failures++;
  }
  return NULL;
}

int main(void) {
  struct visitor visitors[3] = {0};
  for (int i = 0; i < 3; i++) {
    visitors[i].id = i + 1;
    pthread_create(&visitors[i].thread, NULL, visit, &visitors[i]);
  }
  int failures = 0;
  for (int i = 0; i < 3; i++) {
    pthread_join(visitors[i].thread, NULL);
    failures += visitors[i].failures;
  }
  if (failures || tickets_out() != 3) {
    printf("wrong: %d failures, %d tickets out\n", failures, tickets_out());
    return 1;
  }
  printf("3 tickets out\n");
  return 0;
}
