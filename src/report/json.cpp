#include "report/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace cleave::report {
namespace {

using Json = nlohmann::ordered_json;

// ---- out

void put(Json& json, const char* name, const std::string& text) {
  if (!text.empty()) json[name] = text;
}

void put(Json& json, const char* name, const std::vector<std::string>& list) {
  if (!list.empty()) json[name] = list;
}

Json access_to_json(const AccessReport& access) {
  Json json;
  json["role"] = word_of(access.role);
  json["thread"] = access.thread;
  json["op"] = access.op;
  put(json, "value", access.value);
  put(json, "type", access.type);
  put(json, "variable", access.variable);
  put(json, "function", access.function);
  put(json, "file", access.file);
  if (access.line != 0) json["line"] = access.line;
  put(json, "locks", access.locks);
  put(json, "stack", access.stack);
  return json;
}

void cycle_to_json(Json& json, const Finding& finding) {
  if (finding.kind == FindingKind::Cycle) json["size"] = finding.units.size();
  if (finding.split < finding.units.size()) json["split"] = finding.split;
  for (const UnitReport& unit : finding.units)
    json["units"].push_back({{"name", unit.name}, {"thread", unit.thread}});
  for (const EdgeReport& edge : finding.edges) {
    Json out;
    out["from"] = edge.from;
    out["to"] = edge.to;
    put(out, "variable", edge.variable);
    out["conflict"] = edge.conflict;
    out["first"] = access_to_json(edge.first);
    out["second"] = access_to_json(edge.second);
    json["edges"].push_back(std::move(out));
  }
  for (const auto& view : finding.views) json["views"].push_back(view);
  for (const AccessReport& step : finding.path) json["path"].push_back(access_to_json(step));
  if (finding.rank != 0) json["rank"] = finding.rank;
}

Json failure_to_json(const FailureReport& failure) {
  Json json;
  json["end"] = word_of(failure.end);
  if (failure.end == FailureEnd::Exit || failure.end == FailureEnd::Signal) json["number"] = failure.number;
  json["failed"] = failure.failed;
  json["runs"] = failure.runs;
  if (!failure.seeds.empty()) json["seeds"] = failure.seeds;
  put(json, "first", failure.first);
  put(json, "text", failure.text);
  return json;
}

Json finding_to_json(const Finding& finding) {
  Json json;
  json["id"] = finding.id;
  json["kind"] = word_of(finding.kind);
  if (finding.pattern != Pattern::None) json["pattern"] = word_of(finding.pattern);
  json["verdict"] = word_of(finding.verdict);
  put(json, "variable", finding.variable);
  put(json, "unit", finding.unit);
  put(json, "set", finding.set);
  for (const AccessReport& access : finding.accesses) json["accesses"].push_back(access_to_json(access));
  cycle_to_json(json, finding);
  if (finding.failure) json["failure"] = failure_to_json(*finding.failure);
  if (!finding.stages.empty()) json["stages"] = finding.stages;
  put(json, "proof", finding.proof);
  put(json, "witness", finding.witness);
  if (!finding.cause.rule.empty()) {
    json["cause"] = {{"rule", finding.cause.rule}, {"by_data", finding.cause.by_data}};
    json["cause"]["first"] = access_to_json(finding.cause.first);
    json["cause"]["second"] = access_to_json(finding.cause.second);
  }
  put(json, "why", finding.why);
  put(json, "note", finding.note);
  if (!finding.hints.empty()) json["hints"] = finding.hints;
  json["occurrences"] = finding.occurrences;
  return json;
}

Json stage_to_json(const StageReport& stage) {
  Json json;
  json["name"] = stage.name;
  json["triples"] = stage.triples;
  json["sites"] = stage.sites;
  json["seconds"] = stage.seconds;
  for (const auto& [name, count] : stage.counts) json[name] = count;
  return json;
}

// ---- in

// Reads typed fields of one object. The first thing that is not as it should be is kept as the error;
// everything after it reads as empty, so that callers need to look once.
class Reader {
 public:
  Reader(std::string_view place, Error* error) : place_(place), error_(error) {}

