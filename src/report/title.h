// What a finding says in a programmer's words, without the theory: its headline, what the verdict means, what
// follows from it, what to do next.
#pragma once

#include <string>
#include <vector>

#include "findings/finding.h"

namespace cleave::report {

// "withdraw decides on Account::balance, then changes it; another thread changes it in between"
std::string title(const Finding& finding);
// "lost update (RWW)": the name of what went wrong and the word that `cleave explain` takes.
std::string rule_name(const Finding& finding);
std::string rule_word(const Finding& finding);
// What a user of the program notices, where that is known; empty otherwise.
std::string consequence(const Finding& finding);
// What to do about it, a sentence each.
std::vector<std::string> next_steps(const Finding& finding);
// Files below `directory` as one would type them there; `directory` empty: as they are.
std::string nearer(std::string text, const std::string& directory);

}  // namespace cleave::report
