// Lifts scan the floors from below for a call and claim the first; every floor has its own lock, so a call that is
// placed below while the scan goes on is overlooked, and a later one above is served first.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

constexpr int kFloors = 8;

struct Call {
  int age = 0;  // the number of the press; 0: nobody waits
  bool claimed = false;
};

class Floor {
 public:
  void push_up(int age) {
    std::lock_guard lock(mutex_);
    if (up_.age == 0) up_ = {age, false};
  }
  void push_down(int age) {
    std::lock_guard lock(mutex_);
    if (down_.age == 0) down_ = {age, false};
  }
  // The age of the call that is now ours, or 0. Asks first, then claims and asks again: that much is right.
  int claim_up() { return check_up() ? claim_up_now() : 0; }
  int claim_down() { return check_down() ? claim_down_now() : 0; }

  // People get in: the call is over.
  void take_people(int age) {
    std::lock_guard lock(mutex_);
    if (up_.age == age) up_ = {};
    if (down_.age == age) down_ = {};
  }

  bool has_unclaimed_older_than(int age) {
    std::lock_guard lock(mutex_);
    return (up_.age != 0 && !up_.claimed && up_.age < age) || (down_.age != 0 && !down_.claimed && down_.age < age);
  }

 private:
  bool check_up() {
    std::lock_guard lock(mutex_);
    return up_.age != 0 && !up_.claimed;
  }
  int claim_up_now() {
    std::lock_guard lock(mutex_);
    if (up_.age == 0 || up_.claimed) return 0;
    up_.claimed = true;
    return up_.age;
  }
  bool check_down() {
    std::lock_guard lock(mutex_);
    return down_.age != 0 && !down_.claimed;
  }
  int claim_down_now() {
    std::lock_guard lock(mutex_);
    if (down_.age == 0 || down_.claimed) return 0;
    down_.claimed = true;
    return down_.age;
  }

  std::mutex mutex_;
  Call up_, down_;
};

struct Building {
  Floor floors[kFloors];
#ifdef FIXED
  std::mutex panel;  // calls are placed, looked for and answered one at a time
#endif
};

static std::atomic<int> overlooked;

// Where an idle lift goes: the lowest floor with a call, or -1.
CLEAVE_ATOMIC static int find_call(Building& building, int* age) {
#ifdef FIXED
  std::lock_guard whole(building.panel);
#endif
  for (int floor = 0; floor < kFloors; floor++) {
    *age = building.floors[floor].claim_up();
    if (*age == 0) *age = building.floors[floor].claim_down();
    if (*age == 0) continue;
    for (int below = 0; below < floor; below++)
      if (building.floors[below].has_unclaimed_older_than(*age)) overlooked++;
    return floor;
  }
  return -1;
}

static void open_doors(Building& building, int floor, int age) {
#ifdef FIXED
  std::lock_guard whole(building.panel);
#endif
  building.floors[floor].take_people(age);
}

static void lift(Building& building, unsigned scans) {
  for (unsigned i = 0; i < scans; i++) {
    int age = 0;
    int floor = find_call(building, &age);
    if (floor >= 0) open_doors(building, floor, age);
    std::this_thread::yield();
  }
}

static void press(Building& building, int floor, bool up, int age) {
#ifdef FIXED
  std::lock_guard whole(building.panel);
#endif
  if (up)
    building.floors[floor].push_up(age);
  else
    building.floors[floor].push_down(age);
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 20);
  Building building;
  std::thread people([&building, &options] {
    uint64_t random = options.seed;
    for (int age = 1; age <= static_cast<int>(options.iters); age++)
      press(building, static_cast<int>(next_random(&random) % kFloors), next_random(&random) % 2 == 0, age);
  });
  run_threads(options.threads, [&building, &options](unsigned) { lift(building, options.iters); });
  people.join();
  return verdict(overlooked == 0, "a lift served a later call above while an earlier one waited below");
}
