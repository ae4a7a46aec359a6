// Sign-up with unique user names.
#include <cstdio>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

class UserDirectory {
 public:
  bool is_taken(const std::string& name) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return names_.find(name) != names_.end();
  }
  bool sign_up(const std::string& name) {
    if (name.empty() || is_taken(name)) return false;
    std::string normalized = normalize(name);
    std::lock_guard<std::mutex> lock(mutex_);
#ifdef FIXED
    if (!names_.insert(normalized).second) return false;
#else
    names_.insert(normalized);
#endif
    in_order_.push_back(normalized);
    return true;
  }
  std::vector<std::string> in_order() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return in_order_;
  }

 private:
  static std::string normalize(const std::string& name) {
    std::string out;
    for (char c : name) out += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return out;
  }

  mutable std::mutex mutex_;
  std::set<std::string> names_;
  std::vector<std::string> in_order_;
};

int main() {
  UserDirectory directory;
  int accepted[2] = {0, 0};
  auto client = [&](int which) {
    for (const char* name : {"ann", "bob", "carl"})
      if (directory.sign_up(name)) accepted[which]++;
  };
  std::thread a(client, 0), b(client, 1);
  a.join();
  b.join();
  const auto names = directory.in_order();
  if (accepted[0] + accepted[1] != 3 || names.size() != 3) {
    std::printf("wrong: %zu users for 3 names\n", names.size());
    return 1;
  }
  std::puts("3 users");
  return 0;
}
