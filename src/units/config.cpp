#include "units/config.h"

#define TOML_EXCEPTIONS 0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <filesystem>
#include <fstream>
#include <optional>
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

// "audit(Chain)": the function, and in the last parentheses the set.
std::optional<UnitFor> unitfor_of(std::string_view text) {
  if (!text.ends_with(')')) return std::nullopt;
  size_t open = text.size() - 1;
  for (int depth = 1; depth > 0 && open > 0;) {
    --open;
    depth += text[open] == ')' ? 1 : text[open] == '(' ? -1 : 0;
  }
  UnitFor result{std::string(text.substr(0, open)),
                 std::string(text.substr(open + 1, text.size() - open - 2))};
  if (result.function.empty() || result.set.empty() || text[open] != '(') return std::nullopt;
  return result;
}

Status read_unitfor(const toml::node& node, Config& config, const std::string& place) {
  Result<std::vector<std::string>> strings = strings_of(node, "unitfor", place);
  if (!strings) return strings.error();
  for (const std::string& text : strings.value()) {
    std::optional<UnitFor> unit = unitfor_of(text);
    if (!unit) {
      return error_at(
          place, node.source(),
          fmt::format("unitfor has '{}', which does not say for what; write \"FUNCTION(SET)\"", text));
    }
    config.unitfor.push_back(*std::move(unit));
  }
  return Done{};
}

Status read_units(const toml::table& table, Config& config, const std::string& place) {
  for (const auto& [key, node] : table) {
    if (key == "unitfor") {
      if (Status status = read_unitfor(node, config, place); !status) return status.error();
      continue;
    }
    std::vector<std::string>* list = key == "atomic"       ? &config.atomic
                                     : key == "not_atomic" ? &config.not_atomic
                                                           : nullptr;
    std::string name(key.str());
    if (list == nullptr) {
      return error_at(place, node.source(),
                      fmt::format("[units] has no '{}'; there are atomic, not_atomic and unitfor", name));
    }
    Result<std::vector<std::string>> strings = strings_of(node, name, place);
    if (!strings) return strings.error();
    *list = std::move(strings).value();
  }
  return Done{};
}

Status read_fields(const toml::table& table, Config& config, const std::string& place) {
  for (const auto& [key, node] : table) {
    if (key != "owned")
      return error_at(place, node.source(), fmt::format("[fields] has no '{}'; there is owned", key.str()));
    Result<std::vector<std::string>> strings = strings_of(node, "owned", place);
    if (!strings) return strings.error();
    config.owned = std::move(strings).value();
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
    auto read = key == "units"    ? read_units
                : key == "sets"   ? read_sets
                : key == "fields" ? read_fields
                                  : nullptr;
    if (section == nullptr || read == nullptr) {
      return error_at(
          place, node.source(),
          fmt::format("'{}' is not known here; there are [units], [sets] and [fields]", key.str()));
    }
    if (Status status = read(*section, config, place); !status) return status.error();
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
