// Sessions with a last-used time and a sweeper.
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>

struct Session {
  std::string user;
  int last_used = 0;
};

class SessionTable {
 public:
  void open(int id, std::string user, int now) {
    std::lock_guard<std::mutex> lock(mutex_);
    sessions_[id] = Session{std::move(user), now};
  }
  bool is_alive(int id) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return sessions_.count(id) > 0;
  }
  void touch(int id, int now) {
    std::lock_guard<std::mutex> lock(mutex_);
    sessions_[id].last_used = now;
  }
  bool touch_if_alive(int id, int now) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = sessions_.find(id);
    if (it == sessions_.end()) return false;
    it->second.last_used = now;
    return true;
  }
  void sweep(int before) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto it = sessions_.begin(); it != sessions_.end();) {
      if (it->second.last_used < before)
        it = sessions_.erase(it);
      else
        ++it;
    }
  }
  int anonymous() const {
    std::lock_guard<std::mutex> lock(mutex_);
    int count = 0;
    for (const auto& entry : sessions_) count += entry.second.user.empty();
    return count;
  }

 private:
  mutable std::mutex mutex_;
  std::map<int, Session> sessions_;
};

static bool handle_request(SessionTable& table, int id, int now) {
#ifdef FIXED
  return table.touch_if_alive(id, now);
#else
  if (!table.is_alive(id)) return false;
  table.touch(id, now);
  return true;
#endif
}

int main() {
  SessionTable table;
  for (int id = 0; id < 4; id++) table.open(id, "user" + std::to_string(id), id);
  std::thread requests([&table] {
    for (int id = 0; id < 4; id++) handle_request(table, id, 10);
  });
  std::thread sweeper([&table] {
    for (int before = 1; before <= 4; before++) table.sweep(before);
  });
  requests.join();
  sweeper.join();
  if (int count = table.anonymous()) {
    std::printf("wrong: %d sessions without a user\n", count);
    return 1;
  }
  std::puts("all sessions have a user");
  return 0;
}
