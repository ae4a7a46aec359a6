// A counter map in shards.
#include <array>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

template <typename K, typename V, std::size_t kShards = 4>
class ShardedMap {
 public:
  template <typename F>
  void with(const K& key, F action) {
    Shard& shard = shard_of(key);
    std::lock_guard<std::mutex> lock(shard.mutex);
    action(shard.items[key]);
  }
  V get(const K& key) {
    Shard& shard = shard_of(key);
    std::lock_guard<std::mutex> lock(shard.mutex);
    auto it = shard.items.find(key);
    return it == shard.items.end() ? V() : it->second;
  }
  std::size_t size() {
    std::size_t total = 0;
    for (Shard& shard : shards_) {
      std::lock_guard<std::mutex> lock(shard.mutex);
      total += shard.items.size();
    }
    return total;
  }

 private:
  struct Shard {
    std::mutex mutex;
    std::unordered_map<K, V> items;
  };
  Shard& shard_of(const K& key) { return shards_[std::hash<K>()(key) % kShards]; }

  std::array<Shard, kShards> shards_;
};

int main() {
  ShardedMap<std::string, int> words;
  auto count = [&words](const std::vector<std::string>& text) {
    for (const auto& word : text) words.with(word, [](int& n) { n++; });
  };
  std::thread a(count, std::vector<std::string>{"to", "be", "or", "not", "to", "be"});
  std::thread b(count, std::vector<std::string>{"to", "see", "or", "not"});
  a.join();
  b.join();
  if (words.size() != 5 || words.get("to") != 3 || words.get("see") != 1) {
    std::puts("wrong: words were lost");
    return 1;
  }
  std::puts("5 words");
  return 0;
}
