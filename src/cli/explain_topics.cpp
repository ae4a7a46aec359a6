#include "cli/explain_topics.h"

#include <array>

namespace cleave::cli {
namespace {

struct Topic {
  std::string_view word, text;
};

constexpr std::array<Topic, 12> kTopics = {{
    {"RWR", R"(RWR: unrepeatable read.
A unit reads a variable twice, and another thread changes it between the two reads.
    T1: if (list.size() > 0)        T2: list.clear();
    T1:   use(list.front());
Run without interruption, T1 would have seen the same value twice.
Fix: read once and keep the value, or hold one lock over both reads.
)"},
    {"RWW", R"(RWW: lost update.
A unit reads a variable and then writes it; another thread writes it in between.
    T1: int b = balance;            T2: balance = 5;
    T1: balance = b - 10;           (what T2 wrote is lost)
Neither order of the two gives this result.
Fix: hold one lock from the read to the write, or use one atomic operation (fetch_add, compare_exchange).
)"},
    {"WWR", R"(WWR: overwritten before it was read back.
A unit writes a variable and reads it again; another thread has changed it in between.
    T1: current = request;          T2: current = other;
    T1: handle(current);
Fix: keep the value in a local variable, or hold one lock from the write to the read.
)"},
    {"WRW", R"(WRW: intermediate value.
A unit writes a variable twice, and another thread reads the value in between.
    T1: total = 0;                  T2: print(total);
    T1: total = sum();
The value that T2 sees exists neither before nor after the unit.
Fix: compute in a local variable and write once, or lock the reader out.
)"},
    {"WWW", R"(WWW: interleaved writes.
Another thread writes a variable between two writes of a unit.
    T1: state = Begin;              T2: state = Idle;
    T1: state = End;
Often harmless, because the last write wins; look at it when the first write matters to T2.
)"},
    {"cycle", R"(cycle: units that no serial order explains.
Each unit did something before the next one, and the last before the first.
    T1: x = 0;                      T2: swap(x, y);
    T1: y = 0;
T1 comes before T2 for x and after it for y, so T1 was cut in two.
Fix: make the unit that the headline names hold one lock from its first access to its last.
)"},
    {"high-level-race", R"(high-level-race: variables that belong together, taken one by one.
One place changes x and y in one critical section; another reads them in two.
    lock(); x = a; y = b; unlock();
    lock(); use(x); unlock();  lock(); use(y); unlock();
Every access is locked, and still x and y may not fit together.
Fix: read both in one critical section.
)"},
    {"stale-value", R"(stale-value: a value that is used after its lock was released.
    lock(); int n = size; unlock();
    lock(); items[n] = item; unlock();
Another thread may have changed size between the two critical sections.
Fix: use the value in the critical section that read it, or check it again.
)"},
    {"failure", R"(failure: a run of the program that failed.
Exit status other than 0, a signal, a deadlock, a livelock or a time limit.
`cleave replay WITNESS` runs it again in the same way;
`cleave explain WITNESS` finds the few switches between threads that it needs.
)"},
    {"unit", R"(unit: a stretch of one thread that should appear atomic.
Nothing that another thread does in the middle of a unit may change what it does.
By default a unit is each function that is annotated with CLEAVE_ATOMIC; in a program without annotations
each method, and each critical section. --units chooses, and cleave.toml says it without touching the source:
    [units]
    atomic = ["transfer_*"]
    not_atomic = ["worker"]
)"},
    {"set", R"(set: variables that one invariant binds together.
By default all fields of one object are a set, the static fields of one class, and each other global by itself.
A unit is judged by what happens to one set. CLEAVE_SET("name") on a field or cleave.toml divides an object:
    [sets]
    "Account.money" = ["Account::checking", "Account::savings"]
)"},
    {"verdict", R"(verdict: how sure Cleave is.
candidate   nothing cheap rules it out; nobody has seen it happen
feasible    a model of the run says that an execution exists
witnessed   a real execution did it
confirmed   a real execution did it, and that execution is proved not to be atomic
infeasible  no execution does it
--fail-on VERDICT chooses from which one on a command returns 1.
)"},
}};

}  // namespace

std::string_view explain_topic(std::string_view word) {
  for (const Topic& topic : kTopics) {
    if (topic.word == word) return topic.text;
  }
  return {};
}

std::string explain_topics() {
  std::string names;
  for (const Topic& topic : kTopics) names += (names.empty() ? "" : ", ") + std::string(topic.word);
  return names;
}

}  // namespace cleave::cli
