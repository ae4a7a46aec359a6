#include "hunt/state.h"

#include <nlohmann/json.hpp>

namespace cleave::hunt {

std::string to_json(const HuntState& state) {
  nlohmann::json targets = nlohmann::json::object();
  for (const auto& [key, target] : state.targets)
    targets[key] = {{"attempts", target.attempts}, {"done", target.done}, {"note", target.note}};
  nlohmann::json json = {{"cleave hunt", 1},           {"program", state.program},
                         {"seed", state.seed},         {"executions", state.executions},
                         {"explored", state.explored}, {"targets", targets}};
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<HuntState> state_from_json(const std::string& text, const std::string& place) {
  HuntState state;
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    if (json.at("cleave hunt") != 1) return Error{place, "is the state of a hunt of another version"};
    json.at("program").get_to(state.program);
    json.at("seed").get_to(state.seed);
    json.at("executions").get_to(state.executions);
    json.at("explored").get_to(state.explored);
    for (const auto& [key, target] : json.at("targets").items())
      state.targets[key] = {target.at("attempts").get<unsigned>(), target.at("done").get<bool>(),
                            target.at("note").get<std::string>()};
  } catch (const nlohmann::json::exception&) {
    return Error{place, "is not the state of a hunt"};
  }
  return state;
}

}  // namespace cleave::hunt
