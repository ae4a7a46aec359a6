// A page that is edited by several people, with optimistic versions.
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class WikiPage {
 public:
  int version() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return version_;
  }
  std::string read(int& version) const {
    std::lock_guard<std::mutex> lock(mutex_);
    version = version_;
    return text_;
  }
  // Saves if nobody has saved since `base`.
  bool save(int base, const std::string& text) {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(mutex_);
    if (version_ != base) return false;
#else
    if (version() != base) return false;
    std::lock_guard<std::mutex> lock(mutex_);
#endif
    text_ = text;
    version_++;
    return true;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
  int version_ = 0;
};

static int edit(WikiPage& page, char letter, int times) {
  int saved = 0;
  for (int i = 0; i < times; i++) {
    int base;
    std::string text = page.read(base);
    if (page.save(base, text + letter)) saved++;
  }
  return saved;
}

int main() {
  WikiPage page;
  int saved[2] = {0, 0};
  std::thread a([&] { saved[0] = edit(page, 'a', 3); });
  std::thread b([&] { saved[1] = edit(page, 'b', 3); });
  a.join();
  b.join();
  int version;
  const std::string text = page.read(version);
  if (static_cast<int>(text.size()) != saved[0] + saved[1]) {
    std::printf("wrong: %d edits were saved, but the page is %s\n", saved[0] + saved[1], text.c_str());
    return 1;
  }
  std::printf("%s\n", text.c_str());
  return 0;
}
