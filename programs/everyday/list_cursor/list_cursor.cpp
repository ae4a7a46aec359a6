// A roster whose members are visited by index.
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

template <typename T>
class LockedList {
 public:
  void push_back(T item) {
    std::lock_guard<std::mutex> lock(mutex_);
    items_.push_back(std::move(item));
  }
  bool at(std::size_t index, T& out) const {
    std::lock_guard<std::mutex> lock(mutex_);
    if (index >= items_.size()) return false;
    out = items_[index];
    return true;
  }
  void remove(const T& item) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (std::size_t i = 0; i < items_.size(); i++)
      if (items_[i] == item) {
        items_.erase(items_.begin() + static_cast<long>(i));
        return;
      }
  }
  std::vector<T> copy() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return items_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<T> items_;
};

class Roster {
 public:
  void join(const std::string& name) { members_.push_back(name); }
  void leave(const std::string& name) { members_.remove(name); }
  void visit_all(const std::function<void(const std::string&)>& visit) const {
#ifdef FIXED
    for (const auto& name : members_.copy()) visit(name);
#else
    std::string name;
    for (std::size_t i = 0; members_.at(i, name); i++) visit(name);
#endif
  }

 private:
  LockedList<std::string> members_;
};

int main() {
  Roster roster;
  for (const char* name : {"guest1", "guest2", "owner", "admin"}) roster.join(name);
  int owners = 0, admins = 0;
  std::thread leaver([&roster] {
    roster.leave("guest1");
    roster.leave("guest2");
  });
  std::thread visitor([&] {
    roster.visit_all([&](const std::string& name) {
      if (name == "owner") owners++;
      if (name == "admin") admins++;
    });
  });
  leaver.join();
  visitor.join();
  if (owners != 1 || admins != 1) {
    std::printf("wrong: visited %d owners and %d admins\n", owners, admins);
    return 1;
  }
  std::puts("all members visited");
  return 0;
}
