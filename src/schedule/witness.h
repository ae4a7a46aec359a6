// A witness: a schedule and the inputs with which the program really runs into the violation. `cleave replay`
// follows it. JSON, with the schedule in it as base64 of schedule/'s bytes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schedule/plan.h"
#include "schedule/recorded_process.h"
#include "schedule/schedule.h"

namespace cleave {

struct Witness {
  std::vector<std::string> program;           // as typed: program, arguments
  std::string executable;                     // the file that it was, whatever it was called; empty: as typed
  std::string directory;                      // where it was run
  std::optional<Environment> environment;     // what it found there; nothing: not known
  std::map<std::string, std::string> inputs;  // cleave_input_* by name; bytes as they are
  Schedule schedule;
  Plan milestones;      // accesses of the finding, in order; may be empty
  std::string finding;  // CLV-…; may be empty
  std::string outcome;  // how the run ended, for people
  friend bool operator==(const Witness&, const Witness&) = default;
};

std::string to_json(const Witness& witness);
Result<Witness> witness_from_json(const std::string& text, const std::string& place);

Status write_witness(const Witness& witness, const std::string& path);
// A witness file, or a trace that was recorded under control: told by its content.
Result<Witness> read_witness(const std::string& path);

}  // namespace cleave
