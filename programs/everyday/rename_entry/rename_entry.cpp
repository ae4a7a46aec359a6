// A catalog of files by name.
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>

class Catalog {
 public:
  void add(const std::string& name, int inode) {
    std::unique_lock lock(mutex_);
    entries_[name] = inode;
  }
  int remove(const std::string& name) {
    std::unique_lock lock(mutex_);
    auto it = entries_.find(name);
    if (it == entries_.end()) return -1;
    int inode = it->second;
    entries_.erase(it);
    return inode;
  }
  bool rename(const std::string& from, const std::string& to) {
#ifdef FIXED
    std::unique_lock lock(mutex_);
    auto node = entries_.extract(from);
    if (node.empty()) return false;
    node.key() = to;
    entries_.insert(std::move(node));
    return true;
#else
    const int inode = remove(from);
    if (inode < 0) return false;
    add(to, inode);
    return true;
#endif
  }
  // The names of an inode.
  int links(int inode) const {
    std::shared_lock lock(mutex_);
    int count = 0;
    for (const auto& [name, number] : entries_) count += number == inode;
    return count;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, int> entries_;
};

int main() {
  Catalog catalog;
  catalog.add("draft", 7);
  catalog.add("notes", 8);
  bool lost = false;
  std::thread renamer([&catalog] {
    catalog.rename("draft", "final");
    catalog.rename("final", "final2");
    catalog.rename("final2", "final3");
  });
  std::thread checker([&] {
    for (int i = 0; i < 4; i++) {
      if (catalog.links(7) != 1) lost = true;
      std::this_thread::yield();
    }
  });
  renamer.join();
  checker.join();
  if (lost) {
    std::puts("wrong: the file had no name");
    return 1;
  }
  std::puts("the file always had one name");
  return 0;
}
