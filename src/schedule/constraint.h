// Constraints on the order of accesses, for the policy `rf`: an access at one place comes directly after one
// at another, by another thread. With a write first and a read second that is "this read reads from that
// write".
//
// As text, one a line, `#` begins a comment:
//
//   write bank.cpp:16 -> read bank.cpp:12        the read sees what that line wrote
//   not write bank.cpp:16 -> read bank.cpp:12    it sees something else
//   start -> read bank.cpp:12                    it comes before every write of its variable
//   write 3 bank.cpp:16 -> read bank.cpp:12      from the third such write on
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schedule/plan.h"

namespace cleave {

struct Constraint {
  // Thread and occurrence of a place are not looked at: any thread may be the one.
  std::optional<Milestone> after;  // nothing: the beginning of the run
  Milestone then;
  std::vector<Milestone> between;  // accesses that must not come between; empty: writes of the same variable
  bool negative = false;
  uint64_t occurrence = 1;  // of `after`, from 1: earlier ones do not count
  friend bool operator==(const Constraint&, const Constraint&) = default;
};

// "write bank.cpp:16 -> read bank.cpp:12": what parse_constraints reads.
std::string to_text(const Constraint& constraint);

// An Error says the line. Files may be named by the end of their path.
Result<std::vector<Constraint>> parse_constraints(std::string_view text, const std::string& place);

}  // namespace cleave
