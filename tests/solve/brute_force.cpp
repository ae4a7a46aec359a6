#include "solve/brute_force.h"

#include <cctype>
#include <functional>
#include <set>
#include <stdexcept>

namespace cleave::oracle {
namespace {

// (op a b) over int64, evaluated from the text.
int64_t evaluate(const std::string& text, size_t* at, const std::map<std::string, int64_t>& names) {
  while (*at < text.size() && text[*at] == ' ') ++*at;
  auto word = [&] {
    while (*at < text.size() && text[*at] == ' ') ++*at;
    size_t begin = *at;
    while (*at < text.size() && text[*at] != ' ' && text[*at] != '(' && text[*at] != ')') ++*at;
    return text.substr(begin, *at - begin);
  };
  if (text[*at] != '(') {
    std::string w = word();
    if (std::isdigit(static_cast<unsigned char>(w[0])) || w[0] == '-') return std::stoll(w);
    return names.at(w);
  }
  ++*at;
  std::string op = word();
  std::vector<int64_t> args;
  for (;;) {
    while (*at < text.size() && text[*at] == ' ') ++*at;
    if (text[*at] == ')') break;
    args.push_back(evaluate(text, at, names));
  }
  ++*at;
  if (op == "+") return args[0] + args[1];
  if (op == "-") return args.size() == 1 ? -args[0] : args[0] - args[1];
  if (op == "*") return args[0] * args[1];
  if (op == "=") return args[0] == args[1];
  if (op == "<") return args[0] < args[1];
  if (op == "<=") return args[0] <= args[1];
  if (op == ">") return args[0] > args[1];
  if (op == ">=") return args[0] >= args[1];
  if (op == "not") return !args[0];
  throw std::runtime_error("operator " + op);
}

struct State {
  std::vector<uint32_t> position;                      // per thread
  std::map<uint32_t, int64_t> memory;                  // variable → value
  std::vector<std::map<std::string, int64_t>> names;   // per thread
  std::map<uint32_t, std::pair<int, int>> locks;       // lock → (owner + 1, readers)
  std::map<uint32_t, int64_t> tokens;                  // semaphore
  std::map<uint32_t, uint64_t> arrivals;               // barrier
  std::map<uint32_t, std::vector<uint32_t>> sleeping;  // condition → threads not yet signalled
  std::map<uint32_t, bool> woken;                      // thread → a signal has chosen it
  int stage = 0;                                       // 0 nothing, 1 first done, 2 remote done

  // Everything that decides what can still happen.
  std::string key() const {
    std::string text;
    auto put = [&](int64_t number) { text.append(reinterpret_cast<const char*>(&number), sizeof number); };
    for (uint32_t p : position) put(p);
    for (const auto& [variable, value] : memory) put(value);
    for (const auto& mine : names) {
      for (const auto& [name, value] : mine) put(value);
      text += '|';
    }
    for (const auto& [lock, holders] : locks) put(holders.first * 64 + holders.second);
    for (const auto& [semaphore, count] : tokens) put(count);
    for (const auto& [condition, waiting] : sleeping) {
      for (uint32_t t : waiting) put(t);
      text += '|';
    }
    for (const auto& [thread, yes] : woken) put(thread * 2 + yes);
    put(stage);
    return text;
  }
};

class Machine {
 public:
  Machine(const Trace& trace, const Moves& moves)
      : trace_(trace), moves_(moves), mine_(trace.threads().size()), fork_(trace.threads().size(), -1) {
    for (uint32_t i = 0; i < trace.size(); ++i) {
      const Event& e = trace.events()[i];
      if (e.kind == EventKind::Fork && mine_[e.object].empty())
        fork_[e.object] = static_cast<int>(raw(e.thread));
      mine_[raw(e.thread)].push_back(i);
    }
  }
  State start() const {
    State s;
    s.position.resize(mine_.size());
    s.names.resize(mine_.size());
    for (uint32_t v = 0; v < trace_.variables().size(); ++v)
      s.memory[v] = static_cast<int64_t>(trace_.variables()[v].initial);
    for (uint32_t v = 0; v < trace_.syncs().size(); ++v)
      s.tokens[v] = static_cast<int64_t>(trace_.syncs()[v].initial);
    return s;
  }
  const std::vector<uint32_t>& events(uint32_t thread) const { return mine_[thread]; }

