// A lazily made singleton with double-checked locking.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Dictionary {
 public:
  static Dictionary* instance() {
    Dictionary* dictionary = instance_.load(std::memory_order_acquire);
    if (!dictionary) {
      std::lock_guard<std::mutex> lock(mutex_);
      dictionary = instance_.load(std::memory_order_relaxed);
      if (!dictionary) {
        dictionary = new Dictionary;
        instance_.store(dictionary, std::memory_order_release);
      }
    }
    return dictionary;
  }
  static void destroy() { delete instance_.exchange(nullptr); }
  static int made() { return made_; }

  std::size_t size() const { return words_.size(); }

 private:
  Dictionary() : words_{"one", "two", "three"} { made_++; }

  std::vector<std::string> words_;
  static std::atomic<Dictionary*> instance_;
  static std::mutex mutex_;
  static int made_;
};

std::atomic<Dictionary*> Dictionary::instance_{nullptr};
std::mutex Dictionary::mutex_;
int Dictionary::made_ = 0;

int main() {
  std::size_t sizes[3] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([&sizes, t] {
      for (int i = 0; i < 2; i++) sizes[t] += Dictionary::instance()->size();
    });
  for (auto& thread : threads) thread.join();
  const int made = Dictionary::made();
  Dictionary::destroy();
  if (made != 1 || sizes[0] != 6 || sizes[1] != 6 || sizes[2] != 6) {
    std::printf("wrong: made %d times\n", made);
    return 1;
  }
  std::puts("made once");
  return 0;
}
