// A sorted list with a lock in every node, taken hand over hand.
#include <cstdio>
#include <mutex>
#include <thread>

struct Node {
  int key = 0;
  Node* next = nullptr;
  std::mutex mutex;
};
Node first_node;

void insert(int key) {
  Node* at = &first_node;
  at->mutex.lock();
  while (at->next && at->next->key < key) {
    Node* next = at->next;
    next->mutex.lock();
    at->mutex.unlock();
    at = next;
  }
  if (!at->next || at->next->key != key) {
    Node* made = new Node;
    made->key = key;
    made->next = at->next;
    at->next = made;
  }
  at->mutex.unlock();
}

void work(unsigned seed) {
  for (int i = 0; i < 10000; ++i) {
    seed = seed * 1103515245u + 12345u;
    insert(static_cast<int>(seed >> 16) % 64);
  }
}

int main() {
  first_node.key = -1;
  std::thread first(work, 1u), second(work, 2u);
  first.join();
  second.join();
  int length = 0;
  for (Node* node = first_node.next; node; node = node->next) ++length;
  std::printf("%d\n", length);
  return 0;
}
