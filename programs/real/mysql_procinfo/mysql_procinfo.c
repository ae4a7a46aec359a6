/* A monitor asks whether a session has a state text and then prints it; the session clears it in between. */
#include <pthread.h>

#include "cleave/annotate.h"
#include "common/options.h"
#include "common/racy.h"

struct session {
  RACY(const char *) proc_info;
#ifdef FIXED
  pthread_mutex_t lock;
#endif
};
static struct session session;
static unsigned statements, nulls;

CLEAVE_ATOMIC static void show_status(struct session *shown) {
#ifdef FIXED
  pthread_mutex_lock(&shown->lock);
#endif
  if (LOAD(shown->proc_info) != NULL) {
    const char *text = LOAD(shown->proc_info); /* the server crashed here */
    if (text == NULL) nulls++;
  }
#ifdef FIXED
  pthread_mutex_unlock(&shown->lock);
#endif
}

static void set_state(struct session *mine, const char *text) {
#ifdef FIXED
  pthread_mutex_lock(&mine->lock);
#endif
  STORE(mine->proc_info, text);
#ifdef FIXED
  pthread_mutex_unlock(&mine->lock);
#endif
}

static void *run_statements(void *unused) {
  for (unsigned i = 0; i < statements; i++) {
    set_state(&session, "sending data");
    set_state(&session, NULL);
  }
  return unused;
}

static void *monitor(void *unused) {
  for (unsigned i = 0; i < statements; i++) show_status(&session);
  return unused;
}

int main(int argc, char **argv) {
  struct options options = read_options(argc, argv, 2, 5); /* a session and a monitor */
  pthread_t threads[2];
#ifdef FIXED
  pthread_mutex_init(&session.lock, NULL);
#endif
  statements = options.iters;
  set_state(&session, "login");
  pthread_create(&threads[0], NULL, monitor, NULL);
  pthread_create(&threads[1], NULL, run_statements, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return verdict(nulls == 0, "a state text was null after it had been tested");
}
