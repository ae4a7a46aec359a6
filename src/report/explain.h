// A finding in words, the same for every form of output.
#pragma once

#include <string>
#include <vector>

#include "findings/finding.h"

namespace cleave::report {

// "confirmed RWW on Account::balance in withdraw"
std::string headline(const Finding& finding);
// "read Account::balance = 20"
std::string operation(const AccessReport& access, const std::string& variable);
// Why no serial order explains it: what the judge or the engine said, else what the pattern says.
std::string why(const Finding& finding);
// Why its unit must be atomic: "`withdraw` decided on `account::balance` (line 25), then changed it (line
// 43)." Empty where the unit is one by itself.
std::string cause(const Finding& finding);
// What the verdict means for this finding, one sentence.
std::string verdict_sentence(const Finding& finding);
// "Found 3 times at these places."; empty if it was once.
std::string how_often(const Finding& finding);
// The command that replays it; empty if there is no witness.
std::string replay_command(const Finding& finding);
// Of a failing run: the command that finds out which switches between threads it needs.
std::string explain_command(const Finding& finding);
// "signal 6 (Aborted)"
std::string failure_end(const FailureReport& failure);
// "T1 withdraw"
std::string unit_label(const UnitReport& unit);
// "bank.cpp:12", or as much as is known
std::string place(const AccessReport& access);
// The function of the standard library that did the access on the place's behalf; empty if the place did it
// itself.
std::string inside(const AccessReport& access);
// Who called the access's function, innermost first; without the standard library, which starts threads and
// calls back.
std::vector<std::string> callers_of(const AccessReport& access);

}  // namespace cleave::report
