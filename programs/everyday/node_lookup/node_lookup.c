// A linked list of customers with file-scope state.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
  struct node* next;
  int id;
  int credit;
};

static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct node* list_head;

static void list_insert(int id) {
  struct node* n = malloc(sizeof *n);
  if (!n) abort();
  n->id = id;
  n->credit = 0;
  pthread_mutex_lock(&list_mutex);
  n->next = list_head;
  list_head = n;
  pthread_mutex_unlock(&list_mutex);
}

static struct node* find_locked(int id) {
  struct node* n = list_head;
  while (n && n->id != id) n = n->next;
  return n;
}

static void list_remove(int id) {
  pthread_mutex_lock(&list_mutex);
  for (struct node** link = &list_head; *link; link = &(*link)->next)
    if ((*link)->id == id) {
      struct node* gone = *link;
      *link = gone->next;
      free(gone);
      break;
    }
  pthread_mutex_unlock(&list_mutex);
}

#ifdef FIXED
static int ledger_credit(int id, int amount) {
  pthread_mutex_lock(&list_mutex);
  struct node* n = find_locked(id);
  if (n) n->credit += amount;
  pthread_mutex_unlock(&list_mutex);
  return n != NULL;
}
#else
static struct node* list_find(int id) {
  pthread_mutex_lock(&list_mutex);
  struct node* n = find_locked(id);
  pthread_mutex_unlock(&list_mutex);
  return n;
}

static void node_add(struct node* n, int amount) {
  pthread_mutex_lock(&list_mutex);
  n->credit += amount;
  pthread_mutex_unlock(&list_mutex);
}

static int ledger_credit(int id, int amount) {
  struct node* n = list_find(id);
  if (!n) return 0;
  node_add(n, amount);
  return 1;
}
#endif

static void* cashier(void* arg) {
  int* credited = arg;
  for (int id = 0; id < 4; id++) *credited += ledger_credit(id, 5);
  return NULL;
}

static void* closer(void* arg) {
  (void)arg;
  for (int id = 3; id >= 0; id--) list_remove(id);
  return NULL;
}

int main(void) {
  for (int id = 0; id < 4; id++) list_insert(id);
  int credited = 0;
  pthread_t a, b;
  pthread_create(&a, NULL, cashier, &credited);
  pthread_create(&b, NULL, closer, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  if (list_head) {
    printf("wrong: customers left\n");
    return 1;
  }
  printf("%d credits\n", credited);
  return 0;
}
