// Kernel 1: a hash map with striped locks. Two threads insert, look up and erase.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace {

class StripedMap {
 public:
  explicit StripedMap(size_t buckets) : buckets_(buckets), locks_(kStripes) {}

  bool insert(uint64_t key, uint64_t value) {
    std::lock_guard guard(lock_of(key));
    for (Node* node = head(key).get(); node != nullptr; node = node->next.get())
      if (node->key == key) return node->value = value, false;
    auto node = std::make_unique<Node>(Node{key, value, std::move(head(key))});
    head(key) = std::move(node);
    return true;
  }

  bool find(uint64_t key, uint64_t& value) {
    std::lock_guard guard(lock_of(key));
    for (Node* node = head(key).get(); node != nullptr; node = node->next.get())
      if (node->key == key) return value = node->value, true;
    return false;
  }

  bool erase(uint64_t key) {
    std::lock_guard guard(lock_of(key));
    for (std::unique_ptr<Node>* link = &head(key); *link != nullptr; link = &(*link)->next)
      if ((*link)->key == key) return *link = std::move((*link)->next), true;
    return false;
  }

 private:
  static constexpr size_t kStripes = 64;
  struct Node {
    uint64_t key, value;
    std::unique_ptr<Node> next;
  };
  std::unique_ptr<Node>& head(uint64_t key) { return buckets_[key % buckets_.size()]; }
  std::mutex& lock_of(uint64_t key) { return locks_[key % buckets_.size() % kStripes]; }
  std::vector<std::unique_ptr<Node>> buckets_;
  std::vector<std::mutex> locks_;
};

uint64_t next_random(uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

}  // namespace

int main(int argc, char** argv) {
  long operations = argc > 1 ? std::atol(argv[1]) : 1000000;
  StripedMap map(4096);
  uint64_t found[2] = {};
  auto work = [&](int index) {
    uint64_t state = 88172645463325252ull + static_cast<uint64_t>(index), hits = 0, value = 0;
    for (long i = 0; i < operations; ++i) {
      uint64_t random = next_random(state), key = random % 16384;
      switch (random >> 60) {
        case 0:
        case 1:
        case 2:
          hits += map.insert(key, random);
          break;
        case 3:
          hits += map.erase(key);
          break;
        default:
          hits += map.find(key, value);
      }
    }
    found[index] = hits;
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  std::printf("%d\n", found[0] + found[1] > 0);
}
