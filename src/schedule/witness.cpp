#include "schedule/witness.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "abi/chunk_checksum.h"
#include "abi/trace_file.h"
#include "base/private_file.h"
#include "schedule/base64.h"

namespace cleave {
namespace {

using Json = nlohmann::ordered_json;

std::string base64_of(std::string_view text) {
  return to_base64({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

Json json_of(const Milestone& milestone) {
  Json json{{"thread", milestone.thread},
            {"op", word_of(milestone.kind)},
            {"file", milestone.file},
            {"line", milestone.line},
            {"column", milestone.column},
            {"function", milestone.function},
            {"occurrence", milestone.occurrence}};
  if (milestone.value) json["value"] = *milestone.value;
  if (!milestone.note.empty()) json["note"] = milestone.note;
  return json;
}

bool parse_kind(const std::string& word, EventKind* kind) {
#define CLEAVE_EVENT(name, number, text, object, object2) \
  if (word == (text)) {                                   \
    *kind = EventKind::name;                              \
    return true;                                          \
  }
#include "trace/core/event_kinds.def"
#undef CLEAVE_EVENT
  return false;
}

// False if there is no such operation; what is missing or of another type throws.
bool read_milestone(const Json& json, Milestone& milestone) {
  milestone.thread = json.at("thread").get<std::string>();
  if (!parse_kind(json.at("op").get<std::string>(), &milestone.kind)) return false;
  milestone.file = json.at("file").get<std::string>();
  milestone.line = json.at("line").get<uint32_t>();
  milestone.column = json.value("column", 0u);
  milestone.function = json.value("function", std::string());
  milestone.occurrence = json.value("occurrence", uint64_t{1});
  if (json.contains("value")) milestone.value = json["value"].get<uint64_t>();
  milestone.note = json.value("note", std::string());
  return true;
}

// What a trace recorded under control knows: its process chunk says the program, a schedule chunk the
// schedule.
Result<Witness> witness_from_trace(const std::string& bytes, const std::string& place) {
  Witness witness;
  bool found = false;
  cleave_file_header file;
  std::memcpy(&file, bytes.data(), sizeof file);
  if (file.version != CLEAVE_TRACE_VERSION)
    return Error{place,
                 fmt::format("is a trace of version {}, and this Cleave reads version {}; record it again",
                             file.version, CLEAVE_TRACE_VERSION)};
  for (size_t at = sizeof(cleave_file_header); at + sizeof(cleave_chunk_header) <= bytes.size();) {
    cleave_chunk_header header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    size_t body = at + sizeof header;
    if (header.magic != CLEAVE_CHUNK_MAGIC) break;
    if (bytes.size() - body < header.stored_bytes) {
      if (header.kind == CLEAVE_CHUNK_SCHEDULE)
        return Error{place, "truncated: the file ends in the middle of its schedule"};
      break;
    }
    std::string_view text(bytes.data() + body, header.stored_bytes);
    const bool used = header.kind == CLEAVE_CHUNK_PROCESS || header.kind == CLEAVE_CHUNK_SCHEDULE;
    if (used && cleave_chunk_checksum(&header, text.data()) != header.checksum)
      return Error{place, fmt::format("byte {}: damaged chunk (its checksum is wrong); record it again", at)};
    if (header.kind == CLEAVE_CHUNK_PROCESS && witness.program.empty()) {
      RecordedProcess process = recorded_process(text);
      witness.executable = std::move(process.executable);
      witness.directory = std::move(process.directory);
      witness.program = std::move(process.arguments);
      witness.environment = std::move(process.environment);
    } else if (header.kind == CLEAVE_CHUNK_SCHEDULE) {
      Result<Schedule> schedule = decode_schedule(text, place);
      if (!schedule) return schedule.error();
      witness.schedule = std::move(schedule).value();
      found = true;
    }
    at = body + header.stored_bytes;
  }
  if (!found)
    return Error{
        place,
        "this trace was not recorded under control, so there is no schedule to follow; record it with "
        "cleave record --schedule serial (or random, pct)"};
  if (witness.program.empty()) return Error{place, "the trace does not say which program it is of"};
  return witness;
}

}  // namespace

std::string to_json(const Witness& witness) {
  Json milestones = Json::array();
  for (const Milestone& milestone : witness.milestones.milestones) milestones.push_back(json_of(milestone));
  Json modules = Json::array();
  for (const ModuleIdentity& module : witness.schedule.modules)
    modules.push_back(Json{{"name", module.name}, {"identity", fmt::format("{:016x}", module.identity)}});
  Json inputs = Json::object();
  for (const auto& [name, value] : witness.inputs) inputs[name] = base64_of(value);
  Json environment = Json::object();
  if (witness.environment)
    for (const auto& [name, value] : *witness.environment)
      environment[bytes_as_characters(name)] = bytes_as_characters(value);
  Json json{{"cleave_witness", 1},
            {"program", witness.program},
            {"executable", witness.executable},
            {"directory", witness.directory},
            {"environment", witness.environment ? environment : Json()},
            {"finding", witness.finding},
            {"outcome", witness.outcome},
            {"build", modules},
            {"inputs", inputs},
            {"milestones", milestones},
            {"threads", witness.schedule.threads},
            {"points", witness.schedule.points()},
            {"switches", witness.schedule.runs.empty() ? 0 : witness.schedule.runs.size() - 1},
            {"schedule", to_base64(encode(witness.schedule))}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Witness> witness_from_json(const std::string& text, const std::string& place) {
  try {
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded())
      return Error{
          place,
          "not a witness, or a truncated one; give a witness-….json as cleave predict or cleave record "
          "writes it, or a trace that was recorded under control"};
    if (!json.is_object() || json.value("cleave_witness", 0) != 1)
      return Error{place, "not a witness: \"cleave_witness\": 1 is missing"};
    Witness witness;
    witness.program = json.at("program").get<std::vector<std::string>>();
    if (witness.program.empty()) return Error{place, "the witness names no program"};
    witness.executable = json.value("executable", std::string());
    witness.directory = json.value("directory", std::string());
    if (json.contains("environment") && json["environment"].is_object()) {
      witness.environment.emplace();
      for (const auto& [name, value] : json["environment"].items())
        witness.environment->emplace(characters_as_bytes(name),
                                     characters_as_bytes(value.get<std::string>()));
    }
    witness.finding = json.value("finding", std::string());
    witness.outcome = json.value("outcome", std::string());
    if (json.contains("inputs"))
      for (const auto& [name, value] : json["inputs"].items())
        if (!from_base64(value.get<std::string>(), &witness.inputs[name]))
          return Error{place, fmt::format("the input {} is not base64", name)};
    if (json.contains("milestones"))
      for (const Json& milestone : json["milestones"])
        if (!read_milestone(milestone, witness.milestones.milestones.emplace_back()))
          return Error{place, fmt::format("a milestone comes to an operation that there is not: {}",
                                          milestone.at("op").dump())};
    if (Status status = validate(witness.milestones); !status) return Error{place, status.error().message};
    std::string bytes;
    if (!from_base64(json.at("schedule").get<std::string>(), &bytes))
      return Error{place, "truncated or damaged schedule: it is not base64"};
    Result<Schedule> schedule = decode_schedule(bytes, place);
    if (!schedule) return schedule.error();
    witness.schedule = std::move(schedule).value();
    return witness;
  } catch (const Json::exception&) {
    return Error{
        place,
        "a damaged witness: something is missing in it or is not what it should be; make it again with "
        "cleave predict or cleave record"};
  }
}

Status write_witness(const Witness& witness, const std::string& path) {
  Status written = write_private_file(path, to_json(witness));
  if (!written) return Error{path, "cannot write the witness: " + written.error().message};
  return Done{};
}

Result<Witness> read_witness(const std::string& path) {
  if (std::filesystem::is_directory(path)) return Error{path, "is a directory, not a file"};
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{path, std::strerror(errno)};
  std::stringstream buffer;
  buffer << file.rdbuf();
  std::string bytes = std::move(buffer).str();
  uint64_t magic = 0;
  if (bytes.size() >= sizeof(cleave_file_header)) std::memcpy(&magic, bytes.data(), sizeof magic);
  if (magic == CLEAVE_TRACE_MAGIC) return witness_from_trace(bytes, path);
  return witness_from_json(bytes, path);
}

}  // namespace cleave
