// Memory is used after it was allocated, and where the allocation and the use lie in sections of one lock,
// after that whole section: a node that a thread makes and puts into a list under a lock is filled before
// anybody can come to it. That holds also where the code that puts it there was not instrumented.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <map>
#include <vector>

#include "order/positions.h"

namespace cleave::order {

// Fed with every event, in trace order. O(log blocks) the first time that a variable is used, O(locks held)
// afterwards.
class Allocations {
 public:
  Allocations(const Trace& trace, const ThreadPositions& positions)
      : trace_(trace), positions_(positions), held_(trace.threads().size()) {}

  struct Earlier {
    uint32_t thread = 0;
    Position upto = 0;  // 0: nothing
  };
  // What of another thread comes before the event because the memory it uses was allocated there.
  Earlier step(EventNumber e, const Event& event);

 private:
  struct Use {
    uint32_t lock;
    bool shared;
  };
  struct Block {
    uint32_t thread;
    Position at;
    uint64_t bytes;
    std::vector<Use> held;
  };
  static constexpr uint32_t kUnknown = 0, kNowhere = 1,
                            kFirst = 2;  // of block_of_; indexes into blocks_ from kFirst on

  void take(uint32_t thread, Use use) { held_[thread].push_back(use); }
  void give(uint32_t thread, uint32_t lock, Position at);
  void allocate(const Event& event, Position at);
  void free(const Event& event);
  uint32_t find_block(VariableId variable) const;
  Earlier before_use(const Block& block, uint32_t thread) const;
  static uint64_t key(uint32_t thread, uint32_t lock) { return uint64_t{thread} << 32 | lock; }

  const Trace& trace_;
  const ThreadPositions& positions_;
  std::vector<std::vector<Use>> held_;                                // by thread
  boost::unordered_flat_map<uint64_t, std::vector<Position>> given_;  // by thread and lock
  std::vector<Block> blocks_;
  boost::unordered_flat_map<uint32_t, uint32_t> of_object_;  // block that is the object, while it lives
  std::map<uint64_t, uint32_t> at_address_;                  // the same by address
  std::vector<uint32_t> block_of_;                           // by variable
};

}  // namespace cleave::order