  void fail(const std::string& where, std::string_view what) const {
    if (error_->message.empty()) *error_ = {std::string(place_), fmt::format("{}: {}", where, what)};
  }

  const Json* member(const Json& json, const char* name) const {
    auto it = json.find(name);
    return it == json.end() || it->is_null() ? nullptr : &*it;
  }

  std::string text(const Json& json, const char* name, const std::string& where) const {
    const Json* field = member(json, name);
    if (field == nullptr) return {};
    if (field->is_string()) return field->get<std::string>();
    fail(where + "." + name, "is not a string");
    return {};
  }

  uint64_t number(const Json& json, const char* name, const std::string& where, uint64_t otherwise,
                  uint64_t largest) const {
    const Json* field = member(json, name);
    if (field == nullptr) return otherwise;
    if (field->is_number_unsigned() && field->get<uint64_t>() <= largest) return field->get<uint64_t>();
    fail(where + "." + name, "is not a number that fits");
    return otherwise;
  }

  std::vector<std::string> texts(const Json& json, const std::string& where) const {
    std::vector<std::string> list;
    if (!json.is_array()) fail(where, "is not a list");
    for (const Json& item : json) {
      if (item.is_string()) {
        list.push_back(item.get<std::string>());
      } else {
        fail(where, "holds something that is not a string");
      }
    }
    return list;
  }

  // Calls `use(item, place)` for each object of the list `name`, if there is one.
  template <typename Use>
  void each(const Json& json, const char* name, const std::string& where, Use use) const {
    const Json* list = member(json, name);
    if (list == nullptr) return;
    const std::string path = where.empty() ? name : where + "." + name;
    if (!list->is_array()) return fail(path, "is not a list");
    size_t index = 0;
    for (const Json& item : *list) {
      const std::string item_path = fmt::format("{}[{}]", path, index++);
      if (!item.is_object()) return fail(item_path, "is not an object");
      use(item, item_path);
    }
  }

  template <typename Enum>
  Enum word(const Json& json, const char* name, const std::string& where, int count) const {
    const std::string wanted = text(json, name, where);
    for (int i = 0; i < count; ++i) {
      if (word_of(static_cast<Enum>(i)) == wanted) return static_cast<Enum>(i);
    }
    fail(where + "." + name, fmt::format("`{}` is not a word of the findings file", wanted));
    return static_cast<Enum>(0);
  }

