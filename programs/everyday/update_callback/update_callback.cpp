// Spreadsheet cells that are updated by functions.
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Cell {
 public:
  using Function = std::function<double(double)>;

  double value() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return value_;
  }
  void update(const Function& function) {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(mutex_);
    value_ = function(value_);
#else
    const double result = function(value());
    std::lock_guard<std::mutex> lock(mutex_);
    value_ = result;
#endif
  }

 private:
  mutable std::mutex mutex_;
  double value_ = 0;
};

class Sheet {
 public:
  explicit Sheet(const std::vector<std::string>& names) {
    for (const auto& name : names) cells_[name];
  }
  void apply(const std::string& name, const Cell::Function& function) { cells_.at(name).update(function); }
  double value(const std::string& name) const { return cells_.at(name).value(); }

 private:
  std::map<std::string, Cell> cells_;
};

int main() {
  Sheet sheet({"a1", "a2"});
  auto fill = [&sheet](double step) {
    for (int i = 0; i < 3; i++) {
      sheet.apply("a1", [step](double old) { return old + step; });
      sheet.apply("a2", [step](double old) { return old + 10 * step; });
    }
  };
  std::thread a(fill, 1), b(fill, 2);
  a.join();
  b.join();
  if (sheet.value("a1") != 9 || sheet.value("a2") != 90) {
    std::printf("wrong: a1 is %g, a2 is %g\n", sheet.value("a1"), sheet.value("a2"));
    return 1;
  }
  std::puts("a1 is 9, a2 is 90");
  return 0;
}
