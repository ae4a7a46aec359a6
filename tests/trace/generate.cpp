#include "trace/generate.h"

#include <fmt/format.h>

namespace cleave {
namespace {

class Generator {
 public:
  Generator(uint64_t seed, const GenerateOptions& options) : random_(seed), options_(options) {}

  Trace run() {
    if (!options_.plain) tables();
    for (size_t i = 0; i < options_.events; ++i) {
      options_.plain ? plain_event() : any_event();
    }
    return std::move(builder_).build();
  }

 private:
  std::string name(const char* stem) {
    constexpr const char* kAwkward[] = {"a b",
                                        "",
                                        "#x",
                                        "@y:3",
                                        "init",
                                        "set",
                                        "read",
                                        "-",
                                        "=",
                                        "->",
                                        "a\\b",
                                        "\\_",
                                        "t\tn\n",
                                        "x=1",
                                        "a.b.c",
                                        ".a",
                                        "a.",
                                        "µ",
                                        "thread",
                                        "\x01",
                                        "T1~1",
                                        "malloc@f.c:12+8",
                                        "std::map<int, int>"};
    if (random_.chance(1, 4)) return kAwkward[random_.below(std::size(kAwkward))];
    return fmt::format("{}{}", stem, random_.below(6));
  }
  template <typename Id>
  Id pick(size_t size) {
    return random_.chance(1, 8) || size == 0 ? kNone<Id> : id_of<Id>(random_.below(size));
  }
  // An object after `inner`, so that none lies in itself.
  ObjectId later(size_t inner) {
    size_t rest = objects_ - inner - 1;
    return rest == 0 ? kNone<ObjectId> : id_of<ObjectId>(inner + 1 + random_.below(rest));
  }
  uint64_t number() { return random_.chance(1, 3) ? random_.next() : random_.below(20); }

  void tables() {
    threads_ = 1 + random_.below(4);
    for (size_t i = 0; i < threads_; ++i) {
      std::string unique = name("T");
      builder_.add_thread(
          {.name = unique, .parent = pick<ThreadId>(threads_), .path = random_.chance(1, 2) ? "0.1" : ""});
    }
    for (objects_ = 0; objects_ < random_.below(4); ++objects_) {
      builder_.add_object({.name = name("o"), .type = name("Type"), .address = number(), .size = number()});
    }
    for (size_t inner = 0; inner < objects_; ++inner) {
      if (random_.chance(1, 3)) builder_.set_outer(id_of<ObjectId>(inner), later(inner));
    }
    for (variables_ = 0; variables_ < 1 + random_.below(6); ++variables_) {
      builder_.add_variable({.name = name("x"),
                             .address = number(),
                             .size = static_cast<uint32_t>(random_.below(9)),
                             .object = pick<ObjectId>(objects_),
                             .field = name("f"),
                             .initial = number(),
                             .initial_known = random_.chance(1, 2),
                             .flags = static_cast<uint32_t>(random_.below(8)),
                             .home = random_.chance(1, 3) ? name("h") : "",
                             .set = random_.chance(1, 3) ? name("set") : ""});
    }
    for (syncs_ = 0; syncs_ < 1 + random_.below(5); ++syncs_) {
      builder_.add_sync({.name = name("m"),
                         .kind = static_cast<SyncKind>(random_.below(7)),
                         .address = number(),
                         .initial = number()});
    }
    for (sites_ = 0; sites_ < random_.below(6);) {
      sites_ = raw(builder_.add_site({.file = name("f"),
                                      .line = static_cast<uint32_t>(random_.below(100)),
                                      .column = static_cast<uint32_t>(random_.below(5)),
                                      .function = name("fn"),
                                      .variable = name("v"),
                                      .type = name("t")})) +
               1;
    }
    for (contexts_ = 0; contexts_ < random_.below(6);) {
      contexts_ = raw(builder_.add_context(
                      {.parent = pick<ContextId>(contexts_), .call_site = pick<SiteId>(sites_)})) +
                  1;
    }
    for (units_ = 0; units_ < 1 + random_.below(3); ++units_) {
      builder_.add_unit_name({.name = name("u"),
                              .source = static_cast<UnitSource>(random_.below(6)),
                              .type = name("T"),
                              .file = random_.chance(1, 2) ? name("f") : "",
                              .flags = static_cast<uint32_t>(random_.below(8))});
    }
    if (random_.chance(1, 2)) builder_.set_program("/a b/prog --x");
    if (random_.chance(1, 2)) builder_.remark("the file ends in the middle of a chunk");
    for (size_t i = random_.below(3); i > 0; --i)
      builder_.declare_set(name("s"), id_of<VariableId>(random_.below(variables_)));
    for (size_t i = 0; i < 3; ++i) inputs_ = std::max<size_t>(inputs_, builder_.input_name(name("in")) + 1);
  }

