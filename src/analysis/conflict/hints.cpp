#include "analysis/conflict/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "base/glob.h"
#include "units/alive.h"

namespace cleave::conflict {
namespace {

using Names = std::set<std::string, std::less<>>;

struct Field {
  std::string name;     // Channel::queue_
  std::string pattern;  // for cleave.toml: what covers it and all that is in it
};

// Of a variable that belongs to an object of the class: "Channel::queue_[]", "Channel::queue_.size", and
// "channel.queue_" where the object is a global.
std::optional<Field> field_of(const std::string& variable, const std::string& type, const Names& globals) {
  size_t begin = 0;
  if (variable.starts_with(type) && std::string_view(variable).substr(type.size()).starts_with("::"))
    begin = type.size() + 2;
  else if (globals.empty())
    return std::nullopt;
  else if (size_t dot = variable.find('.');
           dot != std::string::npos && globals.contains(std::string_view(variable).substr(0, dot)))
    begin = dot + 1;
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
  return at == std::string::npos || dot == std::string::npos
             ? name
             : name.substr(0, at) + "::" + name.substr(dot + 1);
}

// The fields of some classes, and for each of them which locks were held at all accesses to it while there
// were several threads.
class FieldLocks {
 public:
  FieldLocks(const Trace& tables, const Names& types) {
    for (const std::string& type : types) types_.push_back({type, globals_of(tables, type), {}});
  }

  Status look(EventSource& source) {
    const Trace& tables = source.tables();
    Alive alive = tables.events().empty() ? Alive() : Alive(tables);
    for (;;) {
      Result<std::span<const Event>> batch = source.next();
      if (!batch) return batch.error();
      if (batch.value().empty()) return Done{};
      ++batch_;
      for (const Event& event : batch.value()) {
        alive.feed(event);
        if (raw(event.thread) >= held_.size()) held_.resize(raw(event.thread) + size_t{1});
        std::vector<Held>& held = held_[raw(event.thread)];
        if (!is_access(event.kind))
          follow(tables, event, held);
        else if (Known* field = alive.alone() ? nullptr : field_of_variable(tables, event.variable()))
          meet(field->locks, held);
      }
      forget(source.freed());
    }
  }

  // The field of the class that a variable of a cycle is in, or is part of; empty if none.
  std::string field(const std::string& type, const std::string& variable) const {
    const Class* of = class_of(type);
    std::optional<Field> found = of != nullptr ? field_of(variable, type, of->globals) : std::nullopt;
    return found ? found->name : std::string();
  }
  // Empty: none, or nobody touched it.
  Names of(const std::string& type, const std::string& field) const {
    const Class* of = class_of(type);
    auto it = of->fields.find(field);
    return it == of->fields.end() || !it->second.locks ? Names{} : spelled(*it->second.locks);
  }
  // What covers all fields of the class that have exactly these locks.
  Names patterns(const std::string& type, const Names& locks) const {
    Names found;
    for (const auto& [field, known] : class_of(type)->fields) {
      if (known.locks && spelled(*known.locks) == locks)
        found.insert(known.patterns.begin(), known.patterns.end());
    }
    return found;
  }

 private:
  using Words = std::vector<uint32_t>;  // names of locks, by number, ascending, each once
  struct Known {
    std::optional<Words> locks;
    Names patterns;
  };
  struct Class {
    std::string type;
    Names globals;
    std::map<std::string, Known> fields;
  };
  struct Held {
    SyncId lock;
    uint32_t name;
  };
  struct Place {
    Known* field = nullptr;
    uint64_t asked = 0;  // the batch in which it was none: names may become known later
  };

  void forget(const FreedIds& freed) {
    for (VariableId variable : freed.variables) {
      if (raw(variable) < of_variable_.size()) of_variable_[raw(variable)] = {};
    }
    for (SyncId lock : freed.syncs) {
      if (raw(lock) < by_lock_.size()) by_lock_[raw(lock)] = kNotAsked;
    }
  }
  const Class* class_of(const std::string& type) const {
    auto it =
        std::find_if(types_.begin(), types_.end(), [&](const Class& known) { return known.type == type; });
    return it == types_.end() ? nullptr : &*it;
  }
  Known* field_of_variable(const Trace& tables, VariableId variable) {
    if (raw(variable) >= of_variable_.size())
      of_variable_.resize(std::max(raw(variable) + size_t{1}, 2 * of_variable_.size()));
    Place& place = of_variable_[raw(variable)];
    if (place.field != nullptr || place.asked == batch_) return place.field;
    place.asked = batch_;
    const std::string& name = tables.variable(variable).name;
    for (Class& type : types_) {
      std::optional<Field> field = field_of(name, type.type, type.globals);
      if (!field) continue;
      place.field = &type.fields[field->name];
      place.field->patterns.insert(field->pattern);
      break;
    }
    return place.field;
  }
  void follow(const Trace& tables, const Event& event, std::vector<Held>& held) {
    if (event.kind == EventKind::Acquire || event.kind == EventKind::AcquireShared)
      held.push_back({event.sync(), number_of(tables, event.sync())});
    if (event.kind != EventKind::Release && event.kind != EventKind::ReleaseShared) return;
    auto it =
        std::find_if(held.rbegin(), held.rend(), [&](const Held& lock) { return lock.lock == event.sync(); });
    if (it != held.rend()) held.erase(std::next(it).base());
  }
  static void meet(std::optional<Words>& common, const std::vector<Held>& held) {
    auto is_held = [&](uint32_t name) {
      return std::any_of(held.begin(), held.end(), [&](const Held& lock) { return lock.name == name; });
    };
    if (common) {
      std::erase_if(*common, [&](uint32_t name) { return !is_held(name); });
      return;
    }
    common.emplace();
    for (const Held& lock : held) common->push_back(lock.name);
    std::sort(common->begin(), common->end());
    common->erase(std::unique(common->begin(), common->end()), common->end());
  }
  uint32_t number_of(const Trace& tables, SyncId lock) {
    if (raw(lock) >= by_lock_.size())
      by_lock_.resize(std::max(raw(lock) + size_t{1}, 2 * by_lock_.size()), kNotAsked);
    uint32_t& known = by_lock_[raw(lock)];
    if (known != kNotAsked) return known;
    auto [it, fresh] =
        numbers_.try_emplace(lock_name(tables.sync(lock).name), static_cast<uint32_t>(names_.size()));
    if (fresh) names_.push_back(it->first);
    return known = it->second;
  }
  Names spelled(const Words& words) const {
    Names names;
    for (uint32_t word : words) names.insert(names_[word]);
    return names;
  }

