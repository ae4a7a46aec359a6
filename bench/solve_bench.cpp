// Time of the symbolic stage on the bank programs of CTP's Table 1, all candidates, beside the paper's seconds.
#include <chrono>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "solve/bank.h"
#include "solve/feasibility.h"

namespace cleave {
namespace {

struct Row {
  size_t feasible = 0, infeasible = 0, unknown = 0;
  double seconds = 0;
};

Row run(const Bank& bank) {
  auto begin = std::chrono::steady_clock::now();
  Row row;
  Result<SymbolicTrace> lifted = lift_annotations(bank.trace);
  FeasibilityChecker checker(lifted.value(), {});
  for (const auto& [f, r, s, p] : bank.candidates) {
    Feasibility got = checker.decide({f, r, s, p});
    ++(got.answer == Answer::Feasible ? row.feasible : got.answer == Answer::Infeasible ? row.infeasible : row.unknown);
  }
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return row;
}

}  // namespace
}  // namespace cleave

int main() {
  using namespace cleave;
  struct Shape { const char* name; BankKind kind; int largest; };
  fmt::print("{:<14} {:>4} {:>9} {:>10} {:>8} {:>9}\n", "program", "k", "feasible", "infeasible", "unknown", "seconds");
  for (const Shape& shape : {Shape{"bank-av", BankKind::Split, 64}, Shape{"bank-sav", BankKind::Partial, 64},
                             Shape{"bank-nav", BankKind::Transaction, 64}, Shape{"bank-ticket", BankKind::Counter, 8}}) {
    for (int k = 2; k <= shape.largest; k *= 2) {
      Row row = run(make_bank(k, shape.kind));
      fmt::print("{:<14} {:>4} {:>9} {:>10} {:>8} {:>9.2f}\n", shape.name, k, row.feasible, row.infeasible, row.unknown, row.seconds);
      std::fflush(stdout);
    }
  }
}
