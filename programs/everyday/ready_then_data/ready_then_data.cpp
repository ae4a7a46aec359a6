// A report that is produced in the background.
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

class Report {
 public:
  bool ready() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return ready_;
  }
  std::string text() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return text_;
  }
  void publish(const std::string& text) {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(mutex_);
    ready_ = true;
    text_ = text;
#else
    set_ready(true);
    set_text(text);
#endif
  }

 private:
#ifndef FIXED
  void set_ready(bool ready) {
    std::lock_guard<std::mutex> lock(mutex_);
    ready_ = ready;
  }
  void set_text(const std::string& text) {
    std::lock_guard<std::mutex> lock(mutex_);
    text_ = text;
  }
#endif

  mutable std::mutex mutex_;
  bool ready_ = false;
  std::string text_;
};

static std::string summarize(int lines) {
  std::string text;
  for (int i = 0; i < lines; i++) text += "line " + std::to_string(i) + "\n";
  return text;
}

int main() {
  Report report;
  bool empty = false;
  std::thread producer([&report] { report.publish(summarize(3)); });
  std::thread viewer([&] {
    for (int i = 0; i < 10; i++) {
      if (report.ready()) {
        empty = report.text().empty();
        break;
      }
      std::this_thread::yield();
    }
  });
  producer.join();
  viewer.join();
  if (empty) {
    std::puts("wrong: the report was ready but empty");
    return 1;
  }
  std::printf("%s", report.text().c_str());
  return 0;
}
