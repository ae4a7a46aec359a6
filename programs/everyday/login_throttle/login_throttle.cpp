// At most so many login attempts per window.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

class Throttle {
 public:
  explicit Throttle(int limit) : limit_(limit) {}

  bool allow() {
#ifdef FIXED
    int used = used_.load();
    while (used < limit_)
      if (used_.compare_exchange_weak(used, used + 1)) return true;
    return false;
#else
    if (used_.load() >= limit_) return false;
    used_.fetch_add(1);
    return true;
#endif
  }

 private:
  const int limit_;
  std::atomic<int> used_{0};
};

class LoginServer {
 public:
  explicit LoginServer(Throttle& throttle) : throttle_(throttle) {}
  void handle(int user) {
    if (!throttle_.allow()) {
      rejected_++;
      return;
    }
    accepted_++;
    last_user_ = user;
  }
  int accepted() const { return accepted_; }
  int rejected() const { return rejected_; }

 private:
  Throttle& throttle_;
  int accepted_ = 0;
  int rejected_ = 0;
  int last_user_ = -1;
};

int main() {
  Throttle throttle(4);
  std::vector<LoginServer> servers(3, LoginServer(throttle));
  std::vector<std::thread> threads;
  for (auto& server : servers)
    threads.emplace_back([&server] {
      for (int user = 0; user < 3; user++) server.handle(user);
    });
  for (auto& thread : threads) thread.join();
  int accepted = 0;
  for (const auto& server : servers) accepted += server.accepted();
  if (accepted > 4) {
    std::printf("wrong: %d attempts allowed, the limit is 4\n", accepted);
    return 1;
  }
  std::printf("%d attempts allowed\n", accepted);
  return 0;
}
