// A cache of images with eviction.
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

struct Image {
  Image(int w, int h) : width(w), height(h) {}
  int width;
  int height;
  int uses = 0;
};

class ImageCache {
 public:
  void insert(const std::string& name, int width, int height) {
    std::lock_guard<std::mutex> lock(mutex_);
    entries_[name] = std::make_unique<Image>(width, height);
  }
  void evict(const std::string& name) {
    std::lock_guard<std::mutex> lock(mutex_);
    entries_.erase(name);
  }
  int size_of(const std::string& name) {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(mutex_);
    Image* image = find(name);
    return image ? measure(*image) : 0;
#else
    Image* image = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      image = find(name);
    }
    if (!image) return 0;
    std::lock_guard<std::mutex> lock(mutex_);
    return measure(*image);
#endif
  }

 private:
  Image* find(const std::string& name) {
    auto it = entries_.find(name);
    return it == entries_.end() ? nullptr : it->second.get();
  }
  static int measure(Image& image) {
    image.uses++;
    return image.width * image.height;
  }

  std::mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<Image>> entries_;
};

int main() {
  ImageCache cache;
  for (const char* name : {"logo", "icon", "photo"}) cache.insert(name, 4, 5);
  bool wrong = false;
  std::thread viewer([&] {
    for (const char* name : {"logo", "icon", "photo"}) {
      int size = cache.size_of(name);
      if (size != 0 && size != 20) wrong = true;
    }
  });
  std::thread evictor([&] {
    std::this_thread::yield();
    for (const char* name : {"photo", "icon", "logo"}) cache.evict(name);
  });
  viewer.join();
  evictor.join();
  if (wrong) {
    std::puts("wrong: the size of an image that is gone");
    return 1;
  }
  std::puts("all sizes right");
  return 0;
}
