// A state of a run of a cone: places of threads, memory, what reads returned, locks, tokens, sleepers. Steps
// are taken and undone; the fingerprint follows in O(1). Private to solve/, for explore.cpp.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <optional>
#include <vector>

#include "feasibility/solve/cone.h"
#include "feasibility/solve/explore.h"
#include "feasibility/solve/formula.h"
#include "feasibility/solve/implied_order.h"

namespace cleave {

struct Fingerprint {
  uint64_t a = 0, b = 0;
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};
struct FingerprintHash {
  size_t operator()(const Fingerprint& f) const { return f.a; }
};

class RunState {
 public:
  // With what must come before what, if that is known.
  RunState(const SymbolicTrace& trace, const SliceIndex& index, const Cone& cone,
           const FeasibilityQuery& query, const FeasibilityOptions& options,
           const ImpliedOrder* order = nullptr);

  // For no query: the marked events are noticed, and `hopeless` and `ranking` are not to be asked.
  RunState(const SymbolicTrace& trace, const SliceIndex& index, const Cone& cone,
           const boost::unordered_flat_set<uint32_t>& marked, const FeasibilityOptions& options);

  uint32_t threads() const { return static_cast<uint32_t>(steps_.size()); }
  uint32_t length(uint32_t thread) const { return static_cast<uint32_t>(steps_[thread].size()); }
  uint32_t event_at(uint32_t thread, uint32_t step) const { return steps_[thread][step].event; }
  uint32_t steps_taken(uint32_t thread) const { return static_cast<uint32_t>(words_[thread]); }
  uint32_t next_event(uint32_t thread) const { return next(thread)->event; }  // it is not at its end

  // Whether everything in the cone has a concrete value.
  bool applicable() const { return applicable_; }
  // Whether an input that matters was left at its recorded value.
  bool inputs_fixed() const { return inputs_fixed_; }

  // In how many ways the thread can take its next step: 0 when it cannot; a signal has one for each sleeper.
  uint32_t ways(uint32_t thread);
  // A thread whose next step can be taken now and cannot be noticed by any other.
  std::optional<uint32_t> unnoticed();
  // The thread that took the last step, if it is in the middle of a straight run of code
  // (SymbolicTrace::run_of).
  std::optional<uint32_t> within_run() const;
  // Threads that are not at their end, those first that are likely to lead to the triple.
  const std::vector<uint32_t>& ranking(Guide guide);

  void step(uint32_t thread, uint32_t way);  // ways(thread) > way
  void undo();

  bool found() const { return words_[stage_] == 3; }
  // The triple's own threads cannot come to it any more.
  bool hopeless();
  Fingerprint fingerprint() const { return fingerprint_; }
  const std::vector<uint32_t>& order() const { return order_; }

 private:
  enum class Role : uint8_t { None, First, Remote, Second, Marked };
  struct Step {
    uint32_t event = 0;
    EventKind kind = EventKind::Assume;
    Role role = Role::None;
    bool condition_is_own = false;     // depends on what this very event reads
    bool woken_by_signal = false;      // of a wake
    uint32_t symbol = UINT32_MAX;      // word that the read fills; none: nothing depends on it
    uint64_t recorded = 0;             // what it returned in the run
    uint32_t memory = UINT32_MAX;      // word of its variable
    uint32_t object = UINT32_MAX;      // word of its lock, semaphore or condition's sleepers
    uint32_t mutex = UINT32_MAX;       // word of the lock of a wait or wake
    Formula condition, stored, index;  // index: of a store that moves
    std::vector<std::pair<uint64_t, uint32_t>> places;  // index → word
    std::vector<std::pair<uint32_t, uint32_t>> needs;   // thread, number of steps it must have taken
    std::vector<uint32_t> dies;                         // symbols that nobody needs afterwards
  };
  struct Use {
    uint32_t thread, last_write, last_access;  // 1 + number of the step; 0 none
  };

  void prepare(const Cone& cone);
  void lay_out(const Cone& cone);
  Step make_step(const Cone& cone, uint32_t event, uint32_t thread);
  void add_data(const Cone& cone, uint32_t thread, Step* step);
  uint32_t word_of(std::map<uint64_t, uint32_t>& table, uint64_t key, uint64_t initial);
  void enter_window(const Slice& slice);
  void obey(const ImpliedOrder& order);
  void find_uses();
  void find_deaths();
  Formula formula(ExpressionId id, uint32_t thread);

  const Step* next(uint32_t thread) const {
    uint64_t at = words_[thread];
    return at < steps_[thread].size() ? &steps_[thread][at] : nullptr;
  }
  bool conditions_hold(const Step& step);
  bool guards_hold(const Step& step);
  uint64_t written(const Step& step) const { return step.stored.evaluate(words_.data()); }
  uint32_t target(const Step& step) const;
  bool noticed(uint32_t thread, const Step& step);
  bool can_lock(uint64_t word, uint32_t thread, bool shared) const;
  void lock(uint32_t word, uint32_t thread, bool shared);
  void unlock(uint32_t word, bool shared);
  void take_role(const Step& step, uint64_t before, uint64_t after);
  void set(uint32_t word, uint64_t value);

  const SymbolicTrace& trace_;
  const SliceIndex& index_;
  const FeasibilityQuery query_;
  const boost::unordered_flat_set<uint32_t>* marked_ = nullptr;
  const FeasibilityOptions& options_;
  std::string_view letters_;
  uint32_t from_ = 0;  // where the window begins, see Slice
  bool applicable_ = true, inputs_fixed_ = false;

  std::vector<std::vector<Step>> steps_;        // by thread
  std::vector<uint64_t> words_;                 // first the places of threads
  uint32_t stage_ = 0, ghost_ = 0, sleep_ = 0;  // words; sleep_ is that of the first thread
  std::map<uint64_t, uint32_t> memory_words_, symbol_words_, object_words_;
  boost::unordered_flat_map<uint32_t, std::vector<Use>> uses_;  // by word: of variables and locks
  Fingerprint fingerprint_;
  std::vector<std::pair<uint32_t, uint64_t>> changes_;
  std::vector<size_t> marks_;
  std::vector<uint32_t> order_, ranking_;
};

}  // namespace cleave
