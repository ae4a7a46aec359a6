// A server with its statistics and its client list under two locks.
#include <algorithm>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Server {
 public:
  void connect(const std::string& name) {
    std::lock_guard<std::mutex> lock(clients_mutex_);
    clients_.push_back(name);
    if (clients_.size() > most_clients_) most_clients_ = clients_.size();
  }
  void disconnect(const std::string& name) {
    std::lock_guard<std::mutex> lock(clients_mutex_);
    clients_.erase(std::find(clients_.begin(), clients_.end(), name));
  }
  void count_bytes(long in, long out) {
    std::lock_guard<std::mutex> lock(bytes_mutex_);
    bytes_in_ += in;
    bytes_out_ += out;
  }
  void serve(const std::string& name) {
    connect(name);
    for (int i = 0; i < 3; i++) count_bytes(10, 20);
    disconnect(name);
  }
  std::size_t clients() const {
    std::lock_guard<std::mutex> lock(clients_mutex_);
    return clients_.size();
  }
  long bytes() const {
    std::lock_guard<std::mutex> lock(bytes_mutex_);
    return bytes_in_ + bytes_out_;
  }

 private:
  mutable std::mutex clients_mutex_;
  std::vector<std::string> clients_;
  std::size_t most_clients_ = 0;

  mutable std::mutex bytes_mutex_;
  long bytes_in_ = 0;
  long bytes_out_ = 0;
};

int main() {
  Server server;
  std::vector<std::thread> threads;
  for (const char* name : {"a", "b", "c"}) threads.emplace_back([&server, name] { server.serve(name); });
  for (auto& thread : threads) thread.join();
  if (server.clients() != 0 || server.bytes() != 270) {
    std::printf("wrong: %zu clients, %ld bytes\n", server.clients(), server.bytes());
    return 1;
  }
  std::puts("270 bytes");
  return 0;
}
