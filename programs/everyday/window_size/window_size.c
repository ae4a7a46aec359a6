// A window that is resized while it is painted.
#include <pthread.h>
#include <stdio.h>

struct window {
  pthread_mutex_t mutex;
  int width;
  int height;
};

static void window_resize(struct window* w, int width, int height) {
  pthread_mutex_lock(&w->mutex);
  w->width = width;
  w->height = height;
  pthread_mutex_unlock(&w->mutex);
}

#ifdef FIXED
static void window_get_size(struct window* w, int* width, int* height) {
  pthread_mutex_lock(&w->mutex);
  *width = w->width;
  *height = w->height;
  pthread_mutex_unlock(&w->mutex);
}
#else
static int window_get_width(struct window* w) {
  pthread_mutex_lock(&w->mutex);
  int width = w->width;
  pthread_mutex_unlock(&w->mutex);
  return width;
}

static int window_get_height(struct window* w) {
  pthread_mutex_lock(&w->mutex);
  int height = w->height;
  pthread_mutex_unlock(&w->mutex);
  return height;
}
#endif

static int paint(struct window* w) {
#ifdef FIXED
  int width, height;
  window_get_size(w, &width, &height);
#else
  int width = window_get_width(w);
  int height = window_get_height(w);
#endif
  return width * height;
}

static struct window window = {.mutex = PTHREAD_MUTEX_INITIALIZER, .width = 4, .height = 9};
static int wrong_area;

static void* painter(void* arg) {
  (void)arg;
  for (int i = 0; i < 5; i++) {
    int area = paint(&window);
    if (area != 36) wrong_area = area;
  }
  return NULL;
}

static void* resizer(void* arg) {
  (void)arg;
  // All of them have the same area.
  static const int sizes[][2] = {{6, 6}, {9, 4}, {12, 3}, {4, 9}, {6, 6}};
  for (int i = 0; i < 5; i++) window_resize(&window, sizes[i][0], sizes[i][1]);
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, painter, NULL);
  pthread_create(&b, NULL, resizer, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  if (wrong_area) {
    printf("wrong: painted an area of %d\n", wrong_area);
    return 1;
  }
  printf("painted an area of 36\n");
  return 0;
}
