#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <iterator>

#include "trace/core/expression.h"
#include "trace/core/no_value.h"
#include "trace/text/text.h"
#include "trace/text/text_words.h"

namespace cleave {
namespace {

// The word that stands for each entry of a table: its name, made unique where names repeat.
struct Words {
  std::vector<std::string> words;
  bool plain = true;  // every word is the name itself

  const std::string& operator[](uint32_t id) const {
    static const std::string kNothing = "-";
    return id < words.size() ? words[id] : kNothing;
  }
};

template <typename Range, typename NameOf>
Words make_words(const Range& table, NameOf name_of) {
  Words result;
  struct Uses {
    uint32_t times = 0;
    size_t next = 1;  // number that may be free; all below it are taken
  };
  boost::unordered_flat_map<std::string, Uses> uses;
  for (const auto& entry : table) ++uses[name_of(entry)].times;
  boost::unordered_flat_set<std::string> taken;
  for (const auto& entry : table) {
    std::string name = name_of(entry);
    Uses& use = uses.find(name)->second;
    if (use.times > 1) {
      result.plain = false;
      while (taken.contains(name) || uses.contains(name))
        name = fmt::format("{}~{}", name_of(entry), use.next++);
    }
    taken.insert(name);
    result.words.push_back(to_word(name));
  }
  return result;
}

// Follows what a reader would make of the bare lines, to find out which tables need no declarations.
class FirstUse {
 public:
  explicit FirstUse(size_t size) : size_(size) {}
  void see(uint32_t id) {
    if (id == next_) ++next_;
    if (id >= next_ && id != UINT32_MAX) broken_ = true;
  }
  bool in_order() const { return !broken_ && next_ == size_; }

 private:
  size_t size_, next_ = 0;
  bool broken_ = false;
};

class TextWriter {
 public:
  TextWriter(const Trace& trace, const std::function<void(std::string_view)>& sink)
      : trace_(trace),
        sink_(sink),
        threads_(make_words(trace.threads(), [](const ThreadInfo& info) { return info.name; })),
        variables_(make_words(trace.variables(), [](const VariableInfo& info) { return info.name; })),
        objects_(make_words(trace.objects(), [](const ObjectInfo& info) { return info.name; })),
        syncs_(make_words(trace.syncs(), [](const SyncInfo& info) { return info.name; })),
        units_(make_words(trace.unit_names(), [](const UnitNameInfo& info) { return info.name; })),
        inputs_(make_words(trace.input_names(), [](const std::string& name) { return name; })) {}

  void write() {
    decide();
    out_ += kTextTraceHeader;
    out_ += '\n';
    declarations();
    for (size_t i = 0; i < trace_.size(); ++i) {
      event(id_of<EventIndex>(i));
      if (out_.size() >= kPiece) flush();
    }
    flush();
  }

 private:
  static constexpr size_t kPiece = 64 * 1024;

  void flush() {
    sink_(out_);
    out_.clear();
  }

  // ---- which tables must be declared
  // ----------------------------------------------------------------------------

  void decide() {
    FirstUse threads(trace_.threads().size()), variables(trace_.variables().size()),
        objects(trace_.objects().size()), syncs(trace_.syncs().size()), units(trace_.unit_names().size()),
        inputs(trace_.input_names().size()), sites(trace_.sites().size());
    auto see_variable = [&](uint32_t id) {
      variables.see(id);
      if (id < trace_.variables().size()) objects.see(raw(trace_.variables()[id].object));
    };
    for (const auto& [name, members] : trace_.declared_sets()) {
      for (VariableId member : members) see_variable(raw(member));
    }
    for (size_t i = 0; i < trace_.variables().size(); ++i) {
      if (trace_.variables()[i].initial_known) see_variable(static_cast<uint32_t>(i));
    }
    std::vector<ThreadId> parents(trace_.threads().size(), kNone<ThreadId>);
    std::vector<SyncKind> kinds(trace_.syncs().size(), SyncKind::Unknown);
    auto see_sync = [&](uint32_t id, SyncKind kind) {
      syncs.see(id);
      if (id >= kinds.size()) return;
      if (kinds[id] == SyncKind::Unknown || (kinds[id] == SyncKind::Mutex && kind == SyncKind::RwLock))
        kinds[id] = kind;
    };
    for (const Event& event : trace_.events()) {
      threads.see(raw(event.thread));
      sites.see(raw(event.site));
      switch (object_meaning(event.kind)) {
        case ObjectMeaning::Variable:
          see_variable(event.object);
          break;
        case ObjectMeaning::Sync:
          see_sync(event.object, sync_kind_shown_by(event.kind));
          break;
        case ObjectMeaning::Thread:
          threads.see(event.object);
          if (event.kind == EventKind::Fork && event.object < parents.size() &&
              parents[event.object] == kNone<ThreadId>) {
            parents[event.object] = event.thread;
          }
          break;
        case ObjectMeaning::UnitName:
          units.see(event.object);
          break;
        case ObjectMeaning::Object:
          objects.see(event.object);
          break;
        case ObjectMeaning::Input:
          inputs.see(event.object);
          break;
        case ObjectMeaning::None:
          break;
      }
      if (event.kind == EventKind::Wait || event.kind == EventKind::Wake)
        see_sync(event.object2, SyncKind::Mutex);
      if (event.kind == EventKind::Begin) objects.see(event.object2);
    }
    declare_threads_ = !threads.in_order() || !threads_.plain || !bare_threads(parents);
    declare_objects_ = !objects.in_order() || !objects_.plain || !bare_objects();
    declare_variables_ = declare_objects_ || !variables.in_order() || !variables_.plain || !bare_variables();
    declare_syncs_ = !syncs.in_order() || !syncs_.plain || !bare_syncs(kinds);
    declare_units_ = !units.in_order() || !units_.plain || !bare_units();
    declare_inputs_ = !inputs.in_order();
    declare_sites_ = !sites.in_order() || !bare_sites() || !trace_.contexts().empty();
    if (declare_variables_ && !trace_.objects().empty()) declare_objects_ = true;
  }

