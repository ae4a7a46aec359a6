// Who runs when: a value. A schedule names threads by their place in the creation tree ("0" is the main
// thread, "0.2" its second child) and positions by counts of that thread's scheduling points, never by
// addresses, so it survives address randomization, another machine, and a rebuild of the same source.
//
// A scheduling point stands before every segment with an access, before every atomic operation and before
// every synchronization operation (docs/control.md). Between two points of one thread nobody else runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cleave {

// How the next thread is chosen. Free and Noise let the system decide; all others run one thread at a time.
enum class Policy : uint8_t {
  Free,
  Serial,
  Random,
  Pct,
  Noise,
  Plan,
  Replay,
  Switches,
  Pos,
  Rf,
  Reverse,
  First
};
std::string_view word_of(Policy policy);
// What --schedule takes: all but those that need more than a seed and constraints.
std::vector<std::string> schedule_words();
bool parse(std::string_view word, Policy* policy);
constexpr bool serialised(Policy policy) { return policy != Policy::Free && policy != Policy::Noise; }

// How a run ends. GaveAway: after its last point the thread had to wait, called out, or ended. Preempted: at
// its last point, where it waits for its next turn. Taken: it slept in a call that we do not know, and lost
// the turn to another.
enum class Handover : uint8_t { GaveAway = 0, Preempted = 1, Taken = 2 };

// One thread has the turn for so many of its scheduling points.
struct Run {
  uint32_t thread = 0;  // index into Schedule::threads
  Handover how = Handover::GaveAway;
  uint64_t points = 0;
  friend bool operator==(const Run&, const Run&) = default;
};

// Where a run with few switches hands over: when the thread has come to so many of its points and its run
// ends in this way, `next` has the turn (GaveAway: of those that can run then, it is chosen).
struct Switch {
  std::string thread;  // path in the creation tree
  uint64_t points = 0;
  Handover how = Handover::Preempted;  // or GaveAway
  std::string next;
  friend bool operator==(const Switch&, const Switch&) = default;
};

// What a scheduling point was about: replay compares it, and shows it where it differs.
struct Step {
  uint16_t operation = 0;  // CLEAVE_POINT_* (abi/control.h)
  uint32_t module = 0;     // index into Schedule::modules, UINT32_MAX if the place is not known
  uint32_t segment = 0;    // within the module
  uint64_t value = 0;      // what the thread's previous step read or wrote; addresses count as 1
  friend bool operator==(const Step&, const Step&) = default;
};

// Something from outside that the program was given: the time, random bytes, which of several waiters is
// woken.
struct Pinned {
  uint32_t thread = 0;
  uint16_t source = 0;  // CLEAVE_PINNED_*
  std::vector<uint8_t> bytes;
  friend bool operator==(const Pinned&, const Pinned&) = default;
};

struct ModuleIdentity {
  std::string name;       // source file as given to the compiler
  uint64_t identity = 0;  // hash of the instrumented code
  friend bool operator==(const ModuleIdentity&, const ModuleIdentity&) = default;
};

// Whether the program ended by itself (exit, crash, deadlock) or was stopped in the middle.
enum class Stopped : uint8_t { ByItself = 0, TimeLimit = 1, Livelock = 2 };

inline constexpr uint64_t kPointsOfFingerprint = 8;

struct Schedule {
  Stopped stopped = Stopped::ByItself;
  std::vector<std::string> threads;  // paths, in order of creation
  std::vector<Run> runs;
  // In the order of the run, chained hashes of what the thread did: one for every point that is in `steps`
  // and every synchronization operation behind those, one for up to kPointsOfFingerprint plain accesses of a
  // thread.
  std::vector<uint8_t> fingerprints;
  std::vector<Step> steps;     // the same in full, for the first points (as many as the runtime keeps)
  std::vector<Pinned> pinned;  // per thread in order
  std::vector<ModuleIdentity> modules;  // of the build it belongs to

  uint64_t points() const;
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

// Every hand-over of the schedule, in its order. O(runs).
std::vector<Switch> switches_of(const Schedule& schedule);

// Bytes, and back. Any input that encode did not write gives an Error that says where, never a crash.
// O(size).
std::vector<uint8_t> encode(const Schedule& schedule);
Result<Schedule> decode_schedule(std::string_view bytes, const std::string& place);

// Whether the schedule can be followed at all: every run names a thread, every thread but "0" comes after its
// parent, enough fingerprints for its points.
Status validate(const Schedule& schedule, const std::string& place);

// "0.2.1" → true; every other text → false.
bool is_thread_path(std::string_view path);

}  // namespace cleave
