#include "solve/generator.h"

namespace cleave::oracle {
namespace {

std::string thread_name(uint32_t t) { return "T" + std::to_string(t); }
std::string variable_name(int v) { return v < 2 ? "x" + std::to_string(v) : "a" + std::to_string(v - 2); }

}  // namespace

Generated Generator::make() {
  threads_ = 2 + random_.below(2);
  const size_t length = threads_ == 2 ? 7 : 5;
  p_.b.variable("x0"), p_.b.variable("x1");
  if (flavour_ == Flavour::Semaphore) {
    tokens_ = static_cast<int64_t>(random_.below(2));
    p_.b.sync_info(p_.b.sync("sem")).initial = static_cast<uint64_t>(tokens_);
  }
  if (flavour_ == Flavour::Barrier) p_.b.sync_info(p_.b.sync("bar")).initial = threads_;
  if (flavour_ == Flavour::Array) p_.b.variable("a0"), p_.b.variable("a1");
  code_.resize(threads_);
  at_.assign(threads_, 0);
  for (uint32_t t = 0; t < threads_; ++t) {
    code_[t] = steps(t, length);
    forked_[t] = flavour_ != Flavour::ForkJoin || t != 1;
  }
  for (int stuck = 0; stuck < 200;) {
    auto t = static_cast<uint32_t>(random_.below(threads_));
    if (forked_[t] && at_[t] < code_[t].size() && run(t, code_[t][at_[t]])) {
      ++at_[t];
      stuck = 0;
    } else {
      ++stuck;
    }
  }
  Generated g{std::move(p_).done(), std::move(moves_), {}};
  find_triples(&g);
  return g;
}

Generator::Step Generator::plain() {
  int v = static_cast<int>(random_.below(2));
  auto k = static_cast<int64_t>(random_.below(3));
  switch (random_.below(8)) {
    case 0:
    case 1:
    case 2:
      return {Kind::Read, v, 0};
    case 3:
    case 4:
      return {Kind::Write, v, k};
    case 5:
      return {Kind::WriteExpression, v, k};
    case 6:
      return {Kind::Assume, v, k};
    default:
      return {Kind::Update, v, k};
  }
}

// A lock made by hand around a few accesses; now and then one that is not quite a lock.
std::vector<Generator::Step> Generator::handmade_lock() {
  std::vector<Step> code{{Kind::Take, 0, 0}};
  for (uint64_t i = 1 + random_.below(2); i > 0; --i) {
    code.push_back({random_.chance(1, 2) ? Kind::Read : Kind::WriteExpression, 1,
                    static_cast<int64_t>(random_.below(3))});
  }
  if (!random_.chance(1, 8)) code.push_back({Kind::Give, 0, 0});
  if (random_.chance(1, 2)) code.push_back({random_.chance(1, 2) ? Kind::Read : Kind::Write, 1, 1});
  if (random_.chance(1, 8)) code.insert(code.begin(), {Kind::Give, 0, 0});
  return code;
}

std::vector<Generator::Step> Generator::steps(uint32_t thread, size_t length) {
  if (flavour_ == Flavour::HandmadeLock) return handmade_lock();
  std::vector<Step> code;
  int held = -1;
  bool shared = false;
  for (size_t i = 0; i < length; ++i) {
    int v = static_cast<int>(random_.below(2));
    if (!random_.chance(1, 3)) {
      code.push_back(plain());
      continue;
    }
    switch (flavour_) {
      case Flavour::ReadersWriter:
        if (held >= 0 || shared) {
          code.push_back({shared ? Kind::SharedUnlock : Kind::Unlock, 2, 0});
          held = -1, shared = false;
        } else if (random_.chance(1, 2)) {
          code.push_back({Kind::SharedLock, 2, 0});
          shared = true;
        } else {
          code.push_back({Kind::Lock, held = 2, 0});
        }
        break;
      case Flavour::Semaphore:
        code.push_back({random_.chance(1, 2) ? Kind::Post : Kind::Down, 0, 0});
        break;
      case Flavour::Condition:
        if (held < 0 && random_.chance(1, 2)) {
          code.push_back({Kind::Lock, held = 0, 0});
          code.push_back({Kind::WaitWake, held, 0});
        } else {
          code.push_back({random_.chance(2, 3) ? Kind::Signal : Kind::Broadcast, 0, 0});
        }
        break;
      case Flavour::Array:
        code.push_back({random_.chance(2, 3) ? Kind::WriteElement : Kind::ReadElement, v,
                        static_cast<int64_t>(random_.below(3))});
        break;
      default:
        if (held < 0) {
          code.push_back({Kind::Lock, held = v, 0});
        } else {
          code.push_back({Kind::Unlock, held, 0});
          held = -1;
        }
    }
  }
  if (shared) code.push_back({Kind::SharedUnlock, 2, 0});
  if (held >= 0) code.push_back({Kind::Unlock, held, 0});
  if (flavour_ == Flavour::Barrier)
    code.insert(code.begin() + static_cast<long>(random_.below(code.size() + 1)), {Kind::Barrier, 0, 0});
  if (flavour_ == Flavour::ForkJoin && thread == 0) {
    code.insert(code.begin() + static_cast<long>(random_.below(3)), {Kind::Fork, 1, 0});
    code.push_back({Kind::Join, 1, 0});
    code.push_back({Kind::Read, 0, 0});
  }
  return code;
}

// Executes one step concretely and records it with its data. False when it would block.
bool Generator::run(uint32_t t, const Step& s) {
  switch (s.kind) {
    case Kind::Read:
    case Kind::Write:
    case Kind::WriteExpression:
    case Kind::Assume:
    case Kind::Update:
    case Kind::WriteElement:
    case Kind::ReadElement:
      return run_access(t, s);
    case Kind::Signal:
    case Kind::Broadcast:
    case Kind::WaitWake:
      return run_condition(t, s);
    default:
      return run_sync(t, s);
  }
}

bool Generator::run_access(uint32_t t, const Step& s) {
  const std::string thread = thread_name(t), variable = variable_name(s.variable),
                    constant = std::to_string(s.constant);
  Last& mine = last_[t];
  int64_t& cell = memory_[s.variable];
  auto read = [&](int v) {
    std::string name = fresh(t);
    EventIndex e = p_.read(thread.c_str(), variable_name(v).c_str(), static_cast<uint64_t>(memory_[v]), name);
    mine = {name, memory_[v], e};
  };
  switch (s.kind) {
    case Kind::Read:
      read(s.variable);
      return true;
    case Kind::ReadElement:
      read(2 + s.variable);
      return true;
    case Kind::Write:
      p_.write(thread.c_str(), variable.c_str(), static_cast<uint64_t>(s.constant), constant);
      cell = s.constant;
      return true;
    case Kind::WriteExpression:
      if (mine.name.empty()) return true;
      cell = mine.value + s.constant;
      p_.write(thread.c_str(), variable.c_str(), static_cast<uint64_t>(cell),
               "(+ " + mine.name + " " + constant + ")");
      return true;
    case Kind::WriteElement: {  // a[what was read] = constant
      if (mine.name.empty() || mine.value < 0 || mine.value > 1) return true;
      int v = 2 + static_cast<int>(mine.value);
      EventIndex e =
          p_.write(thread.c_str(), variable_name(v).c_str(), static_cast<uint64_t>(s.constant), constant);
      memory_[v] = s.constant;
      moves_[static_cast<uint32_t>(raw(e))] = {
          mine.name, mine.read, {raw(p_.b.variable("a0")), raw(p_.b.variable("a1"))}};
      return true;
    }
    case Kind::Assume:
      if (mine.name.empty()) return true;
      p_.assume(thread.c_str(), mine.value > s.constant ? "(> " + mine.name + " " + constant + ")"
                                                        : "(<= " + mine.name + " " + constant + ")");
      return true;
    default: {
      std::string name = fresh(t);
      int64_t old_value = cell;
      cell = old_value + s.constant;
      EventIndex e =
          p_.b.update(thread, variable, static_cast<uint64_t>(old_value), static_cast<uint64_t>(cell));
      p_.b.annotate(e, {name, "(+ " + name + " " + constant + ")"});
      mine = {name, old_value, e};
      return true;
    }
  }
}

bool Generator::run_sync(uint32_t t, const Step& s) {
  const std::string thread = thread_name(t), lock = s.variable == 2 ? "rw" : "m" + std::to_string(s.variable);
  switch (s.kind) {
    case Kind::Lock:
      if (owner_[s.variable] >= 0 || (s.variable == 2 && readers_ > 0)) return false;
      owner_[s.variable] = static_cast<int>(t);
      p_.b.acquire(thread, lock);
      return true;
    case Kind::Unlock:
      owner_[s.variable] = -1;
      p_.b.release(thread, lock);
      return true;
    case Kind::SharedLock:
      if (owner_[2] >= 0) return false;
      ++readers_;
      p_.sync(thread.c_str(), EventKind::AcquireShared, "rw");
      return true;
    case Kind::SharedUnlock:
      --readers_;
      p_.sync(thread.c_str(), EventKind::ReleaseShared, "rw");
      return true;
    case Kind::Post:
      ++tokens_;
      p_.sync(thread.c_str(), EventKind::Post, "sem");
      return true;
    case Kind::Down:
      if (tokens_ == 0) return false;
      --tokens_;
      p_.sync(thread.c_str(), EventKind::Down, "sem");
      return true;
    case Kind::Barrier:
      if (!arrived_[t]) {
        arrived_[t] = true;
        ++arrivals_;
        p_.sync(thread.c_str(), EventKind::Arrive, "bar");
      }
      if (arrivals_ < threads_) return false;
      p_.sync(thread.c_str(), EventKind::Pass, "bar");
      return true;
    case Kind::Fork:
      p_.b.fork(thread, thread_name(1));
      forked_[1] = true;
      return true;
    case Kind::Join:
      if (at_[1] < code_[1].size()) return false;
      p_.b.join(thread, thread_name(1));
      return true;
    case Kind::Take: {
      if (owner_[0] >= 0 || memory_[0] != 0) return false;
      std::string name = fresh(t);
      p_.b.acquire(thread, "m0");
      p_.read(thread.c_str(), "x0", 0, name);
      p_.assume(thread.c_str(), "(= " + name + " 0)");
      p_.write(thread.c_str(), "x0", 1, "1");
      p_.b.release(thread, "m0");
      memory_[0] = 1;
      return true;
    }
    default:  // Give
      if (owner_[0] >= 0) return false;
      p_.b.acquire(thread, "m0");
      p_.write(thread.c_str(), "x0", 0, "0");
      p_.b.release(thread, "m0");
      memory_[0] = 0;
      return true;
  }
}

bool Generator::run_condition(uint32_t t, const Step& s) {
  const std::string thread = thread_name(t), lock = "m" + std::to_string(s.variable);
  if (s.kind == Kind::WaitWake) {
    if (!waiting_[t]) {
      waiting_[t] = true;
      owner_[s.variable] = -1;
      sleepers_.push_back(t);
      p_.sync(thread.c_str(), EventKind::Wait, "cond", lock.c_str());
      return false;  // the wake is tried again later
    }
    if (!woken_[t] || owner_[s.variable] >= 0) return false;
    woken_[t] = waiting_[t] = false;
    owner_[s.variable] = static_cast<int>(t);
    p_.sync(thread.c_str(), EventKind::Wake, "cond", lock.c_str());
    return true;
  }
  bool all = s.kind == Kind::Broadcast;
  p_.sync(thread.c_str(), all ? EventKind::Broadcast : EventKind::Signal, "cond");
  while (!sleepers_.empty()) {
    woken_[sleepers_.front()] = true;
    sleepers_.erase(sleepers_.begin());
    if (!all) break;
  }
  return true;
}

void Generator::find_triples(Generated* g) {
  auto events = g->trace.events();
  auto letters = [](EventKind kind) {
    return std::string(kind == EventKind::Read ? "R" : kind == EventKind::Write ? "W" : "RW");
  };
  auto note = [&](uint32_t i, uint32_t j, uint32_t k) {
    for (char a : letters(events[i].kind)) {
      for (char b : letters(events[j].kind)) {
        for (char c : letters(events[k].kind)) {
          std::string word{a, b, c};
          for (Pattern p : {Pattern::RWR, Pattern::RWW, Pattern::WWR, Pattern::WRW, Pattern::WWW}) {
            if (word_of(p) == word) g->triples.emplace_back(EventIndex{i}, EventIndex{j}, EventIndex{k}, p);
          }
        }
      }
    }
  };
  for (uint32_t i = 0; i < events.size(); ++i) {
    if (!is_access(events[i].kind)) continue;
    for (uint32_t k = i + 1; k < events.size(); ++k) {
      if (events[k].thread != events[i].thread || !is_access(events[k].kind) ||
          events[k].object != events[i].object)
        continue;
      for (uint32_t j = 0; j < events.size(); ++j) {
        if (events[j].thread != events[i].thread && is_access(events[j].kind) &&
            events[j].object == events[i].object)
          note(i, j, k);
      }
      break;  // consecutive accesses only
    }
  }
}

}  // namespace cleave::oracle
