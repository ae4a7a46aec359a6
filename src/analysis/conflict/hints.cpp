#include "analysis/conflict/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "model/alive.h"

namespace cleave::conflict {
namespace {

using Names = std::set<std::string>;

struct Field {
  std::string name;     // Channel::queue_
  std::string pattern;  // for cleave.toml: what covers it and all that is in it
};

// Of a variable that belongs to an object of the class: "Channel::queue_[]", "Channel::queue_.size", and "channel.queue_" where
// the object is a global.
std::optional<Field> field_of(const std::string& variable, const std::string& type, const Names& globals) {
  size_t begin = 0;
  if (variable.starts_with(type + "::")) begin = type.size() + 2;
  else if (size_t dot = variable.find('.'); dot != std::string::npos && globals.contains(variable.substr(0, dot))) begin = dot + 1;
  if (begin == 0) return std::nullopt;
  const size_t end = std::min(variable.find_first_of("[.+", begin), variable.size());
  return Field{type + "::" + variable.substr(begin, end - begin), variable.substr(0, end) + "*"};
}

// What the objects of the class are called that are globals.
Names globals_of(const Trace& trace, const std::string& type) {
  Names names;
  for (const ObjectInfo& object : trace.objects()) {
    if (object.type == type && object.name.find('#') == std::string::npos) names.insert(object.name);
  }
  return names;
}

// "Channel#1.mutex_" → "Channel::mutex_": the same for all instances.
std::string lock_name(const std::string& name) {
  const size_t at = name.find_first_of("#@"), dot = name.find('.', at == std::string::npos ? 0 : at);
  return at == std::string::npos || dot == std::string::npos ? name : name.substr(0, at) + "::" + name.substr(dot + 1);
}

// For each field of a class, which locks were held at all accesses to it while there were several threads.
class FieldLocks {
 public:
  FieldLocks(const Trace& trace, const std::string& type)
      : trace_(trace), type_(type), globals_(globals_of(trace, type)), of_variable_(trace.variable_count()) {
    for (size_t v = 0; v < of_variable_.size(); ++v) {
      std::optional<Field> field = field_of(trace.variable(id_of<VariableId>(v)).name, type, globals_);
      if (!field) continue;
      Known& known = fields_[field->name];
      known.patterns.insert(field->pattern);
      of_variable_[v] = &known;
    }
    Alive alive(trace);
    std::vector<std::vector<SyncId>> held(trace.threads().size());
    for (const Event& event : trace.events()) {
      alive.feed(event);
      follow(event, held[raw(event.thread)]);
      if (!is_access(event.kind) || alive.alone() || of_variable_[raw(event.variable())] == nullptr) continue;
      meet(of_variable_[raw(event.variable())]->locks, held[raw(event.thread)]);
    }
  }

  // The field that a variable of a cycle is in, or is part of; empty if none.
  std::string field(const std::string& variable) const {
    std::optional<Field> found = field_of(variable, type_, globals_);
    return found ? found->name : std::string();
  }
  // Empty: none, or nobody touched it.
  Names of(const std::string& field) const {
    auto it = fields_.find(field);
    return it == fields_.end() ? Names{} : it->second.locks.value_or(Names{});
  }
  // What covers all fields that have exactly these locks.
  Names patterns(const Names& locks) const {
    Names found;
    for (const auto& [field, known] : fields_) {
      if (known.locks && *known.locks == locks) found.insert(known.patterns.begin(), known.patterns.end());
    }
    return found;
  }

