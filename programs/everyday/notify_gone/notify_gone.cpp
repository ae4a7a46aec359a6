// An event bus that owns its subscribers.
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

struct Subscriber {
  explicit Subscriber(int t) : topic(t) {}
  int topic;
  int received = 0;
};

class EventBus {
 public:
  ~EventBus() {
    for (auto& entry : subscribers_) delete entry.second;
  }
  void subscribe(int id, int topic) {
    std::lock_guard<std::mutex> lock(mutex_);
    subscribers_[id] = new Subscriber(topic);
  }
  void unsubscribe(int id) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = subscribers_.find(id);
    if (it == subscribers_.end()) return;
    delete it->second;
    subscribers_.erase(it);
  }
  bool notify(int id, int event) {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(mutex_);
    Subscriber* subscriber = find(id);
    if (!subscriber) return false;
    subscriber->received += event;
#else
    Subscriber* subscriber = lookup(id);
    if (!subscriber) return false;
    deliver(subscriber, event);
#endif
    return true;
  }

 private:
  Subscriber* find(int id) const {
    auto it = subscribers_.find(id);
    return it == subscribers_.end() ? nullptr : it->second;
  }
#ifndef FIXED
  Subscriber* lookup(int id) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return find(id);
  }
  void deliver(Subscriber* subscriber, int event) {
    std::lock_guard<std::mutex> lock(mutex_);
    subscriber->received += event;
  }
#endif

  mutable std::mutex mutex_;
  std::map<int, Subscriber*> subscribers_;
};

int main() {
  EventBus bus;
  for (int id = 0; id < 3; id++) bus.subscribe(id, 1);
  int delivered = 0;
  std::thread publisher([&] {
    for (int id = 0; id < 3; id++) delivered += bus.notify(id, 1);
  });
  std::thread leaver([&] {
    std::this_thread::yield();
    for (int id = 2; id >= 0; id--) bus.unsubscribe(id);
  });
  publisher.join();
  leaver.join();
  std::printf("%d events delivered\n", delivered);
  return delivered >= 0 && delivered <= 3 ? 0 : 1;
}
