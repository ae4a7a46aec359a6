// Kernel 4: a sorted list with a lock in every node, walked hand over hand. Two threads insert, look up and
// remove.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace {

struct Node {
  std::mutex mutex;
  uint64_t key = 0, hits = 0;
  Node* next = nullptr;
};

class FineList {
 public:
  // The node before the first with a key not less than `key`, and that node; both locked.
  std::pair<Node*, Node*> locate(uint64_t key) {
    Node* before = &head_;
    before->mutex.lock();
    Node* node = before->next;
    if (node != nullptr) node->mutex.lock();
    while (node != nullptr && node->key < key) {
      before->mutex.unlock();
      before = node;
      node = node->next;
      if (node != nullptr) node->mutex.lock();
    }
    return {before, node};
  }

  bool insert(uint64_t key) {
    auto [before, node] = locate(key);
    bool found = node != nullptr && node->key == key;
    if (found) {
      ++node->hits;
    } else {
      Node* fresh = new Node;
      fresh->key = key;
      fresh->next = node;
      before->next = fresh;
    }
    release(before, node);
    return !found;
  }

  bool contains(uint64_t key) {
    auto [before, node] = locate(key);
    bool found = node != nullptr && node->key == key;
    if (found) ++node->hits;
    release(before, node);
    return found;
  }

  bool erase(uint64_t key) {
    auto [before, node] = locate(key);
    bool found = node != nullptr && node->key == key;
    if (found) {
      before->next = node->next;
      node->mutex.unlock();
      before->mutex.unlock();
      delete node;
      return true;
    }
    release(before, node);
    return false;
  }

 private:
  static void release(Node* before, Node* node) {
    if (node != nullptr) node->mutex.unlock();
    before->mutex.unlock();
  }
  Node head_;
};

}  // namespace

int main(int argc, char** argv) {
  long operations = argc > 1 ? std::atol(argv[1]) : 20000;
  FineList list;
  uint64_t total[2] = {};
  auto work = [&](int index) {
    uint64_t state = 0x2545f4914f6cdd1dull + static_cast<uint64_t>(index) * 977, count = 0;
    for (long i = 0; i < operations; ++i) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      uint64_t key = (state >> 33) % 128 + 1;
      unsigned what = static_cast<unsigned>(state >> 60);
      count += what < 4 ? list.insert(key) : what < 7 ? list.erase(key) : list.contains(key);
    }
    total[index] = count;
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  std::printf("%d\n", total[0] + total[1] > 0);
}
