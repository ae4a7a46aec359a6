#include "cli/flow_module.h"

#include <vector>

#include "cli/symbolic_module.h"
#include "program/recorded.h"

namespace cleave::cli {

Result<std::shared_ptr<const dependence::ProgramFlow>> flow_of_recorded(const RecordedTrace& recorded) {
  if (!recorded.file || recorded.origins.empty())
    return Error{"", "the trace was not recorded from a program, so nothing shows what depends on what"};
  std::vector<uint64_t> identities;
  for (const Module& module : recorded.file->modules().all()) identities.push_back(module.identity);
  static std::vector<uint64_t> known_for;
  static std::shared_ptr<const dependence::ProgramFlow> known;
  if (known && known_for == identities) return known;
  Result<Program> program = program_of_recorded(*recorded.file);
  if (!program) return program.error();
  Result<void*> door = symbolic_door("cleave_flow_of_program");
  if (!door) return door.error();
  auto flow = std::make_shared<dependence::ProgramFlow>();
  using Door = void (*)(const Program*, dependence::ProgramFlow*);
  reinterpret_cast<Door>(door.value())(&program.value(), flow.get());
  known_for = std::move(identities);
  known = std::move(flow);
  return known;
}

}  // namespace cleave::cli
