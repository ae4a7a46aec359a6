// A playlist from which several users remove tracks.
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class TrackList {
 public:
  void add(std::string title) {
    std::scoped_lock lock(mutex_);
    tracks_.push_back(std::move(title));
  }
  int index_of(const std::string& title) const {
    std::scoped_lock lock(mutex_);
    return find(title);
  }
  bool erase_at(int index) {
    std::scoped_lock lock(mutex_);
    if (index < 0 || index >= static_cast<int>(tracks_.size())) return false;
    tracks_.erase(tracks_.begin() + index);
    return true;
  }
  bool erase(const std::string& title) {
    std::scoped_lock lock(mutex_);
    const int index = find(title);
    if (index < 0) return false;
    tracks_.erase(tracks_.begin() + index);
    return true;
  }
  std::vector<std::string> all() const {
    std::scoped_lock lock(mutex_);
    return tracks_;
  }

 private:
  int find(const std::string& title) const {
    for (size_t i = 0; i < tracks_.size(); i++)
      if (tracks_[i] == title) return static_cast<int>(i);
    return -1;
  }

  mutable std::mutex mutex_;
  std::vector<std::string> tracks_;
};

class Playlist {
 public:
  void add(std::string title) { tracks_.add(std::move(title)); }
  bool remove(const std::string& title) {
#ifdef FIXED
    return tracks_.erase(title);
#else
    const int index = tracks_.index_of(title);
    return index >= 0 && tracks_.erase_at(index);
#endif
  }
  std::vector<std::string> titles() const { return tracks_.all(); }

 private:
  TrackList tracks_;
};

int main() {
  Playlist list;
  for (const char* title : {"a1", "b1", "a2", "b2", "keep1", "keep2"}) list.add(title);
  std::thread a([&list] {
    for (const char* title : {"a1", "a2"}) list.remove(title);
  });
  std::thread b([&list] {
    for (const char* title : {"b1", "b2"}) list.remove(title);
  });
  a.join();
  b.join();
  const auto left = list.titles();
  if (left != std::vector<std::string>{"keep1", "keep2"}) {
    std::printf("wrong: %zu tracks left, or not the right ones\n", left.size());
    return 1;
  }
  std::printf("2 tracks left\n");
  return 0;
}