  // Runs the thread's next event; false when it cannot run now. A signal's choice of waiter is `choice`.
  bool step(State& s, uint32_t t, size_t choice) const {
    if (s.position[t] >= mine_[t].size()) return false;
    if (fork_[t] >= 0 && !forked(s, t)) return false;
    uint32_t i = mine_[t][s.position[t]];
    const Event& e = trace_.events()[i];
    const SymbolicInfo* data = trace_.symbolic(id_of<EventIndex>(i));
    auto& lock = s.locks[e.object];
    switch (e.kind) {
      case EventKind::Input:
        s.names[t][data->bound] = inputs_ && inputs_->contains(data->bound)
                                      ? static_cast<int64_t>(inputs_->at(data->bound))
                                      : static_cast<int64_t>(e.value);
        break;
      case EventKind::Read:
        if (data && !data->bound.empty()) s.names[t][data->bound] = s.memory[e.object];
        break;
      case EventKind::Write:
        if (auto move = moves_.find(i); move != moves_.end()) {
          int64_t index = s.names[t].at(move->second.index);
          if (index < 0 || index >= static_cast<int64_t>(move->second.elements.size())) return false;
          s.memory[move->second.elements[static_cast<size_t>(index)]] = value(s, t, e, data);
        } else {
          s.memory[e.object] = value(s, t, e, data);
        }
        break;
      case EventKind::Update: {
        if (data && !data->bound.empty()) s.names[t][data->bound] = s.memory[e.object];
        s.memory[e.object] = value(s, t, e, data);
        break;
      }
      case EventKind::Assume: {
        size_t at = 0;
        if (!evaluate(data->expression, &at, s.names[t])) return false;
        break;
      }
      case EventKind::Acquire:
        if (lock.first || lock.second) return false;
        lock.first = static_cast<int>(t) + 1;
        break;
      case EventKind::Release:
        lock.first = 0;
        break;
      case EventKind::AcquireShared:
        if (lock.first) return false;
        ++lock.second;
        break;
      case EventKind::ReleaseShared:
        --lock.second;
        break;
      case EventKind::Wait:
        s.locks[e.object2].first = 0;
        s.sleeping[e.object].push_back(t);
        break;
      case EventKind::Wake:
        if (!s.woken[t] || s.locks[e.object2].first) return false;
        s.woken[t] = false;
        s.locks[e.object2].first = static_cast<int>(t) + 1;
        break;
      case EventKind::Signal: {
        auto& waiting = s.sleeping[e.object];
        if (choice > 0 && choice >= waiting.size()) return false;
        if (!waiting.empty()) {
          s.woken[waiting[choice]] = true;
          waiting.erase(waiting.begin() + static_cast<long>(choice));
        }
        break;
      }
      case EventKind::Broadcast:
        for (uint32_t waiter : s.sleeping[e.object]) s.woken[waiter] = true;
        s.sleeping[e.object].clear();
        break;
      case EventKind::Post:
        ++s.tokens[e.object];
        break;
      case EventKind::Down:
        if (s.tokens[e.object] == 0) return false;
        --s.tokens[e.object];
        break;
      case EventKind::Arrive:
        ++s.arrivals[e.object];
        break;
      case EventKind::Pass:  // of one generation
        if (s.arrivals[e.object] < trace_.syncs()[e.object].initial) return false;
        break;
      case EventKind::Join:
        if (s.position[e.object] < mine_[e.object].size()) return false;
        break;
      default:
        break;
    }
    ++s.position[t];
    return true;
  }
  int64_t value(const State& s, uint32_t t, const Event& e, const SymbolicInfo* data) const {
    if (!data || data->expression.empty()) return static_cast<int64_t>(e.value);
    size_t at = 0;
    return evaluate(data->expression, &at, s.names[t]);
  }
  void use_inputs(const std::map<std::string, uint64_t>* inputs) { inputs_ = inputs; }

