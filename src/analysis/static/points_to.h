// Which memory each pointer may point to: an inclusion-based (Andersen) analysis of the expanded program,
// with fields told apart by their offset, one object for each allocation site, and calls through pointers
// resolved as it goes. 64-bit integers are followed like pointers, so that thread handles find their way to
// the join.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SparseBitVector.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/static/known_calls.h"

namespace cleave::static_analysis {

enum class ObjectKind : uint8_t { Global, Stack, Heap, Code, Thread, Outside };

struct Object {
  ObjectKind kind = ObjectKind::Global;
  const llvm::Value* at =
      nullptr;                 // the variable, the allocation, the function, the call that starts threads
  uint64_t size = UINT64_MAX;  // if known
  // Elements of an array are one: an offset in [begin, end) is taken modulo the stride. Larger ones first.
  struct Array {
    uint64_t begin = 0, end = 0, stride = 1;
    friend auto operator<=>(const Array&, const Array&) = default;
  };
  std::vector<Array> arrays;
};

// Where arrays lie in objects, by what allocates the object: found by a first analysis, used by a second.
using ArrayBounds = std::map<const llvm::Value*, std::vector<std::pair<uint64_t, uint64_t>>>;

struct Location {
  uint32_t object = 0;
  uint64_t offset = 0;
  friend auto operator<=>(const Location&, const Location&) = default;
};

// A call and a function that it may reach, other than by a plain direct call.
struct StartedThread {
  const llvm::CallBase* at = nullptr;
  const llvm::Function* entry = nullptr;
  friend auto operator<=>(const StartedThread&, const StartedThread&) = default;
};

class PointsTo {
 public:
  explicit PointsTo(const llvm::Module& module, ArrayBounds bounds = {});

  // Sorted, each once. Empty: nothing is known, or it is no pointer.
  std::vector<Location> pointees(const llvm::Value* pointer) const;
  // What memory at that location may hold.
  std::vector<Location> contents(Location location) const;
  const Object& object(uint32_t index) const { return objects_[index]; }
  uint32_t objects() const { return static_cast<uint32_t>(objects_.size()); }
  // All locations of an object that are known.
  std::vector<Location> locations_of(uint32_t object) const;
  Location normal(Location location) const;

  // Functions with a body that a call may run on its own thread: direct, by pointer, or as a callback.
  std::vector<const llvm::Function*> callees(const llvm::CallBase& call) const;
  const std::vector<StartedThread>& started() const { return started_; }
  // Calls through pointers that nothing is known of.
  const std::vector<const llvm::CallBase*>& unresolved() const { return unresolved_; }
  // Containers and what they have allocated for themselves: (container pointer, block pointer).
  const std::vector<std::pair<const llvm::Value*, const llvm::Value*>>& owned() const { return owned_; }

 private:
  using Node = uint32_t;
  using Set = llvm::SparseBitVector<>;
  struct Step {  // target = pointer + offset
    Node target;
    int64_t offset;
    uint64_t stride;  // 0: no variable index
    uint64_t extent;  // of the array that is indexed; UINT64_MAX: not known
  };
  struct NodeData {
    Set points_to, done;
    std::vector<Node> copies;
    std::vector<Node> loads;   // node = *this
    std::vector<Node> stores;  // *this = node
    std::vector<Step> steps;
    std::vector<uint32_t> calls;  // indexes into calls_: this is the callee
    bool queued = false;
  };
  struct Call {
    const llvm::CallBase* at;
    std::vector<Node> arguments;
    bool starts_thread;
    Node result;
  };
  struct Transfer {  // memcpy
    Node target, source;
    uint64_t bytes;
  };

  Node fresh();
  Node node(const llvm::Value* value);
  uint32_t object_at(const llvm::Value* at, ObjectKind kind);
  uint32_t location(Location location);
  Node memory(uint32_t location) { return location_nodes_[location]; }
  void add(Node node, uint32_t location);
  void copy(Node from, Node to);
  void mark_array(uint32_t object, uint64_t start, uint64_t stride, uint64_t extent);
  void mark(uint32_t object, Object::Array array);
  std::pair<uint64_t, uint64_t> bounds(const Object& object, uint64_t at, uint64_t stride) const;

  void build(const llvm::Module& module);
  void initial(uint32_t object, uint64_t offset, const llvm::Constant& constant,
               const llvm::DataLayout& layout);
  void build(const llvm::Instruction& instruction);
  void build(const llvm::GetElementPtrInst& step);
  void build_call(const llvm::CallBase& call);
  void build_started(const llvm::CallBase& call, const KnownCall& known);
  void connect(uint32_t call, const llvm::Function& callee);
  void direct(const llvm::CallBase& call, const llvm::Function& callee);
  void add_call(Node callee, const llvm::CallBase& at, std::vector<Node> arguments, bool starts_thread,
                Node result);
  void solve();
  void visit(Node node);
  bool transfer();

  const llvm::DataLayout* layout_;
  ArrayBounds bounds_;
  std::vector<Object> objects_;
  llvm::DenseMap<const llvm::Value*, uint32_t> object_ids_;
  std::map<const llvm::Value*, uint32_t> thread_ids_;
  std::map<Location, uint32_t> location_ids_;
  std::vector<Location> locations_;
  std::vector<Node> location_nodes_;
  std::vector<std::vector<uint32_t>> by_object_;
  std::vector<NodeData> nodes_;
  llvm::DenseMap<const llvm::Value*, Node> value_nodes_;
  llvm::DenseMap<const llvm::Function*, Node> result_nodes_;
  std::vector<Call> calls_;
  std::vector<Transfer> transfers_;
  std::vector<Node> worklist_;
  llvm::DenseMap<const llvm::CallBase*, llvm::DenseSet<const llvm::Function*>> targets_;
  llvm::DenseSet<std::pair<uint32_t, const llvm::Function*>> connected_;
  llvm::DenseSet<std::pair<Node, Node>> edges_;
  std::vector<StartedThread> started_;
  std::vector<const llvm::CallBase*> unresolved_;
  std::vector<std::pair<const llvm::Value*, const llvm::Value*>> owned_;
};

}  // namespace cleave::static_analysis
