// Chat channels that disappear with their last user.
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>

class ChannelTable {
 public:
  void add_user(const std::string& channel) {
    std::lock_guard<std::mutex> lock(mutex_);
    users_[channel]++;
  }
  int drop_user(const std::string& channel) {
    std::lock_guard<std::mutex> lock(mutex_);
    return --users_[channel];
  }
  void remove(const std::string& channel) {
    std::lock_guard<std::mutex> lock(mutex_);
    users_.erase(channel);
  }
  void drop_user_or_channel(const std::string& channel) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (--users_[channel] == 0) users_.erase(channel);
  }
  int users(const std::string& channel) const {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = users_.find(channel);
    return it == users_.end() ? 0 : it->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> users_;
};

class ChatServer {
 public:
  void join(const std::string& channel) { table_.add_user(channel); }
  void leave(const std::string& channel) {
#ifdef FIXED
    table_.drop_user_or_channel(channel);
#else
    if (table_.drop_user(channel) == 0) table_.remove(channel);
#endif
  }
  int users(const std::string& channel) const { return table_.users(channel); }

 private:
  ChannelTable table_;
};

int main() {
  ChatServer server;
  bool alone = false;
  std::thread guest([&server] {
    for (int i = 0; i < 3; i++) {
      server.join("lobby");
      server.leave("lobby");
    }
  });
  std::thread regular([&] {
    for (int i = 0; i < 3; i++) {
      server.join("lobby");
      if (server.users("lobby") < 1) alone = true;
      server.leave("lobby");
    }
  });
  guest.join();
  regular.join();
  if (alone || server.users("lobby") != 0) {
    std::puts("wrong: the channel was removed under its user");
    return 1;
  }
  std::puts("the lobby is empty");
  return 0;
}