  bool bare_threads(const std::vector<ThreadId>& parents) const {
    for (size_t i = 0; i < parents.size(); ++i) {
      if (trace_.threads()[i] != ThreadInfo{.name = trace_.threads()[i].name, .parent = parents[i]})
        return false;
    }
    return true;
  }
  bool bare_objects() const {
    return std::all_of(trace_.objects().begin(), trace_.objects().end(),
                       [](const ObjectInfo& info) { return info == ObjectInfo{.name = info.name}; });
  }
  bool bare_syncs(const std::vector<SyncKind>& kinds) const {
    for (size_t i = 0; i < kinds.size(); ++i) {
      if (trace_.syncs()[i] != SyncInfo{.name = trace_.syncs()[i].name, .kind = kinds[i]}) return false;
    }
    return true;
  }
  bool bare_units() const {
    return std::all_of(trace_.unit_names().begin(), trace_.unit_names().end(),
                       [](const UnitNameInfo& info) { return info == UnitNameInfo{.name = info.name}; });
  }
  bool bare_sites() const {
    return std::all_of(trace_.sites().begin(), trace_.sites().end(), [](const SiteInfo& info) {
      return info == SiteInfo{.file = info.file, .line = info.line};
    });
  }
  bool bare_variables() const {
    return std::all_of(trace_.variables().begin(), trace_.variables().end(), [&](const VariableInfo& info) {
      VariableInfo bare{
          .name = info.name, .object = info.object, .field = info.field, .initial_known = info.initial_known};
      if (info.initial_known) bare.initial = info.initial;
      return info == bare && field_shows(info);
    });
  }
  // Whether a reader finds object and field in the name.
  bool field_shows(const VariableInfo& info) const {
    size_t dot = info.name.find('.');
    bool split =
        dot != std::string::npos && dot > 0 && dot + 1 < info.name.size() && info.name.find('@') > dot;
    if (!split) return info.object == kNone<ObjectId> && info.field.empty();
    return info.object != kNone<ObjectId> && info.field == info.name.substr(dot + 1) &&
           trace_.object(info.object).name == info.name.substr(0, dot);
  }

  // ---- declarations
  // -----------------------------------------------------------------------------------------------

  void attribute(std::string_view key, uint64_t value, uint64_t usual = 0) {
    if (value == usual) return;
    fmt::format_to(std::back_inserter(out_), " {}=", key);
    append_number(out_, value);
  }
  void address(std::string_view key, uint64_t value) {
    if (value != 0) fmt::format_to(std::back_inserter(out_), " {}={:#x}", key, value);
  }
  void attribute(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    fmt::format_to(std::back_inserter(out_), " {}=", key);
    append_word(out_, value);
  }
  void declare(std::string_view keyword, const std::string& word, std::string_view name) {
    fmt::format_to(std::back_inserter(out_), "{} {}", keyword, word);
    if (from_word(word) != name) fmt::format_to(std::back_inserter(out_), " name={}", to_word(name));
  }
  void end_line() {
    out_ += '\n';
    if (out_.size() >= kPiece) flush();
  }

