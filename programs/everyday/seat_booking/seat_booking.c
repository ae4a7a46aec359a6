// Seats of one flight, sold by several counters.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define SEATS 6
#define COUNTERS 3

struct seat {
  pthread_mutex_t mutex;
  int passenger;  // 0: free
};

struct flight {
  struct seat seats[SEATS];
  int base_price;
};

struct counter {
  pthread_t thread;
  struct flight* flight;
  int id;
  int sold;
  int revenue;
};

static bool seat_is_free(struct seat* s) {
  pthread_mutex_lock(&s->mutex);
  bool is_free = s->passenger == 0;
  pthread_mutex_unlock(&s->mutex);
  return is_free;
}

static bool seat_assign(struct seat* s, int passenger) {
  pthread_mutex_lock(&s->mutex);
#ifdef FIXED
  if (s->passenger != 0) {
    pthread_mutex_unlock(&s->mutex);
    return false;
  }
#endif
  s->passenger = passenger;
  pthread_mutex_unlock(&s->mutex);
  return true;
}

static int price_of(const struct flight* f, int row) { return f->base_price + 5 * row; }

static bool book_seat(struct counter* c, int row, int passenger) {
  struct seat* s = &c->flight->seats[row];
  if (!seat_is_free(s)) return false;
  int price = price_of(c->flight, row);
  if (!seat_assign(s, passenger)) return false;
  c->sold++;
  c->revenue += price;
  return true;
}

static void* sell(void* arg) {
  struct counter* c = arg;
  for (int row = 0; row < SEATS; row++) book_seat(c, row, 100 * c->id + row);
  return NULL;
}

int main(void) {
  struct flight flight = {.base_price = 100};
  struct counter counters[COUNTERS] = {0};
  for (int i = 0; i < SEATS; i++) pthread_mutex_init(&flight.seats[i].mutex, NULL);
  for (int i = 0; i < COUNTERS; i++) {
    counters[i].flight = &flight;
    counters[i].id = i + 1;
    pthread_create(&counters[i].thread, NULL, sell, &counters[i]);
  }
  int sold = 0, revenue = 0;
  for (int i = 0; i < COUNTERS; i++) {
    pthread_join(counters[i].thread, NULL);
    sold += counters[i].sold;
    revenue += counters[i].revenue;
  }
  for (int i = 0; i < SEATS; i++) pthread_mutex_destroy(&flight.seats[i].mutex);
  if (sold != SEATS) {
    printf("wrong: %d tickets for %d seats\n", sold, SEATS);
    return 1;
  }
  printf("%d seats sold for %d\n", sold, revenue);
  return 0;
}
