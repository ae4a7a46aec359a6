// Molecular dynamics: the forces on a particle are summed by whichever thread has the other particle of the pair; the
// sum is fetched and stored in two critical sections.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

constexpr int kParticles = 6;

class Forces {
 public:
  CLEAVE_ATOMIC void add(int particle, int force) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    int sum = get(particle);
    set(particle, sum + force);
  }
  int get(int particle) {
    std::lock_guard lock(mutex_);
    return sums_[particle];
  }

 private:
  void set(int particle, int sum) {
    std::lock_guard lock(mutex_);
    sums_[particle] = sum;
  }

  std::recursive_mutex mutex_;
  int sums_[kParticles] = {};
};

// Newton's third law, in whole numbers.
static int force_between(int one, int other) { return (other - one) * 10 / ((one - other) * (one - other)); }

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 3, 1);
  bool held = true;
  for (unsigned round = 0; round < options.iters && held; round++) {
    Forces forces;
    run_threads(options.threads, [&forces, &options](unsigned id) {
      for (int one = static_cast<int>(id); one < kParticles; one += static_cast<int>(options.threads))
        for (int other = one + 1; other < kParticles; other++) {
          forces.add(one, force_between(one, other));
          forces.add(other, -force_between(one, other));
        }
    });
    int total = 0;
    for (int particle = 0; particle < kParticles; particle++) total += forces.get(particle);
    held = total == 0;
  }
  return verdict(held, "the forces do not add up to nothing");
}
