// A thumbnail that is rendered from the current source.
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class Thumbnail {
 public:
  void set_source(int source) {
    std::lock_guard<std::mutex> lock(mutex_);
    source_ = source;
    dirty_ = true;
  }

  void refresh() {
    std::unique_lock<std::mutex> lock(mutex_);
#ifdef FIXED
    while (dirty_) {
      const int source = source_;
      lock.unlock();
      const int pixels = render(source);
      lock.lock();
      if (source_ == source) {
        pixels_ = pixels;
        dirty_ = false;
      }
    }
#else
    if (!dirty_) return;
    const int source = source_;
    lock.unlock();
    const int pixels = render(source);
    lock.lock();
    pixels_ = pixels;
    dirty_ = false;
#endif
  }

  bool up_to_date() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return dirty_ || pixels_ == render(source_);
  }

 private:
  static int render(int source) {
    int pixels = 0;
    for (int i = 0; i < 20; i++) pixels = pixels * 3 + source + i;
    return pixels & 0xffff;
  }

  mutable std::mutex mutex_;
  int source_ = 0;
  bool dirty_ = true;
  int pixels_ = 0;
};

int main() {
  Thumbnail thumbnail;
  std::thread editor([&thumbnail] {
    for (int source = 1; source <= 3; source++) thumbnail.set_source(source);
  });
  std::vector<std::thread> renderers;
  for (int i = 0; i < 2; i++) renderers.emplace_back([&thumbnail] { thumbnail.refresh(); });
  editor.join();
  for (auto& renderer : renderers) renderer.join();
  if (!thumbnail.up_to_date()) {
    std::puts("wrong: the thumbnail shows an old source and is not marked as dirty");
    return 1;
  }
  std::puts("the thumbnail is up to date");
  return 0;
}