  void declarations() {
    if (!trace_.program().empty())
      fmt::format_to(std::back_inserter(out_), "program {}\n", to_word(trace_.program()));
    for (const std::string& remark : trace_.remarks())
      fmt::format_to(std::back_inserter(out_), "remark {}\n", to_word(remark));
    if (trace_.ends_early()) out_ += "ends-early\n";
    if (declare_threads_) declare_all_threads();
    if (declare_sites_) declare_all_sites();
    for (size_t i = 0; i < trace_.contexts().size(); ++i) declare_context(i);
    if (declare_objects_) declare_all_objects();
    if (declare_variables_) declare_all_variables();
    if (declare_syncs_) declare_all_syncs();
    if (declare_units_) declare_all_units();
    if (declare_inputs_) {
      for (const std::string& word : inputs_.words)
        fmt::format_to(std::back_inserter(out_), "input-name {}\n", word);
    }
    for (const auto& [name, members] : trace_.declared_sets()) {
      fmt::format_to(std::back_inserter(out_), "set {}", to_word(name));
      for (VariableId member : members)
        fmt::format_to(std::back_inserter(out_), " {}", variables_[raw(member)]);
      end_line();
    }
    for (size_t i = 0; i < trace_.variables().size() && !declare_variables_; ++i) {
      const VariableInfo& info = trace_.variables()[i];
      if (!info.initial_known) continue;
      fmt::format_to(std::back_inserter(out_), "init {} ", variables_.words[i]);
      append_number(out_, info.initial);
      end_line();
    }
  }

  void declare_all_threads() {
    std::vector<size_t> late;  // a parent that stands further down is said after all are there
    for (size_t i = 0; i < trace_.threads().size(); ++i) {
      const ThreadInfo& info = trace_.threads()[i];
      declare("thread", threads_.words[i], info.name);
      if (info.parent != kNone<ThreadId> && raw(info.parent) >= i) late.push_back(i);
      if (info.parent != kNone<ThreadId> && raw(info.parent) < i)
        out_ += " parent=" + threads_[raw(info.parent)];
      attribute("path", info.path);
      end_line();
    }
    for (size_t i : late) {
      out_ += "thread " + threads_.words[i] + " parent=" + threads_[raw(trace_.threads()[i].parent)] + "\n";
    }
  }

  void declare_all_sites() {
    for (size_t i = 0; i < trace_.sites().size(); ++i) {
      const SiteInfo& info = trace_.sites()[i];
      fmt::format_to(std::back_inserter(out_), "site {} ", i);
      place(info);
      attribute("column", info.column);
      attribute("function", info.function);
      attribute("variable", info.variable);
      attribute("type", info.type);
      attribute("through-own", info.through_own);
      end_line();
    }
  }

  void declare_context(size_t i) {
    const ContextInfo& info = trace_.contexts()[i];
    fmt::format_to(std::back_inserter(out_), "context {}", i);
    attribute("parent", raw(info.parent), UINT32_MAX);
    attribute("site", raw(info.call_site), UINT32_MAX);
    end_line();
  }

  void declare_all_objects() {
    for (size_t i = 0; i < trace_.objects().size(); ++i) {
      const ObjectInfo& info = trace_.objects()[i];
      declare("object", objects_.words[i], info.name);
      attribute("type", info.type);
      address("address", info.address);
      attribute("size", info.size);
      end_line();
    }
    for (size_t i = 0; i < trace_.objects().size(); ++i) {  // afterwards: the outer object may come later
      ObjectId outer = trace_.objects()[i].outer;
      if (outer == kNone<ObjectId>) continue;
      fmt::format_to(std::back_inserter(out_), "object {} outer={}", objects_.words[i], objects_[raw(outer)]);
      end_line();
    }
  }

  void declare_all_variables() {
    for (size_t i = 0; i < trace_.variables().size(); ++i) {
      const VariableInfo& info = trace_.variables()[i];
      declare("variable", variables_.words[i], info.name);
      if (info.object != kNone<ObjectId>) out_ += " object=" + objects_[raw(info.object)];
      attribute("field", info.field);
      address("address", info.address);
      attribute("size", info.size);
      if (info.initial_known) {
        out_ += " init=";
        append_number(out_, info.initial);
      } else {
        attribute("initial", info.initial);
      }
      attribute("flags", info.flags);
      attribute("home", info.home);
      attribute("set", info.set);
      end_line();
    }
  }

  void declare_all_syncs() {
    for (size_t i = 0; i < trace_.syncs().size(); ++i) {
      const SyncInfo& info = trace_.syncs()[i];
      declare("sync", syncs_.words[i], info.name);
      fmt::format_to(std::back_inserter(out_), " kind={}", word_of(info.kind));
      address("address", info.address);
      attribute("initial", info.initial);
      end_line();
    }
  }

