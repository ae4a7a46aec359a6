// A table under a reader-writer lock, and an atomic number of its version: a reader takes the lock once for the gateway and
// once for its cost. Readers do not exclude each other, and the version is nobody's unit.
#include <array>
#include <mutex>
#include <shared_mutex>

#include "common/program.h"

class Routes {
 public:
  void change(unsigned to, int gateway) {
    std::unique_lock lock(mutex_);
    gateways_[to] = gateway;
    costs_[to] = 10 * gateway;
    version_++;
  }
  bool fits(unsigned to) const {
#ifdef FIXED
    std::shared_lock lock(mutex_);
    return costs_[to] == 10 * gateways_[to];
#else
    return cost(to) == 10 * gateway(to);
#endif
  }
  bool changed_since(unsigned& seen) const {
    unsigned before = seen;
    seen = version_;
    return seen != before;
  }

 private:
  int gateway(unsigned to) const {
    std::shared_lock lock(mutex_);
    return gateways_[to];
  }
  int cost(unsigned to) const {
    std::shared_lock lock(mutex_);
    return costs_[to];
  }

  mutable std::shared_mutex mutex_;
  std::array<int, 4> gateways_{}, costs_{};
  std::atomic<unsigned> version_{0};
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 3, 4);
  Routes routes;
  std::atomic<bool> fit{true};
  run_threads(options.threads, [&](unsigned id) {
    unsigned seen = 0;
    for (unsigned i = 0; i < options.iters; i++) {
      if (id == 0)
        routes.change(1, static_cast<int>(i + 1));
      else if ((routes.changed_since(seen) || i == 0) && !routes.fits(1))
        fit = false;
    }
  });
  return verdict(fit, "a cost is not that of its gateway");
}