 private:
  struct Known {
    std::optional<Names> locks;
    Names patterns;
  };
  static void follow(const Event& event, std::vector<SyncId>& held) {
    if (event.kind == EventKind::Acquire || event.kind == EventKind::AcquireShared) held.push_back(event.sync());
    if (event.kind != EventKind::Release && event.kind != EventKind::ReleaseShared) return;
    auto it = std::find(held.rbegin(), held.rend(), event.sync());
    if (it != held.rend()) held.erase(std::next(it).base());
  }
  void meet(std::optional<Names>& common, const std::vector<SyncId>& held) {
    if (common && common->empty()) return;
    Names now;
    for (SyncId lock : held) now.insert(lock_name(trace_.sync(lock).name));
    if (!common) {
      common = std::move(now);
      return;
    }
    std::erase_if(*common, [&](const std::string& name) { return !now.contains(name); });
  }

  const Trace& trace_;
  std::string type_;
  Names globals_;
  std::map<std::string, Known> fields_;
  std::vector<Known*> of_variable_;
};

std::string quoted(const Names& words) {
  std::string text;
  for (const std::string& word : words) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", word);
  return text;
}

std::string spoken(const Names& words) { return fmt::format("{}", fmt::join(words, " and ")); }

// Two fields on the cycle that no lock ever protects together.
std::string about_sets(const Finding& cycle, const FieldLocks& locks) {
  std::map<Names, Names> by_locks;  // locks → fields on the cycle
  for (const EdgeReport& edge : cycle.edges) {
    std::string field = locks.field(edge.variable);
    if (field.empty() || locks.of(field).empty()) return {};
    by_locks[locks.of(field)].insert(field);
  }
  if (by_locks.size() < 2) return {};
  Names seen;
  for (const auto& [common, fields] : by_locks) {
    for (const std::string& lock : common) {
      if (!seen.insert(lock).second) return {};
    }
  }
  std::string facts, lines;
  for (const auto& [common, fields] : by_locks) {
    facts += fmt::format("{}{} only under {}", facts.empty() ? "" : ", ", spoken(fields), spoken(common));
    const std::string& first = *fields.begin();
    lines += fmt::format("\n\"{}.{}\" = [{}]", cycle.set, first.substr(cycle.set.size() + 2),
                         quoted(locks.patterns(common)));
  }
  return fmt::format("{}. If they have nothing to do with each other, say so in cleave.toml:\n[sets]{}", facts, lines);
}

bool made_by_heuristic(const Trace& trace, const std::string& unit) {
  bool known = false;
  for (const UnitNameInfo& info : trace.unit_names()) {
    if (info.name != unit) continue;
    if (info.source == UnitSource::Annotated) return false;
    known = true;
  }
  return known;
}

std::string about_unit(const Finding& cycle, const Trace& trace) {
  if (!made_by_heuristic(trace, cycle.unit)) return {};
  const EdgeReport& out = cycle.edges[cycle.split];
  const EdgeReport& back = cycle.edges[(cycle.split + cycle.edges.size() - 1) % cycle.edges.size()];
  std::string text;
  if (out.conflict == "RW" && back.conflict == "WR" && out.variable == back.variable) {
    text = fmt::format("{} looks at {} again afterwards. If it decides by the second look alone, as code that checks again under "
                       "the lock does, or if it", cycle.unit, out.variable);
  } else {
    text = fmt::format("if {}", cycle.unit);
  }
  return fmt::format("{} is not meant to be atomic as a whole, put CLEAVE_NOT_ATOMIC before it, or say in cleave.toml:"
                     "\n[units]\nnot_atomic = [\"{}\"]", text, cycle.unit);
}

}  // namespace

void add_hints(const Trace& trace, const CheckOptions& options, std::span<Finding> findings) {
  if (options.sets.one) return;
  std::map<std::string, FieldLocks> locks;  // by set
  for (Finding& finding : findings) {
    if (finding.split >= finding.edges.size()) continue;
    const FieldLocks& of_set = locks.try_emplace(finding.set, trace, finding.set).first->second;
    for (std::string hint : {about_sets(finding, of_set), about_unit(finding, trace)}) {
      if (!hint.empty()) finding.hints.push_back(std::move(hint));
    }
  }
}

}  // namespace cleave::conflict
