// Two builders append to one list: they look for the last node, make a new one under the lock, and link it after the
// lock is gone.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

struct Node {
  int value = 0;
  Racy<Node*> next = nullptr;
};

class List {
 public:
  CLEAVE_ATOMIC void add_last(Node* node) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    Node* last = &head_;
    for (Node* next = last->next; next != nullptr; next = last->next) last = next;
    {
      std::lock_guard lock(mutex_);
      node->value = static_cast<int>(++made_);
    }
    last->next = node;
  }

  unsigned size() const {
    unsigned size = 0;
    for (Node* node = head_.next; node != nullptr; node = node->next) size++;
    return size;
  }

 private:
  std::recursive_mutex mutex_;
  Node head_;
  unsigned made_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 5);
  std::vector<Node> nodes(options.threads * options.iters);
  List list;
  run_threads(options.threads, [&list, &nodes, &options](unsigned id) {
    for (unsigned i = 0; i < options.iters; i++) list.add_last(&nodes[id * options.iters + i]);
  });
  return verdict(list.size() == options.threads * options.iters, "nodes were lost");
}
