// Sessions by user name, kept in a thread-safe map.
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

template <typename K, typename V>
class ConcurrentMap {
 public:
  bool contains(const K& key) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return items_.count(key) != 0;
  }
  V get(const K& key) const {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = items_.find(key);
    return it == items_.end() ? V() : it->second;
  }
  void put(const K& key, V value) {
    std::lock_guard<std::mutex> lock(mutex_);
    items_[key] = std::move(value);
  }
  V put_if_absent(const K& key, V value) {
    std::lock_guard<std::mutex> lock(mutex_);
    return items_.emplace(key, std::move(value)).first->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<K, V> items_;
};

struct Session {
  explicit Session(std::string u) : user(std::move(u)) {}
  const std::string user;
};

class SessionService {
 public:
  std::shared_ptr<Session> open(const std::string& user) {
#ifdef FIXED
    return sessions_.put_if_absent(user, std::make_shared<Session>(user));
#else
    if (!sessions_.contains(user)) sessions_.put(user, std::make_shared<Session>(user));
    return sessions_.get(user);
#endif
  }

 private:
  ConcurrentMap<std::string, std::shared_ptr<Session>> sessions_;
};

int main() {
  SessionService service;
  const std::vector<std::string> users = {"ann", "bob", "eve"};
  std::vector<std::shared_ptr<Session>> first, second;
  std::thread a([&] {
    for (const auto& user : users) first.push_back(service.open(user));
  });
  std::thread b([&] {
    for (const auto& user : users) second.push_back(service.open(user));
  });
  a.join();
  b.join();
  for (size_t i = 0; i < users.size(); i++)
    if (first[i] != second[i]) {
      std::printf("wrong: two sessions for %s\n", users[i].c_str());
      return 1;
    }
  std::printf("%zu sessions\n", users.size());
  return 0;
}
