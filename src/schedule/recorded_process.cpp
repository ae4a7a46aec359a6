#include "schedule/recorded_process.h"

#include <nlohmann/json.hpp>

namespace cleave {
namespace {

using Json = nlohmann::json;

std::string text_at(const Json& json, const char* key) {
  auto it = json.find(key);
  return it != json.end() && it->is_string() ? characters_as_bytes(it->get<std::string>()) : std::string();
}

// Of the program itself, which has no name among the mapped files.
std::string build_id_of(const Json& process) {
  auto mapped = process.find("mapped");
  if (mapped == process.end() || !mapped->is_array()) return {};
  for (const Json& file : *mapped)
    if (file.is_object() && file.contains("file") && file["file"] == "") return text_at(file, "build_id");
  return {};
}

}  // namespace

bool is_own_variable(std::string_view name) { return name.starts_with("CLEAVE_"); }

std::string bytes_as_characters(std::string_view bytes) {
  std::string text;
  for (unsigned char byte : bytes) {
    if (byte < 0x80) {
      text += static_cast<char>(byte);
    } else {
      text += static_cast<char>(0xc0 | byte >> 6);
      text += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return text;
}

std::string characters_as_bytes(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<unsigned char>(text[i]);
    if (first < 0x80) {
      bytes += text[i];
      continue;
    }
    const bool two = (first == 0xc2 || first == 0xc3) && i + 1 < text.size();
    if (!two) return std::string(text);
    bytes += static_cast<char>((first & 3) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f));
  }
  return bytes;
}

RecordedProcess recorded_process(std::string_view text) {
  RecordedProcess process;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return process;
  process.executable = text_at(json, "program");
  process.directory = text_at(json, "directory");
  process.build_id = build_id_of(json);
  if (auto words = json.find("arguments"); words != json.end() && words->is_array()) {
    for (const Json& word : *words)
      if (word.is_string()) process.arguments.push_back(characters_as_bytes(word.get<std::string>()));
  }
  if (process.arguments.empty() && !process.executable.empty())
    process.arguments.push_back(process.executable);
  // Traces of before had only a few variables, which say nothing about the others.
  if (auto whole = json.find("whole_environment"); whole == json.end() || !whole->is_boolean() || !*whole)
    return process;
  if (auto variables = json.find("environment"); variables != json.end() && variables->is_object()) {
    process.environment.emplace();
    for (const auto& [name, value] : variables->items()) {
      if (value.is_string() && !is_own_variable(name))
        process.environment->emplace(characters_as_bytes(name),
                                     characters_as_bytes(value.get<std::string>()));
    }
  }
  return process;
}

}  // namespace cleave
