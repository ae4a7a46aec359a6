// Memory that is given back while a unit of another thread uses it.
//   WAY 1 free   2 delete   3 munmap, and the use faults   4 realloc   5 munmap by both: a double free
// REPAIRED: both units take a lock, and nobody uses what is gone.
// CORRECT 1 its owner frees it after join   2 a vector grows and shrinks under its lock   3 the last
// shared_ptr frees
//         4 a reference count of the program's own   5 a node is taken out of a list under its lock, and
//         freed outside
#include <cleave/annotate.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "steps.h"

int steps_done;

#ifndef CORRECT
struct Session {
  long user = 1, hits = 2, last = 3;
};
static Session* current;
static std::mutex mutex;

static Session* make() {
#if WAY == 1 || WAY == 4
  auto* made = static_cast<Session*>(malloc(sizeof(Session)));
  made->user = made->hits = made->last = 1;
  return made;
#elif WAY == 2
  return new Session;
#else
  return static_cast<Session*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
#endif
}

static void give_back(Session* session) {
#if WAY == 1
  free(session);
#elif WAY == 2
  delete session;
#elif WAY == 4
  current = static_cast<Session*>(realloc(session, 1 << 20));
#else
  munmap(session, 4096);
#endif
}

CLEAVE_ATOMIC static long use() {
#ifdef REPAIRED
  std::lock_guard<std::mutex> guard(mutex);
#endif
  Session* session = current;
  if (session == nullptr) return 0;
  long sum = session->user + session->hits;
#ifndef REPAIRED
  done();
  wait_for(2);
#endif
#if WAY == 5
  munmap(session, 4096);
  current = nullptr;
#elif !defined(REPAIRED)
  sum += session->hits;
#endif
  return sum;
}

CLEAVE_ATOMIC static void drop() {
#ifdef REPAIRED
  std::lock_guard<std::mutex> guard(mutex);
#else
  wait_for(1);
#endif
  Session* session = current;
  if (session != nullptr) give_back(session);
#ifdef REPAIRED
  current = nullptr;
#else
  done();
#endif
}

int main() {
  current = make();
  std::thread user([] { use(); }), dropper([] { drop(); });
  user.join();
  dropper.join();
}

#elif CORRECT == 1
struct Task {
  long input = 1, output = 0;
  CLEAVE_ATOMIC void run() { output = input + output; }
};
int main() {
  for (int i = 0; i < 20; ++i) {
    auto* task = new Task;
    std::thread worker([task] { task->run(); });
    worker.join();
    delete task;
  }
}

#elif CORRECT == 2
struct Log {
  std::mutex mutex;
  std::vector<long> lines;
  CLEAVE_ATOMIC void add(long line) {
    std::lock_guard<std::mutex> guard(mutex);
    if (lines.size() > 20) lines = {};
    lines.push_back(line + static_cast<long>(lines.size()));
  }
  CLEAVE_ATOMIC long sum() {
    std::lock_guard<std::mutex> guard(mutex);
    long sum = 0;
    for (long line : lines) sum += line;
    return sum;
  }
};
Log journal;
int main() {
  std::thread writer([] {
    for (int i = 0; i < 200; ++i) journal.add(i);
  });
  std::thread reader([] {
    for (int i = 0; i < 200; ++i) journal.sum();
  });
  writer.join();
  reader.join();
}

#elif CORRECT == 3
struct Table {
  long rows = 1, columns = 2;
};
static std::mutex mutex;
static std::shared_ptr<const Table> current = std::make_shared<const Table>();
CLEAVE_ATOMIC static long area() {
  std::shared_ptr<const Table> table;
  {
    std::lock_guard<std::mutex> guard(mutex);
    table = current;
  }
  long rows = table->rows;
  sched_yield();
  return rows * table->columns;
}
CLEAVE_ATOMIC static void replace(long rows) {
  auto fresh = std::make_shared<Table>();
  fresh->rows = rows;
  std::lock_guard<std::mutex> guard(mutex);
  current = fresh;
}
int main() {
  std::thread readers[2];
  for (std::thread& reader : readers)
    reader = std::thread([] {
      for (int i = 0; i < 200; ++i) area();
    });
  for (int i = 0; i < 200; ++i) replace(i);
  for (std::thread& reader : readers) reader.join();
}

#elif CORRECT == 4
struct Shared {
  std::atomic<int> references{3};
  std::mutex mutex;
  long sum = 0;
};
CLEAVE_ATOMIC static void add(Shared* shared, long amount) {
  std::lock_guard<std::mutex> guard(shared->mutex);
  shared->sum += amount;
}
static void drop(Shared* shared) {
  if (shared->references.fetch_sub(1) == 1) delete shared;
}
int main() {
  for (int round = 0; round < 50; ++round) {
    auto* shared = new Shared;
    std::thread threads[2];
    for (std::thread& thread : threads)
      thread = std::thread([shared] {
        add(shared, 1);
        drop(shared);
      });
    add(shared, 2);
    drop(shared);
    for (std::thread& thread : threads) thread.join();
  }
}

#else
struct Node {
  long key = 0, value = 0;
  Node* next = nullptr;
};
struct List {
  std::mutex mutex;
  Node* first = nullptr;
  CLEAVE_ATOMIC void push(long key) {
    auto* node = new Node{key, key, nullptr};
    std::lock_guard<std::mutex> guard(mutex);
    node->next = first;
    first = node;
  }
  CLEAVE_ATOMIC long pop() {
    Node* node = nullptr;
    {
      std::lock_guard<std::mutex> guard(mutex);
      if (first == nullptr) return 0;
      node = first;
      first = node->next;
    }
    long value = node->value;
    delete node;
    return value;
  }
};
List list;
int main() {
  std::thread pushes([] {
    for (int i = 0; i < 300; ++i) list.push(i);
  });
  std::thread pops[2];
  for (std::thread& thread : pops)
    thread = std::thread([] {
      for (int i = 0; i < 200; ++i) list.pop();
    });
  pushes.join();
  for (std::thread& thread : pops) thread.join();
}
#endif