  void declare_all_units() {
    for (size_t i = 0; i < trace_.unit_names().size(); ++i) {
      const UnitNameInfo& info = trace_.unit_names()[i];
      declare("unit", units_.words[i], info.name);
      if (info.source != UnitSource::Annotated)
        fmt::format_to(std::back_inserter(out_), " source={}", word_of(info.source));
      attribute("type", info.type);
      attribute("file", info.file);
      attribute("flags", info.flags);
      end_line();
    }
  }

  // ---- events
  // -----------------------------------------------------------------------------------------------------

  void place(const SiteInfo& info) {
    out_ += '@';
    if (!info.file.empty()) append_word(out_, info.file);
    fmt::format_to(std::back_inserter(out_), ":{}", info.line);
  }

  const std::string& operand(const Event& event) const {
    switch (object_meaning(event.kind)) {
      case ObjectMeaning::Variable:
        return variables_[event.object];
      case ObjectMeaning::Sync:
        return syncs_[event.object];
      case ObjectMeaning::Thread:
        return threads_[event.object];
      case ObjectMeaning::UnitName:
        return units_[event.object];
      case ObjectMeaning::Object:
        return objects_[event.object];
      default:
        return inputs_[event.object];
    }
  }

  void event(EventIndex index) {
    const Event& event = trace_.event(index);
    out_ += threads_[raw(event.thread)];
    out_ += ' ';
    out_ += word_of(event.kind);
    if (object_meaning(event.kind) != ObjectMeaning::None) {
      out_ += ' ';
      out_ += operand(event);
    }
    bool waits = event.kind == EventKind::Wait || event.kind == EventKind::Wake;
    if (waits) {
      out_ += ' ';
      out_ += syncs_[event.object2];
    }
    if (event.kind == EventKind::Update) value(trace_.old_value(index));
    bool has_value = is_access(event.kind) || event.kind == EventKind::Input ||
                     event.kind == EventKind::Alloc || event.kind == EventKind::Branch;
    if (has_value) value(event.value);
    const SymbolicInfo* info = trace_.symbolic(index);
    if (info != nullptr) symbolic(event.kind, *info);
    if (info == nullptr && event.kind == EventKind::Assume) out_ += " -";
    if (!has_value) attribute("value", event.value);
    if (event.kind == EventKind::Begin && event.object2 != UINT32_MAX)
      out_ += " self=" + objects_[event.object2];
    attribute("width", event.width());
    if (event.atomic()) fmt::format_to(std::back_inserter(out_), " order={}", word_of(event.order()));
    attribute("branches", event.branches);
    attribute("context", raw(event.context), UINT32_MAX);
    if (event.site != kNone<SiteId>) {
      if (declare_sites_) attribute("site", raw(event.site), UINT32_MAX);
      out_ += ' ';
      place(trace_.site(event.site));
    }
    out_ += '\n';
  }

  void value(uint64_t number) {
    out_ += ' ';
    if (number == kFreed)
      out_ += kFreedWord;
    else
      append_number(out_, number);
  }

  // An expression stands as it is where a reader takes all of it, and escaped otherwise.
  void symbolic(EventKind kind, const SymbolicInfo& info) {
    bool raw = info.expression.find('\n') == std::string::npos;
    if (raw && !info.expression.empty()) {
      Result<size_t> length = measure_expression(info.expression, [](std::string_view) { return true; });
      raw = length.ok() && length.value() == info.expression.size() && info.expression.front() > ' ';
    }
    if (kind == EventKind::Assume) {
      out_ += raw && !info.expression.empty() ? " " + info.expression
                                              : " true expression=" + to_word(info.expression);
    }
    if (!info.bound.empty()) out_ += " -> " + to_word(info.bound);
    if (kind == EventKind::Assume || info.expression.empty()) return;
    out_ += raw ? " = " + info.expression : " expression=" + to_word(info.expression);
  }

  const Trace& trace_;
  const std::function<void(std::string_view)>& sink_;
  std::string out_;
  Words threads_, variables_, objects_, syncs_, units_, inputs_;
  bool declare_threads_ = false, declare_variables_ = false, declare_objects_ = false, declare_syncs_ = false,
       declare_units_ = false, declare_inputs_ = false, declare_sites_ = false;
};

}  // namespace

void write_text_trace(const Trace& trace, const std::function<void(std::string_view)>& sink) {
  TextWriter(trace, sink).write();
}

std::string write_text_trace(const Trace& trace) {
  std::string text;
  write_text_trace(trace, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace cleave
