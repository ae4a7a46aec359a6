// Walks one thread. Frames hold the values of a function's instructions; the script says what was read,
// returned and decided. Addresses of stack slots and constants that no record tells are invented, outside
// what a program can have, so that private memory works; a value that depends on one is never compared and
// never becomes a condition.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "feasibility/lift/bitcode.h"
#include "feasibility/lift/private_memory.h"
#include "feasibility/lift/thread_script.h"
#include "feasibility/lift/walk.h"

namespace cleave {

// What the walks of all threads share.
struct WalkContext {
  const RecordedTrace& recorded;
  Bitcode& bitcode;
  SymbolicTrace& symbolic;
  WalkReport& report;
  std::vector<bool> shared;                   // by variable
  std::vector<std::vector<uint32_t>> events;  // by thread, in order
  std::vector<uint32_t> legs;                 // by event: which leg of its record it is in
  std::set<std::string> not_modelled;
  std::map<uint64_t, VariableId> by_address;  // of variables; kNone where memory was used again
  std::vector<uint32_t> owner = {};           // by variable: the thread that touched it first
  std::vector<bool> settled = {};  // by variable: not written any more once there is a second thread
  bool stores_move = true;         // false: every index keeps its value
  std::set<uint32_t> moved_over;   // variables that a moving store may go to
};

class Walker {
 public:
  Walker(WalkContext& context, ThreadId thread, size_t lane);
  // To the end of the thread's records. What could not be walked is pinned.
  void run();

 private:
  struct Frame {
    llvm::Function* function = nullptr;
    llvm::BasicBlock* block = nullptr;
    llvm::BasicBlock::iterator next;
    boost::unordered_flat_map<const llvm::Value*, Lanes> values;
    uint64_t token = 0;
    llvm::CallBase* call = nullptr;  // being executed
    bool outside = false;            // `call` runs code that has no bitcode
    bool outside_lost = false;       // and it was given what depends on symbols
  };

  // walker.cpp, walker_calls.cpp: control
  bool enter_from_script();
  void push(llvm::Function* function, std::vector<Lanes> arguments);
  void step();
  void go_to(llvm::BasicBlock* target);
  void branch(llvm::BranchInst& branch);
  void switch_to(llvm::SwitchInst& instruction);
  void call(llvm::CallBase& call);
  llvm::Function* target_of(llvm::CallBase& call);
  Lanes with_recorded_result(llvm::CallBase& call, Lanes value);
  void call_outside(llvm::CallBase& call);
  void continue_outside();
  void returned(Lanes value);
  void land(const ScriptSlot& landing);
  void finish_call(llvm::CallBase& call, Lanes value);
  const ScriptSlot* take(SlotKind kind);
  const ScriptSlot* next_place();
  void pop();
  llvm::Function* function_at(const SegmentPlan& segment);
  bool in_current_function(const SegmentPlan& segment);
  void lose(std::string why);
  void mismatch(uint64_t computed, uint64_t recorded);

  // walker_values.cpp: what instructions compute
  Lanes operand(const llvm::Value* value);
  ThreadCursor scalar(const llvm::Value* value);
  Lanes constant(const llvm::Constant* value);
  void compute(llvm::Instruction& instruction);
  ThreadCursor binary(llvm::BinaryOperator& op, const ThreadCursor& a, const ThreadCursor& b);
  ThreadCursor floating(unsigned opcode, const ThreadCursor& a, const ThreadCursor& b);
  ThreadCursor compare(llvm::CmpInst& cmp, const ThreadCursor& a, const ThreadCursor& b);
  ThreadCursor cast_lane(llvm::CastInst& cast, const ThreadCursor& a, uint8_t to);
  ThreadCursor make(Op op, uint8_t width, const ThreadCursor& a, const ThreadCursor& b);
  ThreadCursor choose(const ThreadCursor& condition, const ThreadCursor& a, const ThreadCursor& b);
  ThreadCursor known(uint64_t value, uint8_t width);
  ThreadCursor unknown(uint8_t width, std::initializer_list<ThreadCursor> from = {});
  Lanes unknown_of(llvm::Type* type);
  void pin(const ThreadCursor& lane);
  void assume(const ThreadCursor& condition, bool outcome);
  bool symbolic(const ThreadCursor& lane) {
    return lane.known() && !lane.invented && !pool().is_constant(lane.expression);
  }
  void count_branch(const ThreadCursor& condition);

