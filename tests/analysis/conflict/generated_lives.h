// Generates Lives: heap objects with fields, objects in objects, pointers that own, locks in objects, locals,
// globals, atomics, named sets, splits; accesses through what an object points to; methods, functions,
// getters, annotated units, rounds of loops, lock sections; threads that end.
#pragma once

#include "analysis/conflict/lives.h"

namespace cleave::conflict {

struct LivesShape {
  unsigned threads = 3, steps = 200, objects = 4;  // objects at a time
  bool endless = false;                            // the first thread's outermost unit never ends
  bool flat = false;                               // no other units begin
};

class LivesGenerator {
 public:
  LivesGenerator(Random& random, const LivesShape& shape)
      : random_(random), shape_(shape), threads_(shape.threads) {
    lives_.threads = shape.threads;
    for (unsigned t = 0; t < shape.threads; ++t) threads_[t].id = t;
    using Source = UnitSource;
    const char* types[] = {"A", "B"};
    for (const char* type : types) {
      const std::string of = type;
      lives_.unit_names.push_back(
          {.name = of + "::change", .source = Source::Method, .type = of, .file = "f.cpp"});
      lives_.unit_names.push_back(
          {.name = of + "::get", .source = Source::Method, .type = of, .flags = UnitNameInfo::kGetter});
      lives_.unit_names.push_back({.name = of + "::Iterator::next",
                                   .source = Source::Method,
                                   .type = of + "::Iterator",
                                   .flags = kUnitSteps});
    }
    lives_.unit_names.push_back({.name = "work", .source = Source::Function, .file = "f.cpp"});
    lives_.unit_names.push_back({.name = "drive", .source = Source::Function, .file = "g.cpp"});
    lives_.unit_names.push_back({.name = "transfer", .source = Source::Annotated});
    lives_.unit_names.push_back({.name = "show", .source = Source::UnitFor});
    lives_.unit_names.push_back({.name = "loop", .source = Source::NotAtomic});
    lives_.unit_names.push_back({.name = "round", .source = Source::Function, .flags = kUnitRound});
    for (const char* global : {"g", "h"}) variable({.name = global});
    variable({.name = "A::count", .home = "A"});
    variable({.name = "flag", .flags = VariableInfo::kAtomic});
    lock("m");
    if (shape.endless) begin(threads_[0], 6, kNone<ObjectId>);
  }

  Lives make() {
    for (unsigned step = 0; step < shape_.steps; ++step) one_step();
    return std::move(lives_);
  }

 private:
  struct Live {
    ObjectId id;
    ObjectId outer = kNone<ObjectId>;
    uint64_t address;
    bool heap;
    std::vector<VariableId> variables;
    std::vector<SyncId> locks;
  };
  struct Thread {
    unsigned id = 0;
    unsigned depth = 0;
    std::vector<SyncId> held;
    std::vector<VariableId> locals;
  };

  size_t now() const { return lives_.events.size(); }
  void add(const Thread& thread, EventKind kind, uint32_t object, uint32_t object2 = UINT32_MAX,
           uint64_t value = 0) {
    lives_.events.push_back(
        {.kind = kind, .thread = ThreadId{thread.id}, .object = object, .object2 = object2, .value = value});
  }
  VariableId variable(VariableInfo info) {
    lives_.variables.push_back({std::move(info), now()});
    return id_of<VariableId>(lives_.variables.size() - 1);
  }
  SyncId lock(std::string name) {
    lives_.syncs.push_back({{.name = std::move(name), .kind = SyncKind::Mutex}, now()});
    locks_.push_back(id_of<SyncId>(lives_.syncs.size() - 1));
    return locks_.back();
  }

  void one_step() {
    Thread& thread = threads_[random_.below(threads_.size())];
    const uint64_t what = random_.below(24);
    if (shape_.flat && what >= 3 && what <= 8) return access(thread);
    switch (what) {
      case 0:
      case 1:
        return make_object(thread);
      case 2:
        return end_object(thread);
      case 3:
      case 4:
        return begin(thread, random_.below(lives_.unit_names.size()), some_object());
      case 5:
      case 6:
        return end(thread);
      case 7:
        return acquire(thread);
      case 8:
        return release(thread);
      case 9:
        return own(thread);
      case 10:
        return local(thread);
      case 11:
        return random_.chance(1, 2) ? split() : put_into();
      case 12:
        if (random_.chance(1, 12) && thread.id != 0 && thread.held.empty()) exit(thread);
        return;
      default:
        return access(thread);
    }
  }

