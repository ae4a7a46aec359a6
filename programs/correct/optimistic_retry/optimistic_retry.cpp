// Optimistic updates with a version check and a retry.
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

template <typename T>
class Versioned {
 public:
  struct Seen {
    T value;
    unsigned version;
  };
  explicit Versioned(T value) : value_(std::move(value)) {}
  Seen read() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return {value_, version_};
  }
  bool write(T value, unsigned seen) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (version_ != seen) return false;
    value_ = std::move(value);
    version_++;
    return true;
  }
  template <typename F>
  int update(F change) {
    int attempts = 0;
    for (;;) {
      attempts++;
      Seen seen = read();
      if (write(change(seen.value), seen.version)) return attempts;
    }
  }

 private:
  mutable std::mutex mutex_;
  T value_;
  unsigned version_ = 0;
};

int main() {
  Versioned<std::string> text("");
  std::vector<std::thread> threads;
  for (char letter : {'a', 'b', 'c'})
    threads.emplace_back([&text, letter] {
      for (int i = 0; i < 3; i++) text.update([letter](const std::string& old) { return old + letter; });
    });
  for (auto& thread : threads) thread.join();
  auto last = text.read();
  if (last.value.size() != 9 || last.version != 9) {
    std::printf("wrong: %s\n", last.value.c_str());
    return 1;
  }
  std::puts("9 letters");
  return 0;
}