  // walker_intrinsics.cpp
  bool intrinsic(llvm::IntrinsicInst& call);
  ThreadCursor funnel_shift(bool left, const ThreadCursor& a, const ThreadCursor& b,
                            const ThreadCursor& amount);
  ThreadCursor swapped_bytes(const ThreadCursor& a);
  Lanes with_overflow(llvm::Intrinsic::ID id, const ThreadCursor& a, const ThreadCursor& b);
  ThreadCursor saturated(bool adds, const ThreadCursor& a, const ThreadCursor& b);
  bool folded(llvm::IntrinsicInst& call);
  static bool wide(const llvm::Value& value);

  // walker_memory.cpp
  void load(llvm::LoadInst& load);
  void store(llvm::StoreInst& store);
  void atomic(llvm::Instruction& instruction);
  void copy(llvm::AnyMemTransferInst& transfer);
  void fill(llvm::AnyMemSetInst& set);
  const ScriptSlot* range_here(RecordKind kind);
  void read_by_value(llvm::CallBase& call);
  void range_outside(const ScriptSlot& slot);
  ThreadCursor read_events(const std::vector<uint32_t>& events, uint64_t value, uint32_t bytes,
                           uint64_t address);
  void write_events(const std::vector<uint32_t>& events, const ThreadCursor& lane, uint64_t value,
                    uint32_t bytes, uint64_t address);
  std::vector<uint32_t> events_of(const ScriptSlot& slot);
  ThreadCursor checked(ThreadCursor lane, uint64_t recorded, uint32_t bytes);
  Lanes split(llvm::Type* type, uint64_t base);
  void join(llvm::Type* type, const Lanes& lanes, uint64_t base);
  uint64_t invent(uint64_t bytes);
  bool constant_load(uint64_t address, llvm::Type* type, Lanes* lanes);

  // walker_elements.cpp
  struct Element {           // of an array, chosen by an index that depends on symbols
    ThreadCursor index;      // 64 bits
    uint64_t count, stride;  // count 0: the type does not say
    ThreadCursor base = {};  // of the array
  };
  struct Range {
    uint64_t first = 0, count = 0;  // indexes
    std::vector<MovingStore::Place> places;
  };
  ThreadCursor widened(const ThreadCursor& index);
  ThreadCursor element_address(llvm::GetElementPtrInst& gep);
  void pin_address(const ThreadCursor& pointer, uint64_t address);
  void place_store(const ThreadCursor& pointer, uint64_t address, uint32_t bytes,
                   const std::vector<uint32_t>& events);
  std::optional<Range> range_of(const Element& element, uint64_t address, uint32_t bytes);

  Frame& top() { return frames_.back(); }
  const llvm::DataLayout& layout() { return top().function->getParent()->getDataLayout(); }
  ExpressionPool& pool() { return context_.symbolic.pool(); }

  WalkContext& context_;
  ThreadId thread_;
  ThreadScript script_;
  std::vector<Frame> frames_;
  PrivateMemory memory_;
  std::map<std::pair<uint64_t, uint32_t>, std::vector<uint32_t>> events_by_origin_;
  std::vector<uint64_t> recorded_values_;                      // of symbols
  std::map<const llvm::GlobalVariable*, uint64_t> constants_;  // invented addresses of constant data
  std::map<uint64_t, const llvm::GlobalVariable*> constants_by_address_;
  std::vector<Element> elements_{1};  // of lanes that are such addresses; 0 is none
  uint64_t next_invented_;
  size_t progress_ = 0;       // events of the thread passed so far
  bool met_symbols_ = false;  // an operand that was asked for depends on symbols
  bool lost_ = false, done_ = false;
};

uint32_t lane_count(llvm::Type* type);
uint8_t lane_width(llvm::Type* scalar, const llvm::DataLayout& layout);

}  // namespace cleave
