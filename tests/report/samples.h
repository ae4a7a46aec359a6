// Findings that the tests of every form of output share.
#pragma once

#include "findings/finding.h"

namespace cleave {

inline AccessReport access_report(Role role, std::string thread, std::string op, std::string value,
                                  std::string function, uint32_t line) {
  return {.role = role,
          .thread = std::move(thread),
          .op = std::move(op),
          .value = std::move(value),
          .function = std::move(function),
          .file = "bank.cpp",
          .line = line};
}

inline Finding lost_update() {
  Finding finding;
  finding.id = "CLV-3f9a12cc";
  finding.pattern = Pattern::RWW;
  finding.verdict = Verdict::Confirmed;
  finding.variable = "Account::balance";
  finding.unit = "withdraw";
  finding.set = "Account";
  finding.accesses = {access_report(Role::First, "T1", "read", "20", "Account::get", 12),
                      access_report(Role::Remote, "T2", "write", "5", "Account::set", 16),
                      access_report(Role::Second, "T1", "write", "10", "Account::set", 16)};
  finding.accesses[0].stack = {"Account::get bank.cpp:12", "withdraw bank.cpp:31", "client bank.cpp:44"};
  finding.accesses[1].locks = {"lock", "audit"};
  finding.stages = {
      {"order", "kept"}, {"locks", "kept"}, {"filter", "dropped"}, {"exact", "dropped"}, {"symbolic", "sat"}};
  finding.proof = "C_RWW";
  finding.witness = "witness-3f9a12cc.json";
  return finding;
}

inline Finding dirty_read() {
  Finding finding;
  finding.id = "CLV-00000001";
  finding.pattern = Pattern::WRW;
  finding.verdict = Verdict::Witnessed;
  finding.variable = "total";
  finding.unit = "rebalance";
  finding.accesses = {access_report(Role::First, "main", "write", "0", "rebalance", 51),
                      access_report(Role::Remote, "T2", "read", "0", "audit", 70),
                      access_report(Role::Second, "main", "write", "30", "rebalance", 55)};
  finding.note = "the exact search stopped at its budget";
  finding.occurrences = 12;
  return finding;
}

inline Finding cycle() {
  Finding finding;
  finding.id = "CLV-0badcafe";
  finding.kind = FindingKind::Cycle;
  finding.verdict = Verdict::Confirmed;
  finding.set = "Coord";
  finding.units = {{"reset", "T1"}, {"swap", "T2"}};
  finding.edges = {{0, 1, "Coord::x", "WR", access_report(Role::From, "T1", "write", "0", "resetX", 8),
                    access_report(Role::To, "T2", "read", "0", "swap", 20)},
                   {1, 0, "Coord::y", "WW", access_report(Role::From, "T2", "write", "0", "swap", 22),
                    access_report(Role::To, "T1", "write", "0", "resetY", 12)}};
  return finding;
}

inline Finding split_view() {
  Finding finding;
  finding.id = "CLV-00000002";
  finding.kind = FindingKind::HighLevelRace;
  finding.variable = "Coord";
  finding.units = {{"setXY", ""}, {"use", ""}};
  finding.views = {{"Coord::x", "Coord::y"}, {"Coord::x"}};
  return finding;
}

inline Finding failing_run() {
  return failure_finding("bank",
                         {.end = FailureEnd::Deadlock,
                          .failed = 2,
                          .runs = 20,
                          .seeds = {3, 7},
                          .first = "run 3 (--seed 3)",
                          .text = "main waits for T1 to end\nT1 waits for lock, held by main\n"},
                         "bank.3.witness.json");
}

inline Findings sample_findings() {
  Findings findings{.command = "predict", .program = "bank", .trace = "bank.cleave"};
  findings.stages = {
      {.name = "patterns", .triples = 24, .sites = 9, .seconds = 0.01},
      {.name = "symbolic", .triples = 2, .sites = 2, .seconds = 1.5, .counts = {{"unknown", 1}}}};
  findings.findings = {lost_update(), dirty_read(), cycle(), split_view(), failing_run()};
  findings.facts = {{"definition", "view equivalence with final writes"}};
  return findings;
}

}  // namespace cleave