 private:
  std::string_view place_;
  Error* error_;
};

constexpr int kVerdictCount = 5, kKindCount = 5, kPatternCount = 6, kRoleCount = 6, kFailureEndCount = 5;

AccessReport read_access(const Reader& reader, const Json& json, const std::string& where) {
  AccessReport access;
  access.role = reader.word<Role>(json, "role", where, kRoleCount);
  access.thread = reader.text(json, "thread", where);
  access.op = reader.text(json, "op", where);
  access.value = reader.text(json, "value", where);
  access.type = reader.text(json, "type", where);
  access.variable = reader.text(json, "variable", where);
  access.function = reader.text(json, "function", where);
  access.file = reader.text(json, "file", where);
  access.line = static_cast<uint32_t>(reader.number(json, "line", where, 0, UINT32_MAX));
  if (const Json* locks = reader.member(json, "locks")) access.locks = reader.texts(*locks, where + ".locks");
  if (const Json* stack = reader.member(json, "stack")) access.stack = reader.texts(*stack, where + ".stack");
  return access;
}

AccessReport read_end(const Reader& reader, const Json& edge, const char* name, const std::string& where) {
  const Json* json = reader.member(edge, name);
  if (json == nullptr) return {};
  if (!json->is_object()) return reader.fail(where + "." + name, "is not an object"), AccessReport{};
  return read_access(reader, *json, where + "." + name);
}

void read_cycle(const Reader& reader, const Json& json, const std::string& where, Finding& finding) {
  reader.each(json, "units", where, [&](const Json& item, const std::string& at) {
    finding.units.push_back(
        {.name = reader.text(item, "name", at), .thread = reader.text(item, "thread", at)});
  });
  reader.each(json, "edges", where, [&](const Json& item, const std::string& at) {
    EdgeReport edge;
    edge.from = static_cast<uint32_t>(reader.number(item, "from", at, 0, UINT32_MAX));
    edge.to = static_cast<uint32_t>(reader.number(item, "to", at, 0, UINT32_MAX));
    if (edge.from >= finding.units.size() || edge.to >= finding.units.size()) {
      reader.fail(at, "names a unit that is not in the list");
    }
    edge.variable = reader.text(item, "variable", at);
    edge.conflict = reader.text(item, "conflict", at);
    edge.first = read_end(reader, item, "first", at);
    edge.second = read_end(reader, item, "second", at);
    finding.edges.push_back(std::move(edge));
  });
  finding.split = static_cast<uint32_t>(reader.number(json, "split", where, UINT32_MAX, UINT32_MAX));
  reader.each(json, "path", where, [&](const Json& item, const std::string& at) {
    finding.path.push_back(read_access(reader, item, at));
  });
  finding.rank = static_cast<uint32_t>(reader.number(json, "rank", where, 0, UINT32_MAX));
  if (const Json* views = reader.member(json, "views")) {
    if (!views->is_array()) return reader.fail(where + ".views", "is not a list");
    for (const Json& view : *views) finding.views.push_back(reader.texts(view, where + ".views"));
  }
}

void read_words(const Reader& reader, const Json& json, const char* name, const std::string& where,
                std::map<std::string, std::string>& words) {
  const Json* object = reader.member(json, name);
  if (object == nullptr) return;
  const std::string path = where.empty() ? name : where + "." + name;
  if (!object->is_object()) return reader.fail(path, "is not an object");
  for (const auto& [key, value] : object->items()) {
    if (!value.is_string()) return reader.fail(path + "." + key, "is not a string");
    words[key] = value.get<std::string>();
  }
}

void read_failure(const Reader& reader, const Json& json, const std::string& where, Finding& finding) {
  const Json* object = reader.member(json, "failure");
  if (object == nullptr) return;
  const std::string path = where + ".failure";
  if (!object->is_object()) return reader.fail(path, "is not an object");
  FailureReport& failure = finding.failure.emplace();
  failure.end = reader.word<FailureEnd>(*object, "end", path, kFailureEndCount);
  failure.number = static_cast<int>(reader.number(*object, "number", path, 0, INT32_MAX));
  failure.failed = reader.number(*object, "failed", path, 0, UINT64_MAX);
  failure.runs = reader.number(*object, "runs", path, 0, UINT64_MAX);
  failure.first = reader.text(*object, "first", path);
  failure.text = reader.text(*object, "text", path);
  const Json* seeds = reader.member(*object, "seeds");
  if (seeds == nullptr) return;
  if (!seeds->is_array()) return reader.fail(path + ".seeds", "is not a list");
  for (const Json& seed : *seeds) {
    if (!seed.is_number_unsigned()) return reader.fail(path + ".seeds", "holds something that is not a seed");
    failure.seeds.push_back(seed.get<uint64_t>());
  }
}

Finding read_finding(const Reader& reader, const Json& json, const std::string& where) {
  Finding finding;
  finding.id = reader.text(json, "id", where);
  finding.kind = reader.word<FindingKind>(json, "kind", where, kKindCount);
  finding.pattern = reader.word<Pattern>(json, "pattern", where, kPatternCount);
  finding.verdict = reader.word<Verdict>(json, "verdict", where, kVerdictCount);
  finding.variable = reader.text(json, "variable", where);
  finding.unit = reader.text(json, "unit", where);
  finding.set = reader.text(json, "set", where);
  reader.each(json, "accesses", where, [&](const Json& item, const std::string& at) {
    finding.accesses.push_back(read_access(reader, item, at));
  });
  read_cycle(reader, json, where, finding);
  read_failure(reader, json, where, finding);
  read_words(reader, json, "stages", where, finding.stages);
  finding.proof = reader.text(json, "proof", where);
  finding.witness = reader.text(json, "witness", where);
  if (const Json* cause = reader.member(json, "cause"); cause != nullptr && cause->is_object()) {
    finding.cause.rule = reader.text(*cause, "rule", where + ".cause");
    finding.cause.by_data = cause->contains("by_data") && (*cause)["by_data"] == true;
    finding.cause.first = read_end(reader, *cause, "first", where + ".cause");
    finding.cause.second = read_end(reader, *cause, "second", where + ".cause");
  }
  finding.why = reader.text(json, "why", where);
  finding.note = reader.text(json, "note", where);
  if (const Json* hints = reader.member(json, "hints"))
    finding.hints = reader.texts(*hints, where + ".hints");
  finding.occurrences = reader.number(json, "occurrences", where, 1, UINT64_MAX);
  return finding;
}

StageReport read_stage(const Reader& reader, const Json& json, const std::string& where) {
  StageReport stage;
  stage.name = reader.text(json, "name", where);
  for (const auto& [key, value] : json.items()) {
    if (key == "name") continue;
    if (key == "seconds") {
      if (!value.is_number())
        reader.fail(where + ".seconds", "is not a number");
      else
        stage.seconds = value.get<double>();
      continue;
    }
    const uint64_t count = reader.number(json, key.c_str(), where, 0, UINT64_MAX);
    if (key == "triples")
      stage.triples = count;
    else if (key == "sites")
      stage.sites = count;
    else
      stage.counts[key] = count;
  }
  return stage;
}

}  // namespace