  ObjectId some_object() { return live_.empty() || random_.chance(1, 4) ? kNone<ObjectId> : some().id; }
  Live& some() { return live_[random_.below(live_.size())]; }

  void make_object(Thread& thread) {
    if (live_.size() >= shape_.objects) return;
    const std::string number = std::to_string(lives_.objects.size());
    const bool heap = random_.chance(3, 4) || live_.empty();
    // Now and then a type of its own, so that names tell one object from another.
    std::string type = random_.chance(1, 3) ? "T" + number : random_.chance(1, 2) ? "A" : "B";
    Live made{.id = id_of<ObjectId>(lives_.objects.size()),
              .address = free_address(heap),
              .heap = heap,
              .variables = {},
              .locks = {}};
    lives_.objects.push_back(
        {{.name = "o" + number, .type = type, .address = made.address, .size = 8}, now()});
    if (heap) {
      add(thread, EventKind::Alloc, raw(made.id));
    } else {
      made.outer = some().id;
      change({now(), false, raw(made.id), made.outer});
    }
    const size_t fields = 1 + random_.below(3);
    for (size_t f = 0; f < fields; ++f) {
      std::string name = "v" + std::to_string(lives_.variables.size());
      VariableInfo info{.name = name, .object = made.id, .field = name};
      if (random_.chance(1, 4)) info.flags |= VariableInfo::kOwned;
      if (random_.chance(1, 8)) info.flags |= VariableInfo::kAtomic;
      if (random_.chance(1, 6)) info.set = random_.chance(1, 2) ? "money" : "other";
      const bool later = random_.chance(1, 8);  // its object turns out after it was made
      if (later) info.object = kNone<ObjectId>;
      made.variables.push_back(variable(info));
      if (later) change({now() + random_.below(3), true, raw(made.variables.back()), made.id});
    }
    if (random_.chance(1, 3)) made.locks.push_back(lock("m" + number));
    live_.push_back(std::move(made));
  }
  uint64_t free_address(bool heap) {
    for (;;) {
      uint64_t address = 0x1000 + 32 * random_.below(2 * shape_.objects) + (heap ? 0 : 16);
      if (std::none_of(live_.begin(), live_.end(), [&](const Live& live) { return live.address == address; }))
        return address;
    }
  }
  // With all that lies in it, and not as long as somebody holds a lock that does.
  void end_object(Thread& thread) {
    if (live_.empty()) return;
    std::vector<ObjectId> ending{some().id};
    for (size_t i = 0; i < ending.size(); ++i) {
      for (const Live& live : live_) {
        if (live.outer == ending[i]) ending.push_back(live.id);
      }
    }
    FreedIds ids;
    for (const Live& live : live_) {
      if (std::find(ending.begin(), ending.end(), live.id) == ending.end()) continue;
      for (const Thread& other : threads_) {
        for (SyncId held : other.held) {
          if (std::find(live.locks.begin(), live.locks.end(), held) != live.locks.end()) return;
        }
      }
      ids.objects.push_back(live.id);
      ids.variables.insert(ids.variables.end(), live.variables.begin(), live.variables.end());
      ids.syncs.insert(ids.syncs.end(), live.locks.begin(), live.locks.end());
    }
    for (const Lives::Change& change : lives_.changes) {
      if (change.at >= now() && std::find(ending.begin(), ending.end(), change.to) != ending.end()) return;
    }
    for (const Live& live : live_) {
      bool goes = std::find(ending.begin(), ending.end(), live.id) != ending.end();
      if (goes && live.heap) add(thread, EventKind::Free, raw(live.id));
    }
    std::erase_if(live_, [&](const Live& live) {
      return std::find(ending.begin(), ending.end(), live.id) != ending.end();
    });
    std::erase_if(locks_, [&](SyncId lock) {
      return std::find(ids.syncs.begin(), ids.syncs.end(), lock) != ids.syncs.end();
    });
    lives_.ends.push_back({now(), std::move(ids)});
  }
  // An object turns out to lie in another one, or not to.
  void put_into() {
    if (live_.empty()) return;
    Live& part = some();
    if (!part.heap) return;
    if (part.outer != kNone<ObjectId>) {
      change({now(), false, raw(outermost(part.outer)), kNone<ObjectId>});
      change({now(), false, raw(part.id), part.outer = kNone<ObjectId>});
      return;
    }
    Live& whole = some();
    if (outermost(whole.id) == part.id) return;
    part.outer = whole.id;
    change({now(), false, raw(part.id), whole.id});
  }
  void change(const Lives::Change& change) {
    auto later = [](size_t at, const Lives::Change& other) { return at < other.at; };
    lives_.changes.insert(std::upper_bound(lives_.changes.begin(), lives_.changes.end(), change.at, later),
                          change);
  }
  ObjectId outermost(ObjectId object) const {
    for (;;) {
      auto it = std::find_if(live_.begin(), live_.end(), [&](const Live& live) { return live.id == object; });
      if (it->outer == kNone<ObjectId>) return object;
      object = it->outer;
    }
  }

