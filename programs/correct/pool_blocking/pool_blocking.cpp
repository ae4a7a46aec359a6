// Blocking connection pool with a lease.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

struct Connection {
  int id = 0;
  int queries = 0;
};

class Pool {
 public:
  explicit Pool(int size) : connections_(static_cast<std::size_t>(size)) {
    for (int i = 0; i < size; i++) {
      connections_[static_cast<std::size_t>(i)].id = i;
      idle_.push_back(&connections_[static_cast<std::size_t>(i)]);
    }
  }
  Connection* acquire() {
    std::unique_lock<std::mutex> lock(mutex_);
    available_.wait(lock, [this] { return !idle_.empty(); });
    Connection* connection = idle_.back();
    idle_.pop_back();
    return connection;
  }
  void release(Connection* connection) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      idle_.push_back(connection);
    }
    available_.notify_one();
  }
  int queries() const {
    int sum = 0;
    for (const auto& connection : connections_) sum += connection.queries;
    return sum;
  }

 private:
  std::mutex mutex_;
  std::condition_variable available_;
  std::vector<Connection> connections_;
  std::vector<Connection*> idle_;
};

class Lease {
 public:
  explicit Lease(Pool& pool) : pool_(pool), connection_(pool.acquire()) {}
  ~Lease() { pool_.release(connection_); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  Connection* operator->() const { return connection_; }

 private:
  Pool& pool_;
  Connection* connection_;
};

int main() {
  Pool pool(2);
  std::vector<std::thread> clients;
  for (int c = 0; c < 4; c++)
    clients.emplace_back([&pool] {
      for (int i = 0; i < 3; i++) {
        Lease lease(pool);
        lease->queries++;
      }
    });
  for (auto& client : clients) client.join();
  if (pool.queries() != 12) {
    std::printf("wrong: %d queries instead of 12\n", pool.queries());
    return 1;
  }
  std::puts("12 queries");
  return 0;
}
