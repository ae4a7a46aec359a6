// Routes that are read from an immutable snapshot and replaced as a whole.
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class RouteTable {
 public:
  using Routes = std::map<std::string, int>;

  RouteTable() : current_(std::make_shared<const Routes>()) {}

  std::shared_ptr<const Routes> snapshot() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return current_;
  }

  void add(const std::string& path, int handler) {
#ifdef FIXED
    std::lock_guard<std::mutex> writers(writer_mutex_);
#endif
    auto copy = std::make_shared<Routes>(*snapshot());
    (*copy)[path] = handler;
    publish(std::move(copy));
  }

 private:
  void publish(std::shared_ptr<const Routes> routes) {
    std::lock_guard<std::mutex> lock(mutex_);
    current_ = std::move(routes);
  }

  mutable std::mutex mutex_;
#ifdef FIXED
  std::mutex writer_mutex_;
#endif
  std::shared_ptr<const Routes> current_;
};

int main() {
  RouteTable table;
  std::vector<std::thread> modules;
  for (int m = 0; m < 2; m++)
    modules.emplace_back([&table, m] {
      for (int i = 0; i < 3; i++) table.add("/module" + std::to_string(m) + "/" + std::to_string(i), i);
    });
  std::size_t seen = 0;
  std::thread reader([&] { seen = table.snapshot()->size(); });
  for (auto& module : modules) module.join();
  reader.join();
  const std::size_t routes = table.snapshot()->size();
  if (routes != 6 || seen > 6) {
    std::printf("wrong: %zu routes instead of 6\n", routes);
    return 1;
  }
  std::puts("6 routes");
  return 0;
}
