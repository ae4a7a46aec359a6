// A light with several switches.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

class Light {
 public:
  void toggle() {
#ifdef FIXED
    on_.fetch_xor(1);
#else
    on_ = on_ ? 0 : 1;
#endif
  }
  bool on() const { return on_ != 0; }

 private:
  std::atomic<int> on_{0};
};

class Switch {
 public:
  explicit Switch(Light* light) : light_(light) {}
  void press(int times) {
    for (int i = 0; i < times; i++) {
      light_->toggle();
      presses_++;
    }
  }
  int presses() const { return presses_; }

 private:
  Light* light_;
  int presses_ = 0;
};

int main() {
  Light light;
  std::vector<Switch> switches(3, Switch(&light));
  std::vector<std::thread> people;
  for (std::size_t i = 0; i < switches.size(); i++)
    people.emplace_back([&switches, i] { switches[i].press(3); });
  for (auto& person : people) person.join();
  int presses = 0;
  for (const auto& s : switches) presses += s.presses();
  if (light.on() != (presses % 2 == 1)) {
    std::printf("wrong: the light is %s after %d presses\n", light.on() ? "on" : "off", presses);
    return 1;
  }
  std::printf("%d presses\n", presses);
  return 0;
}