  void any_event() {
    Event event{.kind = static_cast<EventKind>(1 + random_.below(30)),
                .thread = id_of<ThreadId>(random_.below(threads_))};
    event.branches = static_cast<uint16_t>(random_.chance(1, 3) ? random_.below(65536) : 0);
    event.site = pick<SiteId>(sites_);
    event.context = pick<ContextId>(contexts_);
    event.set_width(static_cast<uint32_t>(random_.below(17)));
    event.set_order(static_cast<MemoryOrder>(random_.below(7)));
    event.value = number();
    set_objects(event);
    EventIndex index =
        event.kind == EventKind::Update ? builder_.add_update(event, number()) : builder_.add(event);
    annotate(event.kind, index);
  }

  void set_objects(Event& event) {
    switch (event.kind) {
#define CLEAVE_EVENT(kind, number, word, first, second) \
  case EventKind::kind:                                 \
    event.object = object_##first();                    \
    event.object2 = object_##second();                  \
    break;
#include "trace/core/event_kinds.def"
#undef CLEAVE_EVENT
    }
  }
  uint32_t object_None() { return UINT32_MAX; }
  uint32_t object_Variable() { return raw(pick<VariableId>(variables_)); }
  uint32_t object_Sync() { return raw(pick<SyncId>(syncs_)); }
  uint32_t object_Thread() { return raw(pick<ThreadId>(threads_)); }
  uint32_t object_UnitName() { return raw(pick<UnitNameId>(units_)); }
  uint32_t object_Object() { return raw(pick<ObjectId>(objects_)); }
  uint32_t object_Input() { return static_cast<uint32_t>(random_.below(inputs_)); }

  void annotate(EventKind kind, EventIndex index) {
    constexpr const char* kExpressions[] = {
        "(<= b 10)",           "(= (bvadd b #x0F) #b1)", "true", "(let ((y (+ b 1))) (and (< y 3)\n true))",
        "((_ extract 7 0) b)", "(= |a b| \"t # x\")"};
    if (kind == EventKind::Assume) {
      builder_.annotate(
          index, {.expression = bound_ == 2 ? kExpressions[random_.below(std::size(kExpressions))] : "true"});
      return;
    }
    if (!random_.chance(1, 3)) return;
    constexpr const char* kNames[] = {"b", "a b", "c"};  // bound in this order; expressions use the first two
    if (bound_ < 2) return builder_.annotate(index, {.bound = kNames[bound_++]});
    builder_.annotate(index, {.bound = random_.chance(1, 2) ? "c" : "",
                              .expression = kExpressions[random_.below(std::size(kExpressions))]});
  }

  void plain_event() {
    std::string t = fmt::format("T{}", random_.below(3)), x = fmt::format("x{}", random_.below(4));
    switch (random_.below(7)) {
      case 0:
        builder_.read(t, x, number());
        break;
      case 1:
        builder_.write(t, x, number());
        break;
      case 2:
        builder_.update(t, x, number(), number());
        break;
      case 3:
        builder_.acquire(t, "m");
        break;
      case 4:
        builder_.release(t, "m");
        break;
      case 5:
        builder_.begin(t, "unit");
        break;
      default:
        builder_.end(t);
        break;
    }
  }

  Random random_;
  GenerateOptions options_;
  TraceBuilder builder_;
  size_t threads_ = 0, objects_ = 0, variables_ = 0, syncs_ = 0, sites_ = 0, contexts_ = 0, units_ = 0,
         inputs_ = 0;
  int bound_ = 0;
};

}  // namespace

Trace generate_trace(uint64_t seed, const GenerateOptions& options) { return Generator(seed, options).run(); }

}  // namespace cleave
