// Random small programs with data, run once by a random scheduler to give the recorded trace.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "solve/brute_force.h"
#include "solve/program.h"

namespace cleave::oracle {

struct Generated {
  Trace trace;
  Moves moves;  // stores through an index that was read
  std::vector<std::tuple<EventIndex, EventIndex, EventIndex, Pattern>> triples;
};

// What the threads are made of. Every kind has plain accesses, expressions and conditions besides.
enum class Flavour { Plain, HandmadeLock, Barrier, ReadersWriter, Semaphore, Condition, ForkJoin, Array };
inline constexpr int kFlavours = 8;

class Generator {
 public:
  Generator(uint64_t seed, Flavour flavour)
      : random_(seed * kFlavours + static_cast<uint64_t>(flavour)), flavour_(flavour) {}
  Generated make();

 private:
  enum class Kind {
    Read,
    Write,
    WriteExpression,
    Assume,
    Lock,
    Unlock,
    Post,
    Down,
    Signal,
    Broadcast,
    WaitWake,
    Update,
    Take,
    Give,
    SharedLock,
    SharedUnlock,
    Barrier,
    Fork,
    Join,
    WriteElement,
    ReadElement,
  };
  struct Step {
    Kind kind;
    int variable;
    int64_t constant;
  };
  std::vector<Step> steps(uint32_t thread, size_t length);
  std::vector<Step> handmade_lock();
  Step plain();
  bool run(uint32_t thread, const Step& step);
  bool run_access(uint32_t thread, const Step& step);
  bool run_sync(uint32_t thread, const Step& step);
  bool run_condition(uint32_t thread, const Step& step);
  std::string fresh(uint32_t thread) { return "r" + std::to_string(thread) + "_" + std::to_string(names_++); }
  static void find_triples(Generated* g);

  struct Last {  // what the thread read last
    std::string name;
    int64_t value = 0;
    EventIndex read{};
  };
  Random random_;
  Flavour flavour_;
  Program p_;
  Moves moves_;
  size_t threads_ = 2;
  int names_ = 0;
  int64_t memory_[4] = {0, 0, 0, 0};  // x0 x1 and the elements a0 a1
  int owner_[3] = {-1, -1, -1};       // m0 m1 and the readers-writer lock
  int readers_ = 0;
  int64_t tokens_ = 0;
  size_t arrivals_ = 0;
  std::map<uint32_t, Last> last_;
  std::vector<uint32_t> sleepers_;
  std::map<uint32_t, bool> woken_, waiting_, arrived_, forked_;
  std::vector<std::vector<Step>> code_;
  std::vector<size_t> at_;
};

}  // namespace cleave::oracle