 private:
  bool forked(const State& s, uint32_t t) const {
    uint32_t parent = static_cast<uint32_t>(fork_[t]);
    for (uint32_t p = 0; p < s.position[parent]; ++p) {
      const Event& e = trace_.events()[mine_[parent][p]];
      if (e.kind == EventKind::Fork && e.object == t) return true;
    }
    return false;
  }
  const Trace& trace_;
  const Moves& moves_;
  std::vector<std::vector<uint32_t>> mine_;
  std::vector<int> fork_;
  const std::map<std::string, uint64_t>* inputs_ = nullptr;
};

// Watches a run for the triple. Returns true once second has run with both conflicts real.
class Watch {
 public:
  Watch(const Trace& trace, const Moves& moves, EventIndex f, EventIndex r, EventIndex s, Pattern p)
      : trace_(trace),
        moves_(moves),
        first_(static_cast<uint32_t>(raw(f))),
        remote_(static_cast<uint32_t>(raw(r))),
        second_(static_cast<uint32_t>(raw(s))),
        letters_(word_of(p)) {}
  // Before and after event i ran. False: this run cannot show the triple any more.
  bool saw(uint32_t i, const State& before, State& after, bool* found) const {
    uint32_t x = trace_.events()[first_].object;
    int64_t old_value = before.memory.at(x), new_value = after.memory.at(x);
    if (i == first_ || i == remote_ || i == second_) {
      if (auto move = moves_.find(i); move != moves_.end()) {
        int64_t index = before.names[raw(trace_.events()[i].thread)].at(move->second.index);
        if (move->second.elements[static_cast<size_t>(index)] != x) return false;
      }
    }
    if (i == first_) {
      after.stage = 1;
      after.names[raw(trace_.events()[first_].thread)]["!first_before"] = old_value;
      after.names[raw(trace_.events()[first_].thread)]["!first_after"] = new_value;
    } else if (i == remote_) {
      if (before.stage != 1) return false;
      const auto& mine = before.names[raw(trace_.events()[first_].thread)];
      if (letters_[1] == 'W') {
        if ((letters_[0] == 'R' || letters_[2] == 'R') && old_value == new_value) return false;
        if (letters_[0] == 'W' && mine.at("!first_after") == new_value) return false;
      } else if (mine.at("!first_before") == mine.at("!first_after")) {
        return false;
      }
      after.stage = 2;
      auto& remote = after.names[raw(trace_.events()[first_].thread)];
      remote["!remote_before"] = old_value;
      remote["!remote_after"] = new_value;
    } else if (i == second_) {
      if (before.stage != 2) return false;
      const auto& seen = before.names[raw(trace_.events()[first_].thread)];
      if (letters_[1] == 'W' && letters_[2] == 'W' && seen.at("!remote_after") == new_value) return false;
      if (letters_[1] == 'R' && seen.at("!remote_before") == new_value) return false;
      *found = true;
    }
    return true;
  }

 private:
  const Trace& trace_;
  const Moves& moves_;
  uint32_t first_, remote_, second_;
  std::string_view letters_;
};

}  // namespace

bool feasible(const Trace& trace, EventIndex first, EventIndex remote, EventIndex second, Pattern pattern,
              const Moves& moves) {
  Machine machine(trace, moves);
  Watch watch(trace, moves, first, remote, second, pattern);
  std::set<std::string> fruitless;  // states from which nothing was found
  std::function<bool(const State&)> search = [&](const State& s) {
    std::string key = s.key();
    if (fruitless.contains(key)) return false;
    for (uint32_t t = 0; t < s.position.size(); ++t) {
      for (size_t choice = 0; choice < s.position.size(); ++choice) {
        State next = s;
        if (!machine.step(next, t, choice)) break;
        uint32_t ran = machine.events(t)[s.position[t]];
        bool found = false;
        if (watch.saw(ran, s, next, &found) && (found || search(next))) return true;
        if (trace.events()[ran].kind != EventKind::Signal) break;
      }
    }
    fruitless.insert(std::move(key));
    return false;
  };
  return search(machine.start());
}

bool runs(const Trace& trace, const std::vector<EventIndex>& order, EventIndex first, EventIndex remote,
          EventIndex second, Pattern pattern, const std::map<std::string, uint64_t>& inputs, std::string* why,
          const Moves& moves) {
  Machine machine(trace, moves);
  machine.use_inputs(&inputs);
  Watch watch(trace, moves, first, remote, second, pattern);
  std::function<bool(const State&, size_t)> follow = [&](const State& s, size_t at) {
    if (at == order.size()) return false;
    auto i = static_cast<uint32_t>(raw(order[at]));
    uint32_t t = raw(trace.events()[i].thread);
    if (s.position[t] >= machine.events(t).size() || machine.events(t)[s.position[t]] != i) {
      *why = "not in program order at " + std::to_string(at);
      return false;
    }
    for (size_t choice = 0; choice < s.position.size(); ++choice) {
      State next = s;
      if (!machine.step(next, t, choice)) {
        *why = "event " + std::to_string(i) + " cannot run at " + std::to_string(at);
        return false;
      }
      bool found = false;
      if (!watch.saw(i, s, next, &found)) {
        *why = "the conflict is not real";
        return false;
      }
      if (found || follow(next, at + 1)) return true;
      if (trace.events()[i].kind != EventKind::Signal) break;
    }
    return false;
  };
  return follow(machine.start(), 0);
}

}  // namespace cleave::oracle
