// A journal of multi-line messages.
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Journal {
 public:
  void append(const std::string& line) {
    std::lock_guard<std::mutex> lock(mutex_);
    lines_.push_back(line);
  }
  void append_all(const std::vector<std::string>& lines) {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(mutex_);
    lines_.insert(lines_.end(), lines.begin(), lines.end());
#else
    for (const auto& line : lines) append(line);
#endif
  }
  std::vector<std::string> lines() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

static std::vector<std::string> message(const std::string& author, int number) {
  const std::string prefix = author + std::to_string(number);
  return {prefix + " first", prefix + " second", prefix + " third"};
}

static bool in_one_piece(const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i + 2 < lines.size(); i += 3) {
    const std::string prefix = lines[i].substr(0, lines[i].find(' '));
    if (lines[i] != prefix + " first" || lines[i + 1] != prefix + " second" ||
        lines[i + 2] != prefix + " third")
      return false;
  }
  return true;
}

int main() {
  Journal journal;
  auto write = [&journal](const std::string& author) {
    for (int i = 0; i < 3; i++) journal.append_all(message(author, i));
  };
  std::thread a(write, "a"), b(write, "b");
  a.join();
  b.join();
  if (!in_one_piece(journal.lines())) {
    std::puts("wrong: messages are mixed");
    return 1;
  }
  std::printf("%zu lines\n", journal.lines().size());
  return 0;
}