  void begin(Thread& thread, size_t name, ObjectId self) {
    if (thread.depth >= 5) return;
    ++thread.depth;
    add(thread, EventKind::Begin, static_cast<uint32_t>(name), raw(self));
  }
  void end(Thread& thread) {
    if (thread.depth == 0 || (shape_.endless && thread.id == 0 && thread.depth == 1)) return;
    --thread.depth;
    add(thread, EventKind::End, UINT32_MAX);
    if (thread.depth != 0 || thread.locals.empty()) return;
    lives_.ends.push_back(
        {now(), {.variables = std::exchange(thread.locals, {}), .objects = {}, .syncs = {}}});
  }
  // Another thread comes in its place.
  void exit(Thread& thread) {
    add(thread, EventKind::Exit, UINT32_MAX);
    if (!thread.locals.empty())
      lives_.ends.push_back({now(), {.variables = std::move(thread.locals), .objects = {}, .syncs = {}}});
    thread = {.id = lives_.threads++};
  }
  void acquire(Thread& thread) {
    SyncId lock = locks_[random_.below(locks_.size())];
    for (const Thread& other : threads_) {
      if (std::find(other.held.begin(), other.held.end(), lock) != other.held.end()) return;
    }
    thread.held.push_back(lock);
    add(thread, EventKind::Acquire, raw(lock));
  }
  void release(Thread& thread) {
    if (thread.held.empty()) return;
    size_t i = random_.below(thread.held.size());
    add(thread, EventKind::Release, raw(thread.held[i]));
    thread.held.erase(thread.held.begin() + static_cast<ptrdiff_t>(i));
  }

  VariableId some_variable() {
    if (live_.empty() || random_.chance(1, 6)) return VariableId{static_cast<uint32_t>(random_.below(4))};
    const Live& object = some();
    return object.variables[random_.below(object.variables.size())];
  }
  void access(Thread& thread) {
    VariableId at = some_variable();
    if (!thread.locals.empty() && random_.chance(1, 10))
      at = thread.locals[random_.below(thread.locals.size())];
    EventKind kinds[] = {EventKind::Read, EventKind::Write, EventKind::Write, EventKind::Update};
    add(thread, kinds[random_.below(4)], raw(at), UINT32_MAX, random_.below(9));
    lives_.events.back().site = now() % 4 == 0 ? Lives::kThroughOwn : Lives::kPlain;
    if (lives_.variables[raw(at)].info.flags & VariableInfo::kAtomic)
      lives_.events.back().set_order(MemoryOrder::SeqCst);
  }
  // A pointer is stored, and if it is one that owns, what it points to belongs to its object from now on.
  void own(Thread& thread) {
    if (live_.empty()) return;
    VariableId at = some().variables.front();
    add(thread, EventKind::Write, raw(at), UINT32_MAX, random_.chance(1, 6) ? 0x77 : some().address);
  }
  void local(Thread& thread) {
    if (thread.depth == 0) return;
    thread.locals.push_back(variable({.name = random_.chance(1, 2) ? "local" : "other"}));
    add(thread, EventKind::Write, raw(thread.locals.back()));
  }
  void split() {
    if (live_.empty() || lives_.events.empty()) return;
    if (!lives_.splits.empty() && lives_.splits.back().at == now()) return;
    Live& object = some();
    VariableId& whole = object.variables[random_.below(object.variables.size())];
    for (const Lives::Change& change : lives_.changes) {
      if (change.at >= now() && change.moved && change.id == raw(whole)) return;
    }
    VariableInfo info = lives_.variables[raw(whole)].info;
    info.object = object.id;
    info.name += "'";
    VariableId first = variable(info);
    info.name += "'";
    VariableId second = variable(info);
    lives_.splits.push_back({now(), whole, {first, second}});
    lives_.ends.push_back({now() + 1, {.variables = {whole}, .objects = {}, .syncs = {}}});
    whole = first;
    object.variables.push_back(second);
    add(threads_[0], EventKind::Fence, UINT32_MAX);  // a split is before some event
  }

  Random& random_;
  LivesShape shape_;
  Lives lives_;
  std::vector<Thread> threads_;
  std::vector<Live> live_;
  std::vector<SyncId> locks_;
};

}  // namespace cleave::conflict
