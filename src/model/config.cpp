#include "model/config.h"

#define TOML_EXCEPTIONS 0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace cleave {
namespace {

Error error_at(const std::string& place, const toml::source_region& region, std::string message) {
  return Error{fmt::format("{}: line {}", place, region.begin.line), std::move(message)};
}

Result<std::vector<std::string>> strings_of(const toml::node& node, const std::string& what,
                                            const std::string& place) {
  std::vector<std::string> strings;
  const toml::array* array = node.as_array();
  if (array == nullptr) return error_at(place, node.source(), what + " must be a list of names in brackets");
  for (const toml::node& element : *array) {
    const auto* text = element.as_string();
    if (text == nullptr) return error_at(place, element.source(), what + " must hold names in quotes only");
    strings.push_back(text->get());
  }
  return strings;
}

Status read_units(const toml::table& table, Config& config, const std::string& place) {
  for (const auto& [key, node] : table) {
    std::vector<std::string>* list = key == "atomic"       ? &config.atomic
                                     : key == "not_atomic" ? &config.not_atomic
                                                           : nullptr;
    std::string name(key.str());
    if (list == nullptr) {
      return error_at(place, node.source(),
                      fmt::format("[units] has no '{}'; there are atomic and not_atomic", name));
    }
    Result<std::vector<std::string>> strings = strings_of(node, name, place);
    if (!strings) return strings.error();
    *list = std::move(strings).value();
  }
  return Done{};
}

Status read_sets(const toml::table& table, Config& config, const std::string& place) {
  for (const auto& [key, node] : table) {
    std::string name(key.str());
    Result<std::vector<std::string>> members = strings_of(node, fmt::format("set \"{}\"", name), place);
    if (!members) return members.error();
    config.sets.push_back({name, std::move(members).value()});
  }
  return Done{};
}

}  // namespace

Result<Config> parse_config(const std::string& text, const std::string& place) {
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) return error_at(place, parsed.error().source(), std::string(parsed.error().description()));
  Config config;
  for (const auto& [key, node] : parsed.table()) {
    const toml::table* section = node.as_table();
    if (section == nullptr || (key != "units" && key != "sets")) {
      return error_at(place, node.source(),
                      fmt::format("'{}' is not known here; there are [units] and [sets]", key.str()));
    }
    Status status = key == "units" ? read_units(*section, config, place) : read_sets(*section, config, place);
    if (!status) return status.error();
  }
  return config;
}

Result<Config> read_config(const std::string& path) {
  if (std::filesystem::is_directory(path)) return Error{path, "is a directory, not a file"};
  std::ifstream file(path);
  if (!file) return Error{path, "cannot be read; give --config a cleave.toml"};
  std::stringstream text;
  text << file.rdbuf();
  return parse_config(text.str(), path);
}

}  // namespace cleave
