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

// "Channel::queue_[]", "Channel::queue_.size" → "Channel::queue_". Empty if it is no field of the class.
std::string field_of(const std::string& variable, const std::string& type) {
  if (!variable.starts_with(type + "::")) return {};
  return variable.substr(0, variable.find_first_of("[.+", type.size() + 2));
}

// "Channel#1.mutex_" → "Channel::mutex_": the same for all instances.
std::string lock_name(const std::string& name) {
  const size_t at = name.find_first_of("#@"), dot = name.find('.', at == std::string::npos ? 0 : at);
  return at == std::string::npos || dot == std::string::npos ? name : name.substr(0, at) + "::" + name.substr(dot + 1);
}

// For each field of the classes asked for, which locks were held at all accesses to it while there were several threads.
class FieldLocks {
 public:
  FieldLocks(const Trace& trace, const Names& types) : trace_(trace), of_variable_(trace.variable_count()) {
    for (size_t v = 0; v < of_variable_.size(); ++v) {
      for (const std::string& type : types) {
        if (std::string field = field_of(trace.variable(id_of<VariableId>(v)).name, type); !field.empty())
          of_variable_[v] = &fields_[field];
      }
    }
    Alive alive(trace);
    std::vector<std::vector<SyncId>> held(trace.threads().size());
    for (const Event& event : trace.events()) {
      alive.feed(event);
      follow(event, held[raw(event.thread)]);
      if (!is_access(event.kind) || alive.alone() || of_variable_[raw(event.variable())] == nullptr) continue;
      meet(*of_variable_[raw(event.variable())], held[raw(event.thread)]);
    }
  }
  // Empty: none, or nobody touched it.
  const Names& of(const std::string& field) const {
    static const Names none;
    auto it = fields_.find(field);
    return it == fields_.end() || !it->second ? none : *it->second;
  }
  // All fields of the class that have exactly these locks.
  Names with(const std::string& type, const Names& locks) const {
    Names found;
    for (const auto& [field, common] : fields_) {
      if (common && *common == locks && field.starts_with(type + "::")) found.insert(field);
    }
    return found;
  }

 private:
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
  std::map<std::string, std::optional<Names>> fields_;
  std::vector<std::optional<Names>*> of_variable_;
};

std::string quoted(const Names& words, std::string_view suffix) {
  std::string text;
  for (const std::string& word : words) text += fmt::format("{}\"{}{}\"", text.empty() ? "" : ", ", word, suffix);
  return text;
}

std::string spoken(const Names& words) { return fmt::format("{}", fmt::join(words, " and ")); }

// Two fields on the cycle that no lock ever protects together.
std::string about_sets(const Finding& cycle, const FieldLocks& locks) {
  std::map<Names, Names> by_locks;  // locks → fields on the cycle
  for (const EdgeReport& edge : cycle.edges) {
    std::string field = field_of(edge.variable, cycle.set);
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
                         quoted(locks.with(cycle.set, common), "*"));
  }
  return fmt::format("{}. If they have nothing to do with each other, say so in cleave.toml:\n[sets]{}", facts, lines);
}

bool annotated(const Trace& trace, const std::string& unit) {
  return std::any_of(trace.unit_names().begin(), trace.unit_names().end(), [&](const UnitNameInfo& info) {
    return info.name == unit && info.source == UnitSource::Annotated;
  });
}

bool known(const Trace& trace, const std::string& unit) {
  return std::any_of(trace.unit_names().begin(), trace.unit_names().end(),
                     [&](const UnitNameInfo& info) { return info.name == unit; });
}

// The function that was split is a unit because a heuristic says so.
std::string about_unit(const Finding& cycle, const Trace& trace) {
  if (!known(trace, cycle.unit) || annotated(trace, cycle.unit)) return {};
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
  Names types;
  for (const Finding& finding : findings) {
    if (finding.set.find('+') == std::string::npos) types.insert(finding.set);
  }
  if (findings.empty()) return;
  const FieldLocks locks(trace, types);
  for (Finding& finding : findings) {
    if (finding.split >= finding.edges.size()) continue;
    for (std::string hint : {about_sets(finding, locks), about_unit(finding, trace)}) {
      if (!hint.empty()) finding.hints.push_back(std::move(hint));
    }
  }
}

}  // namespace cleave::conflict