std::string to_json(const Findings& findings, std::string_view version) {
  Json json;
  json["cleave"] = version;
  json["command"] = findings.command;
  put(json, "program", findings.program);
  put(json, "trace", findings.trace);
  if (!findings.facts.empty()) json["facts"] = findings.facts;
  put(json, "unfinished", findings.unfinished);
  json["stages"] = Json::array();
  for (const StageReport& stage : findings.stages) json["stages"].push_back(stage_to_json(stage));
  json["findings"] = Json::array();
  for (const Finding& finding : findings.findings) json["findings"].push_back(finding_to_json(finding));
  // Names come from other people's programs: bytes that are not UTF-8 are replaced, never thrown over.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Findings> from_json(std::string_view text, std::string_view place) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded())
    return Error{std::string(place), "is not JSON; give a findings file that --json wrote"};
  if (!json.is_object() || !json.contains("cleave") || !json.contains("findings")) {
    return Error{std::string(place), "is JSON, but not a findings file; give a file that --json wrote"};
  }
  Error error;
  const Reader reader(place, &error);
  Findings findings;
  findings.command = reader.text(json, "command", "");
  findings.program = reader.text(json, "program", "");
  findings.trace = reader.text(json, "trace", "");
  read_words(reader, json, "facts", "", findings.facts);
  if (const Json* unfinished = reader.member(json, "unfinished"))
    findings.unfinished = reader.texts(*unfinished, "unfinished");
  reader.each(json, "stages", "", [&](const Json& item, const std::string& at) {
    findings.stages.push_back(read_stage(reader, item, at));
  });
  reader.each(json, "findings", "", [&](const Json& item, const std::string& at) {
    findings.findings.push_back(read_finding(reader, item, at));
  });
  if (!error.message.empty()) return error;
  return findings;
}

}  // namespace cleave::report