  std::vector<Class> types_;
  std::vector<Place> of_variable_;
  uint64_t batch_ = 0;
  std::vector<std::vector<Held>> held_;  // by thread
  static constexpr uint32_t kNotAsked = UINT32_MAX;
  std::vector<uint32_t> by_lock_;  // number of its name
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::string> names_;
};

std::string quoted(const Names& words) {
  std::string text;
  for (const std::string& word : words) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", word);
  return text;
}

std::string spoken(const Names& words) { return fmt::format("{}", fmt::join(words, " and ")); }

// The fields of its set's class that a cycle is about; empty if one of its variables is in none.
Names fields_of(const Finding& cycle, const FieldLocks& locks) {
  Names fields;
  for (const EdgeReport& edge : cycle.edges) {
    std::string field = locks.field(cycle.set, edge.variable);
    if (field.empty()) return {};
    fields.insert(std::move(field));
  }
  return fields;
}

// Two fields on the cycle that no lock ever protects together.
std::string about_sets(const Finding& cycle, const FieldLocks& locks) {
  std::map<Names, Names> by_locks;  // locks → fields on the cycle
  for (const std::string& field : fields_of(cycle, locks)) {
    Names common = locks.of(cycle.set, field);
    if (common.empty()) return {};
    by_locks[std::move(common)].insert(field);
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
                         quoted(locks.patterns(cycle.set, common)));
  }
  return fmt::format("{}. If they have nothing to do with each other, say so in cleave.toml:\n[sets]{}",
                     facts, lines);
}

// Nobody has asked for it: no annotation, no cleave.toml, no --units functions:.
bool made_by_heuristic(const Trace& trace, const UnitOptions& options, const std::string& unit) {
  auto asked = [&](const std::string& pattern) { return matches_glob(pattern, unit); };
  if (std::any_of(options.atomic.begin(), options.atomic.end(), asked) ||
      std::any_of(options.functions.begin(), options.functions.end(), asked))
    return false;
  bool known = false;
  for (const UnitNameInfo& info : trace.unit_names()) {
    if (info.name != unit) continue;
    if (info.source == UnitSource::Annotated || info.source == UnitSource::UnitFor) return false;
    known = true;
  }
  return known;
}

std::string about_unit(const Finding& cycle, const Trace& trace, const UnitOptions& options) {
  if (!made_by_heuristic(trace, options, cycle.unit)) return {};
  const EdgeReport& out = cycle.edges[cycle.split];
  const EdgeReport& back = cycle.edges[(cycle.split + cycle.edges.size() - 1) % cycle.edges.size()];
  std::string text;
  if (out.conflict == "RW" && back.conflict == "WR" && out.variable == back.variable) {
    text = fmt::format(
        "{} looks at {} again afterwards. If it decides by the second look alone, as code that checks again "
        "under "
        "the lock does, or if it",
        cycle.unit, out.variable);
  } else {
    text = fmt::format("if {}", cycle.unit);
  }
  return fmt::format(
      "{} is not meant to be atomic as a whole, put CLEAVE_NOT_ATOMIC before it, or say in cleave.toml:"
      "\n[units]\nnot_atomic = [\"{}\"]",
      text, cycle.unit);
}

}  // namespace

bool locks_may_matter(const Trace& tables, const CheckOptions& options, std::span<const Finding> findings) {
  if (options.sets.one) return false;
  Names types;
  for (const Finding& finding : findings) types.insert(finding.set);
  const FieldLocks locks(tables, types);
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return fields_of(finding, locks).size() > 1; });
}

Status add_hints(const Trace& tables, const CheckOptions& options, std::span<Finding> findings,
                 const SecondLook& again) {
  if (options.sets.one) return Done{};
  Names types;
  for (const Finding& finding : findings) types.insert(finding.set);
  FieldLocks locks(tables, types);
  Status looked = Done{};
  if (again) {
    Result<std::unique_ptr<EventSource>> source = again();
    looked = source ? locks.look(*source.value()) : Status(source.error());
  }
  for (Finding& finding : findings) {
    if (finding.split >= finding.edges.size()) continue;
    for (std::string hint :
         {looked ? about_sets(finding, locks) : "", about_unit(finding, tables, options.units)}) {
      if (!hint.empty()) finding.hints.push_back(std::move(hint));
    }
  }
  return looked;
}

}  // namespace cleave::conflict
