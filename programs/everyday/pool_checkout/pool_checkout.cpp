// A pool of connections.
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class Connection {
 public:
  explicit Connection(int id) : id_(id) {}
  int id() const { return id_; }
  bool in_use() const { return in_use_; }
  void set_in_use(bool in_use) { in_use_ = in_use; }
  bool enter() { return clients_.fetch_add(1) == 0; }
  void leave() { clients_.fetch_sub(1); }

 private:
  const int id_;
  bool in_use_ = false;
  std::atomic<int> clients_{0};
};

class ConnectionPool {
 public:
  explicit ConnectionPool(int size) {
    for (int i = 0; i < size; i++) connections_.push_back(std::make_unique<Connection>(i));
  }

  Connection* checkout() {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(mutex_);
    Connection* connection = find_idle();
    if (connection) connection->set_in_use(true);
    return connection;
#else
    Connection* connection = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      connection = find_idle();
    }
    if (connection) mark(connection, true);
    return connection;
#endif
  }

  void give_back(Connection* connection) { mark(connection, false); }

 private:
  Connection* find_idle() const {
    for (const auto& connection : connections_)
      if (!connection->in_use()) return connection.get();
    return nullptr;
  }
  void mark(Connection* connection, bool in_use) {
    std::lock_guard<std::mutex> lock(mutex_);
    connection->set_in_use(in_use);
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

int main() {
  ConnectionPool pool(3);
  std::atomic<bool> shared{false};
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; i++)
    clients.emplace_back([&] {
      for (int q = 0; q < 3; q++) {
        Connection* connection = pool.checkout();
        if (!connection) continue;
        if (!connection->enter()) shared = true;
        std::this_thread::yield();
        connection->leave();
        pool.give_back(connection);
      }
    });
  for (auto& client : clients) client.join();
  if (shared) {
    std::puts("wrong: two clients on one connection");
    return 1;
  }
  std::puts("every client had its own connection");
  return 0;
}
