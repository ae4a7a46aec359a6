// Two threads on a hash map with striped locks.
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

struct Node {
  uint64_t key, value;
  Node* next;
};
constexpr size_t kBuckets = 4096, kStripes = 64;
std::vector<Node*> buckets(kBuckets);
std::mutex stripes[kStripes];

void work(uint64_t seed, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t key = seed >> 50, bucket = key % kBuckets;
    std::lock_guard guard(stripes[bucket % kStripes]);
    Node* node = buckets[bucket];
    while (node && node->key != key) node = node->next;
    if (node) ++node->value;
    else buckets[bucket] = new Node{key, 1, buckets[bucket]};
  }
}

int main() {
  std::thread first(work, 1, 400000), second(work, 2, 400000);
  first.join();
  second.join();
  uint64_t sum = 0;
  for (Node* node : buckets)
    for (; node; node = node->next) sum += node->value;
  std::printf("%lu\n", sum);
  return sum == 800000 ? 0 : 1;
}
