// Weather state with many readers and one writer.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

struct Weather {
  int temperature = 0;
  int pressure = 0;
  int updates = 0;
};

class WeatherStation {
 public:
  void measure(int temperature, int pressure) {
    std::unique_lock lock(mutex_);
    weather_.temperature = temperature;
    weather_.pressure = pressure;
    weather_.updates++;
  }
  Weather current() const {
    std::shared_lock lock(mutex_);
    return weather_;
  }
  bool storm() const {
    std::shared_lock lock(mutex_);
    return weather_.pressure < 980 && weather_.temperature > 25;
  }

 private:
  mutable std::shared_mutex mutex_;
  Weather weather_;
};

int main() {
  WeatherStation station;
  station.measure(10, 1010);
  std::atomic<bool> wrong{false};
  std::thread sensor([&station] {
    for (int i = 1; i <= 4; i++) station.measure(10 + i, 1010 + i);
  });
  std::vector<std::thread> viewers;
  for (int v = 0; v < 2; v++)
    viewers.emplace_back([&] {
      for (int i = 0; i < 4; i++) {
        Weather weather = station.current();
        if (weather.pressure - weather.temperature != 1000 || station.storm()) wrong = true;
      }
    });
  sensor.join();
  for (auto& viewer : viewers) viewer.join();
  if (wrong || station.current().updates != 5) {
    std::puts("wrong: mixed measurements");
    return 1;
  }
  std::puts("5 measurements");
  return 0;
}
