// The remote agent: tasks put a value into the table, make it true in the system, then mark it achieved. The daemon
// compares table and system, but only for what is marked.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Agent {
 public:
  void set_value(int cell, int value) {
    std::lock_guard lock(mutex_);
    table_[cell].value = value;
  }
  void set_achieved(int cell, bool achieved) {
    std::lock_guard lock(mutex_);
    table_[cell].achieved = achieved;
  }

  // The task's unit: the daemon must not see a half-announced property.
  CLEAVE_ATOMIC void lock_property(int cell, int value) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    set_value(cell, value);
    achieve_property(cell, value);
    set_achieved(cell, true);
  }

  // The daemon's unit. Counts the properties it found broken, and repairs them.
  CLEAVE_ATOMIC void check(int cell) {
    std::lock_guard lock(mutex_);
    Entry promised = table_[cell];
    if (promised.achieved && promised.value != system_state_[cell]) {
      warnings_++;
      system_state_[cell] = promised.value;
    }
    checks_++;
  }

  // A device fails: the property no longer holds.
  void disturb(int cell) {
    std::lock_guard lock(mutex_);
    system_state_[cell] = -1;
  }

  // The daemon looked after the device failed, said nothing, and the table still promises the property.
  bool overlooked(int cell) {
    std::lock_guard lock(mutex_);
    return table_[cell].achieved && system_state_[cell] != table_[cell].value;
  }

 private:
  void achieve_property(int cell, int value) {
    std::lock_guard lock(mutex_);
    system_state_[cell] = value;
  }

  struct Entry {
    int value = 0;
    bool achieved = false;
  };
  std::recursive_mutex mutex_;
  Entry table_[100];
  int system_state_[100] = {};
  int warnings_ = 0, checks_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 3, 1);
  constexpr int kCell = 42;
  bool held = true;
  for (unsigned i = 0; i < options.iters && held; i++) {
    Agent agent;
    std::thread daemon([&agent] {  // the device fails, then the daemon looks
      agent.disturb(kCell);
      agent.check(kCell);
    });
    run_threads(1, [&agent](unsigned) { agent.lock_property(kCell, 7); });
    daemon.join();
    // Serial orders: the task before the failure (the daemon repairs), or the task after the check (it achieves anew).
    held = !agent.overlooked(kCell);
    run_threads(options.threads - 1, [&agent](unsigned id) { agent.lock_property(kCell, static_cast<int>(id)); });
  }
  return verdict(held, "a broken property was overlooked by the daemon");
}
