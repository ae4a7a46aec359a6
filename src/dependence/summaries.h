// Dependencies across calls, computed from the tables of flow.h alone: a fixpoint over the call graph, so
// recursion is no trouble. What is called through a pointer is taken for a function whose result depends on
// all its operands and that touches nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "dependence/flow.h"

namespace cleave::dependence {

// A function of a program, and an element of one.
struct FunctionRef {
  uint32_t module = UINT32_MAX, function = UINT32_MAX;
  friend auto operator<=>(const FunctionRef&, const FunctionRef&) = default;
};
struct ElementRef {
  uint32_t module = UINT32_MAX, function = UINT32_MAX, element = UINT32_MAX;
  friend auto operator<=>(const ElementRef&, const ElementRef&) = default;
};

enum class Reach : uint8_t { None = 0, Data = 1, Control = 2, Both = 3 };

// An access in a function or in anything it calls, and how something reaches it.
struct Reached {
  ElementRef access;
  Reach how = Reach::None;
  friend auto operator<=>(const Reached&, const Reached&) = default;
};

struct Summary {
  std::vector<ElementRef> accesses;        // all that a call of it may make, sorted
  std::vector<ElementRef> returned_reads;  // reads whose value the result depends on, sorted
  std::vector<bool> returned_parameters;   // by number: the result depends on it
  // By parameter: the accesses that depend on it, by data (value, address) or by control.
  std::vector<std::vector<Reached>> parameter_reaches;
};

class Summaries {
 public:
  // The program must outlive it. Time: functions × accesses they may make, times the depth of recursion.
  explicit Summaries(const ProgramFlow& program);

  const Summary& of(FunctionRef function) const;
  // What the call calls; module UINT32_MAX where that is not known or outside the program.
  FunctionRef callee(const ElementRef& call) const;
  const Element& element(const ElementRef& ref) const;

  // A read that something later in the same function depends on, through however many calls.
  struct Dependence {
    ElementRef read;             // in this function, or in what `from` calls
    uint32_t from = kNoElement;  // element of this function: the read itself, or the call that makes it
    ElementRef access;           // likewise, the access that depends on it
    uint32_t to = kNoElement;
    Reach how = Reach::None;
  };
  // Definition 1, direct correlation: pairs whose innermost common function is this one.
  std::vector<Dependence> dependences(FunctionRef function) const;

  // Definition 2, common correlation: two reads made by two elements of this function whose values meet in
  // one write, branch, list of arguments or result.
  struct Meeting {
    ElementRef first, second;
    uint32_t first_from = kNoElement, second_from = kNoElement;
    enum class Where : uint8_t { Write, Branch, Call, Result } where = Where::Write;
  };
  std::vector<Meeting> meetings(FunctionRef function) const;

 private:
  // A read, and the element of the function at hand that brings it.
  struct Brought {
    ElementRef read;
    uint32_t from = kNoElement;
    friend auto operator<=>(const Brought&, const Brought&) = default;
  };
  // Behind some origins: the reads, and the parameters of the function.
  struct Behind {
    std::vector<Brought> reads;
    std::vector<uint32_t> parameters;
  };
  Behind behind(FunctionRef function, const Origins& origins) const;
  void expand(FunctionRef function, uint32_t element, Behind& found, std::vector<Origin>& open) const;
  Origins conditions(const FunctionFlow& flow, const Element& element) const;
  void link();
  bool update(FunctionRef function);
  void add_parameters(FunctionRef function, uint32_t element, Summary& summary) const;
  const FunctionFlow& flow(FunctionRef ref) const {
    return program_->modules[ref.module].functions[ref.function];
  }

  const ProgramFlow* program_;
  std::vector<std::vector<Summary>> summaries_;               // by module, function
  std::vector<std::vector<std::vector<FunctionRef>>> calls_;  // by module, function, element
};

}  // namespace cleave::dependence
