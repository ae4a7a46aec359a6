// The parameterised bank of CTP's Table 1 as a symbolic trace, observed serially: k threads, thread i moves
// money from account i to account i+1, each account in three critical sections: read, write, verify.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "findings/finding.h"
#include "trace/core/trace.h"

namespace cleave {

enum class BankKind {
  Split,        // bank-av: nothing holds the transaction together
  Partial,      // bank-sav: deposits exclude the owner's write, by a flag with a condition variable
  Transaction,  // bank-nav: a busy flag with a condition variable around the whole transaction
  Counter,      // as Transaction, with a ticket counter that no rule for derived locks knows
};

struct Bank {
  Trace trace;
  std::vector<std::tuple<EventIndex, EventIndex, EventIndex, Pattern>> candidates;  // four a thread
};

inline Bank make_bank(int k, BankKind kind) {
  TraceBuilder b;
  auto annotate = [&](EventIndex e, std::string bound, std::string expression = "") {
    b.annotate(e, {bound, expression});
  };
  auto event = [&](const std::string& t, EventKind what, const std::string& object) {
    return b.add({.kind = what, .thread = b.thread(t), .object = raw(b.sync(object))});
  };
  auto assume = [&](const std::string& t, const std::string& condition) {
    annotate(b.add({.kind = EventKind::Assume, .thread = b.thread(t)}), "", condition);
  };
  struct Accesses {
    EventIndex read, write, verify;
  };
  std::vector<Accesses> from(k), to(k);
  for (int i = 0; i < k; ++i) b.set_initial(b.variable("balance" + std::to_string(i)), 100);
  for (int i = 0; i < k; ++i) b.fork("main", "T" + std::to_string(i));
  std::vector<int64_t> balance(k, 100);
  for (int i = 0; i < k; ++i) {
    std::string t = "T" + std::to_string(i);
    int names = 0;
    auto fresh = [&] { return "n" + std::to_string(i) + "_" + std::to_string(names++); };
    // A flag taken under `mutex` when it is 0, as `while (flag) wait; flag = 1`.
    auto take = [&](const std::string& flag, const std::string& mutex) {
      b.acquire(t, mutex);
      std::string seen = fresh();
      annotate(b.read(t, flag, 0), seen);
      assume(t, "(= " + seen + " 0)");
      annotate(b.write(t, flag, 1), "", "1");
      b.release(t, mutex);
    };
    auto give = [&](const std::string& flag, const std::string& mutex) {
      b.acquire(t, mutex);
      annotate(b.write(t, flag, 0), "", "0");
      event(t, EventKind::Broadcast, "c_" + flag);
      b.release(t, mutex);
    };
    std::string turn;
    if (kind == BankKind::Transaction) take("busy", "tm");
    if (kind == BankKind::Counter) {  // my = next++; while (serving != my) wait; … serving++
      b.acquire(t, "tm");
      std::string mine = fresh(), serving = fresh();
      annotate(b.read(t, "next", i), mine);
      annotate(b.write(t, "next", i + 1), "", "(+ " + mine + " 1)");
      annotate(b.read(t, "serving", i), serving);
      assume(t, "(= " + serving + " " + mine + ")");
      b.release(t, "tm");
    }
    auto half = [&](int account, int64_t amount, bool deposit) {
      std::string v = "balance" + std::to_string(account), lock = "L" + std::to_string(account),
                  seen = fresh(), verified = fresh();
      std::string flag = "depositing" + std::to_string(account), guard = "g" + std::to_string(account);
      Accesses a{};
      if (kind == BankKind::Partial && deposit) take(flag, guard);
      b.acquire(t, lock);
      a.read = b.read(t, v, static_cast<uint64_t>(balance[account]));
      annotate(a.read, seen);
      b.release(t, lock);
      if (kind == BankKind::Partial && !deposit) take(flag, guard);
      b.acquire(t, lock);
      balance[account] += amount;
      a.write = b.write(t, v, static_cast<uint64_t>(balance[account]));
      annotate(a.write, "", "(+ " + seen + " " + std::to_string(amount) + ")");
      b.release(t, lock);
      if (kind == BankKind::Partial && !deposit) give(flag, guard);
      b.acquire(t, lock);
      a.verify = b.read(t, v, static_cast<uint64_t>(balance[account]));
      annotate(a.verify, verified);
      b.release(t, lock);
      if (kind == BankKind::Partial && deposit) give(flag, guard);
      return a;
    };
    from[i] = half(i, -10, false);
    to[i] = half((i + 1) % k, 10, true);
    if (kind == BankKind::Transaction) give("busy", "tm");
    if (kind == BankKind::Counter) {
      b.acquire(t, "tm");
      std::string serving = fresh();
      annotate(b.read(t, "serving", i), serving);
      annotate(b.write(t, "serving", i + 1), "", "(+ " + serving + " 1)");
      event(t, EventKind::Broadcast, "c_busy");
      b.release(t, "tm");
    }
  }
  for (int i = 0; i < k; ++i) b.join("main", "T" + std::to_string(i));
  Bank bank{std::move(b).build(), {}};
  for (int i = 0; i < k; ++i) {
    EventIndex before = to[(i + k - 1) % k].write, after = from[(i + 1) % k].write;
    bank.candidates.emplace_back(from[i].read, before, from[i].write, Pattern::RWW);
    bank.candidates.emplace_back(from[i].write, before, from[i].verify, Pattern::WWR);
    bank.candidates.emplace_back(to[i].read, after, to[i].write, Pattern::RWW);
    bank.candidates.emplace_back(to[i].write, after, to[i].verify, Pattern::WWR);
  }
  return bank;
}

}  // namespace cleave
