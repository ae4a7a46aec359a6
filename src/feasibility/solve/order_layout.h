// A cone laid out for ImpliedOrder: its events as steps of threads, who may write what a step reads, which
// conditions speak of it, which sections it is in. Steps have the numbers that RunState gives them.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <vector>

#include "feasibility/solve/cone.h"
#include "feasibility/solve/formula.h"

namespace cleave {

// Part of a step's condition: all of them hold when the step is taken.
struct Conjunct {
  Formula formula;
  std::vector<uint32_t> reads;   // whose values it speaks of, as numbers into OrderLayout::reads
  std::vector<uint32_t> levels;  // for each of them, the number of conjuncts before that speak of it
  uint64_t pinned = 0;           // is_pin: the only value of its only read that fulfils it
  bool repeated = false;         // a copy of one that an earlier step has
  bool is_pin = false;
  bool is_equality = false;  // its two reads returned the same; there is no formula
};

struct OrderStep {
  uint32_t event = 0, thread = 0, number = 0;
  EventKind kind = EventKind::Assume;
  uint32_t read = UINT32_MAX, write = UINT32_MAX;  // numbers into reads, writes
  std::vector<uint32_t> conjuncts;
  std::vector<uint32_t> sections;  // that it is in, begins or ends
  std::vector<uint32_t> wakers;    // of a wake that needs one: steps
  uint32_t wait = UINT32_MAX;      // of such a wake: the step where it began to wait
};

struct OrderRead {
  uint32_t step = 0, variable = 0;
  uint8_t width = kInteger;
  uint32_t own_write = UINT32_MAX;       // of an update
  uint32_t sees = UINT32_MAX;            // the only write that it can see: its thread's, under a lock
  bool free = false;                     // an input: any value
  uint64_t fixed = 0;                    // of no variable and not free: its value
  std::vector<uint32_t> conjuncts;       // that speak of it, in program order
  std::vector<uint32_t> conjunct_steps;  // where they are asked
};

struct OrderWrite {
  uint32_t step = 0;
  bool moves = false;
  bool unknown = false;  // nobody knows what it stores
  Formula stored;
  std::vector<uint32_t> reads;
};

struct OrderVariable {
  uint64_t initial = 0;
  std::vector<std::vector<uint32_t>> writes,
      certain;  // by thread: all that may write it; without those that move
};

struct OrderSection {
  uint32_t lock = 0, thread = 0;
  int64_t begin = -1;         // number of the step in the thread; -1: open from the start
  uint32_t end = UINT32_MAX;  // none: never given back
  bool shared = false;
};

class OrderLayout {
 public:
  OrderLayout(const SymbolicTrace& trace, const SliceIndex& index, const Cone& cone,
              const std::vector<std::vector<Section>>& derived);

  // Whether everything is in its own thread's hands; else nothing here is to be used.
  bool applicable = true;
  std::vector<OrderStep> steps;  // thread after thread
  std::vector<uint32_t> offset;  // by thread: its first step; one more at the end
  std::vector<OrderRead> reads;
  std::vector<OrderWrite> writes;
  std::vector<OrderVariable> variables;
  std::vector<Conjunct> conjuncts;
  std::vector<OrderSection> sections;
  std::vector<std::vector<std::vector<uint32_t>>> sections_of;  // lock, thread: outermost, by their begins
  std::vector<std::pair<uint32_t, uint32_t>> edges;             // step before step
  std::vector<uint32_t> in_trace_order;                         // steps

  uint32_t threads() const { return static_cast<uint32_t>(offset.size()) - 1; }
  uint32_t length(uint32_t thread) const { return offset[thread + 1] - offset[thread]; }
  uint32_t step_of(uint32_t event) const {
    auto it = place_.find(event);
    return it == place_.end() ? UINT32_MAX : it->second;
  }
  uint32_t variable_of(uint32_t event) const;  // UINT32_MAX: not one that is watched

 private:
  void add_steps();
  void add_data(OrderStep* step);
  void add_conditions(OrderStep* step);
  Conjunct conjunct(ExpressionId id, uint32_t thread);
  void add_conjunct(OrderStep* step, Conjunct made);
  void add_sections(uint32_t lock, std::vector<Section> list);
  uint32_t same_as(const OrderStep& step, uint32_t variable, VariableId id, OrderRead* read);
  bool others_hold(VariableId id, uint32_t lock, uint32_t thread) const;
  Formula formula(ExpressionId id, uint32_t thread, std::vector<uint32_t>* reads);
  uint32_t variable(VariableId id);

  const SymbolicTrace& trace_;
  const SliceIndex& index_;
  const Cone& cone_;
  struct Access {
    uint32_t thread, step, read, write;  // one of read and write
  };
  boost::unordered_flat_map<uint32_t, Conjunct> equalities_;  // by step
  std::vector<Access> last_;                                  // by variable: the latest in the order of steps
  boost::unordered_flat_map<uint32_t, uint32_t> place_;       // event → step
  boost::unordered_flat_map<uint32_t, uint32_t> read_of_;     // symbol → number into reads
  boost::unordered_flat_map<uint32_t, uint32_t> number_of_;   // variable → number into variables
  static constexpr size_t kMostRepeated = 1'000;
  size_t repeated_ = 0;  // conjuncts that were added again
};

}  // namespace cleave
