// Sequence lock around three values.
#include <array>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

class SeqLocked {
 public:
  using Values = std::array<int, 3>;

  // One writer only.
  void write(const Values& values) {
    sequence_.fetch_add(1);
    for (std::size_t i = 0; i < values.size(); i++) values_[i].store(values[i]);
    sequence_.fetch_add(1);
  }
  Values read() const {
    Values out;
    unsigned before, after;
    do {
      before = sequence_.load();
      for (std::size_t i = 0; i < out.size(); i++) out[i] = values_[i].load();
      after = sequence_.load();
      if (before != after || before % 2) std::this_thread::yield();
    } while (before != after || before % 2);
    return out;
  }

 private:
  std::atomic<unsigned> sequence_{0};
  std::array<std::atomic<int>, 3> values_{};
};

int main() {
  SeqLocked data;
  std::atomic<bool> torn{false};
  std::thread writer([&data] {
    for (int i = 1; i <= 4; i++) data.write({i, 2 * i, 3 * i});
  });
  std::vector<std::thread> readers;
  for (int r = 0; r < 2; r++)
    readers.emplace_back([&] {
      for (int i = 0; i < 3; i++) {
        auto values = data.read();
        if (values[1] != 2 * values[0] || values[2] != 3 * values[0]) torn = true;
      }
    });
  writer.join();
  for (auto& reader : readers) reader.join();
  if (torn) {
    std::puts("wrong: torn values");
    return 1;
  }
  std::puts("no torn values");
  return 0;
}
