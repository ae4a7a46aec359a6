#include "cli/witness_run.h"

#include "exec/trust.h"

namespace cleave::cli {
namespace {

exec::NamedProgram named_by(const Witness& witness, const WitnessRunOptions& options) {
  exec::NamedProgram named;
  named.named_by = options.witness;
  named.path = witness.executable.empty() ? witness.program[0] : witness.executable;
  named.directory = witness.directory;
  for (const ModuleIdentity& module : witness.schedule.modules) named.modules.push_back(module.identity);
  return named;
}

}  // namespace

Result<exec::RunRequest> run_of_witness(const Witness& witness, const WitnessRunOptions& options,
                                        const ProgramLine& program) {
  exec::RunRequest request;
  request.inputs = witness.inputs;
  request.program = program.empty() ? witness.program : program;
  if (!program.empty()) return request;
  request.executable = witness.executable;
  request.directory = witness.directory;
  request.inherited = witness.environment;
  Result<exec::CheckedProgram> checked = exec::check_program(named_by(witness, options), options.trust);
  if (!checked) return checked.error();
  request.checked = std::move(checked).value();
  if (!options.quiet) tell_what_runs(*request.checked, request.program, request.inherited);
  return request;
}

}  // namespace cleave::cli
