// What all feasible prefixes of a cone have in common, found by propagation alone: which steps come before a
// step in each of them that has it, which writes a read may see, which values it may have. Conditions leave a
// read only writes of values that fulfil them; what all those writes have behind them is behind the step that
// asks; what is behind a step takes away writes that others may see. Sections of a lock that are entered are
// left first.
//
// With a triple: of the prefixes in which it happens. Then more follows, because much of the run has to
// happen: what comes after the only write that a read may see comes after the read.
//
// Everything is a consequence, so a contradiction proves that there is no such prefix; nothing proves that
// there is one.
#pragma once

#include <memory>
#include <optional>

#include "feasibility/solve/order_layout.h"
#include "feasibility/solve/value_set.h"

namespace cleave {

class ImpliedOrder {
 public:
  // Stops after so much work (deterministic, about 10 ns each); what was found until then holds.
  ImpliedOrder(std::shared_ptr<const OrderLayout> layout, uint64_t most_work);

  // Of those prefixes of this in which the triple happens.
  ImpliedOrder with(const FeasibilityQuery& query, bool same_value_is_violation, uint64_t most_work) const;

  // False: there is no such prefix.
  bool possible() const { return possible_; }
  // False: the triple happens in none. Looks at the order alone.
  bool possible(const FeasibilityQuery& query) const;
  // Whether the event writes what is there already, in every prefix that has it: what its thread read before
  // under a lock that all other writers of the variable hold.
  bool changes_nothing(uint32_t event);
  // Whether the remote access writes what the first or the second one writes, in every prefix: no violation
  // by definition 2.
  bool writes_the_same(const FeasibilityQuery& query) const;
  // So many steps of another thread come before this step.
  uint32_t steps_before(uint32_t thread, uint32_t number, uint32_t other) const {
    return clock(layout_->offset[thread] + number)[other];
  }
  // Of each thread that has to take steps in such a prefix the last event: empty without a triple.
  std::vector<uint32_t> required_events() const;
  const OrderLayout& layout() const { return *layout_; }
  uint64_t work() const { return work_; }

 private:
  const uint32_t* clock(uint32_t step) const { return &clocks_[size_t{step} * layout_->threads()]; }
  bool dead(uint32_t step) const {
    return layout_->steps[step].number >= alive_[layout_->steps[step].thread];
  }
  bool comes_before(uint32_t a, uint32_t b) const {  // or is the same
    return clock(b)[layout_->steps[a].thread] > layout_->steps[a].number || a == b;
  }
  bool required(uint32_t step) const {
    return layout_->steps[step].number < required_[layout_->steps[step].thread];
  }

  void settle();
  void order_pass();
  // Order.
  void put_behind(uint32_t step, uint32_t before);
  bool join(uint32_t step, const std::vector<uint32_t>& clock);
  void raise(uint32_t step, const std::vector<uint32_t>& clock);
  void spread();
  void kill(uint32_t step);
  void require(uint32_t step);
  std::vector<uint32_t> up_to(uint32_t step) const;
  // Writes that a read may see, by the order.
  void find_writes(uint32_t read);
  void order_sections(uint32_t step);
  void order_wake(uint32_t step);
  // Values.
  void start_values();
  void renew_values();
  void clear_stamps();
  bool value_pass();
  bool evaluate(uint32_t step);
  bool evaluate_read(uint32_t read);
  static bool replace(ValueSet& old, ValueSet fresh);
  bool evaluate_conjunct(uint32_t number);
  bool evaluate_write(uint32_t number);
  const ValueSet& value_at(uint32_t read, uint32_t step) const;
  template <typename Visit>
  bool each_combination(const std::vector<uint32_t>& reads, const std::vector<const ValueSet*>& sets,
                        Visit visit);
  // Order from values.
  void narrow(uint32_t step);
  void order_read(uint32_t read, uint32_t at);
  void order_around(uint32_t read, const std::vector<uint32_t>& seen, bool initial);
  void judge_guards(const FeasibilityQuery& query);
  ValueSet before(uint32_t step, uint32_t variable);
  ValueSet written(uint32_t step) const;
  static bool same(const ValueSet& a, const ValueSet& b);
  bool guarded(const OrderVariable& variable, const OrderStep& read, const OrderStep& write) const;
  uint64_t initial_of(uint32_t read) const;

  struct Seen {
    bool initial = false;
    std::vector<uint32_t> writes;
  };
  Seen visible(uint32_t step, uint32_t variable, uint32_t own_write) const;

  std::shared_ptr<const OrderLayout> layout_;
  std::vector<uint32_t> clocks_;               // by step, by thread: so many of its steps come before
  std::vector<uint32_t> alive_;                // by thread: so many of its steps may be taken
  std::vector<uint32_t> required_;             // by thread: so many are taken
  std::vector<uint32_t> changed_;              // steps whose clocks were raised
  std::vector<Seen> seen_;                     // by read
  std::vector<std::vector<ValueSet>> levels_;  // by read: raw, then after each conjunct that speaks of it
  std::vector<size_t> read_stamps_, stamps_,
      write_stamps_;               // by read, conjunct, write: what went in when it was evaluated last
  std::vector<ValueSet> stored_;   // by write
  std::vector<uint64_t> scratch_;  // values by read
  bool possible_ = true, grew_ = false, has_query_ = false;
  uint64_t work_ = 0, most_work_ = 0;
};

}  // namespace cleave
