// Building the constraints; points_to_solve.cpp solves them.
#include "analysis/static/points_to.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <numeric>

namespace cleave::static_analysis {

using namespace llvm;

namespace {

bool may_carry_pointer(const Type* type) {
  if (type->isPointerTy() || type->isStructTy() || type->isArrayTy() || type->isVectorTy()) return true;
  return type->isIntegerTy(64) || type->isIntegerTy(128);
}

// Where a GEP's indexes lead: one entry for each choice between constants.
struct Index {
  int64_t offset = 0;
  uint64_t stride = 0, extent = UINT64_MAX;
};

// The constants that an index may be: one, or those of a select.
std::vector<int64_t> constants(const Value* index) {
  if (const auto* constant = dyn_cast<ConstantInt>(index)) return {constant->getSExtValue()};
  if (isa<SExtInst>(index) || isa<ZExtInst>(index)) index = cast<Instruction>(index)->getOperand(0);
  const auto* select = dyn_cast<SelectInst>(index);
  if (select == nullptr) return {};
  const auto *one = dyn_cast<ConstantInt>(select->getTrueValue()),
             *two = dyn_cast<ConstantInt>(select->getFalseValue());
  if (one == nullptr || two == nullptr) return {};
  return {one->getSExtValue(), two->getSExtValue()};
}

// A counter that starts at a constant and grows by another: start and step; step 0 if it is none.
std::pair<int64_t, int64_t> counter(const Value* index) {
  const auto* phi = dyn_cast<PHINode>(index);
  if (phi == nullptr) return {0, 0};
  std::optional<int64_t> start, step;
  for (const Use& incoming : phi->incoming_values()) {
    if (const auto* constant = dyn_cast<ConstantInt>(incoming.get())) {
      start = std::min(start.value_or(INT64_MAX), constant->getSExtValue());
      continue;
    }
    const auto* sum = dyn_cast<BinaryOperator>(incoming.get());
    const auto* by = sum == nullptr ? nullptr : dyn_cast<ConstantInt>(sum->getOperand(1));
    if (by == nullptr || sum->getOpcode() != Instruction::Add || sum->getOperand(0) != phi) return {0, 0};
    step = by->getSExtValue();
  }
  if (!start || !step || *start < 0 || *step <= 0) return {0, 0};
  return {*start, *step};
}

std::vector<Index> indexes_of(const GEPOperator& step, const DataLayout& layout) {
  std::vector<Index> result(1);
  const Type* around = nullptr;  // what the index chooses a part of; null for the first
  for (auto at = gep_type_begin(step), end = gep_type_end(step); at != end;
       around = at.getIndexedType(), ++at) {
    const std::vector<int64_t> choices = constants(at.getOperand());
    StructType* structure = at.getStructTypeOrNull();
    const uint64_t size = structure != nullptr ? 0 : at.getSequentialElementStride(layout).getFixedValue();
    if (structure == nullptr && choices.empty()) {
      const auto [start, step] = counter(at.getOperand());
      for (Index& index : result) {
        index.offset += start * static_cast<int64_t>(size);
        index.stride = std::gcd(index.stride, step == 0 ? size : static_cast<uint64_t>(step) * size);
        const auto* array = dyn_cast_or_null<ArrayType>(around);
        index.extent = array != nullptr ? array->getNumElements() * size : UINT64_MAX;
      }
      continue;
    }
    std::vector<Index> chosen;
    for (const Index& index : result) {
      for (int64_t choice : choices) {
        chosen.push_back(index);
        chosen.back().offset +=
            structure != nullptr ? static_cast<int64_t>(layout.getStructLayout(structure)->getElementOffset(
                                       static_cast<unsigned>(choice)))
                                 : choice * static_cast<int64_t>(size);
      }
    }
    if (chosen.size() <= 8) result = std::move(chosen);
  }
  return result;
}

uint64_t size_of(const Value* at, const DataLayout& layout) {
  if (const auto* global = dyn_cast<GlobalVariable>(at))
    return layout.getTypeAllocSize(global->getValueType());
  if (const auto* alloca = dyn_cast<AllocaInst>(at)) {
    if (const std::optional<TypeSize> size = alloca->getAllocationSize(layout)) return size->getFixedValue();
  }
  const auto* call = dyn_cast<CallBase>(at);
  if (call == nullptr || known_call(*call).kind != CallKind::Allocate || call->arg_size() != 1)
    return UINT64_MAX;
  const auto* bytes = dyn_cast<ConstantInt>(call->getArgOperand(0));
  return bytes == nullptr ? UINT64_MAX : bytes->getZExtValue();
}

}  // namespace

PointsTo::PointsTo(const Module& module, ArrayBounds bounds)
    : layout_(&module.getDataLayout()), bounds_(std::move(bounds)) {
  build(module);
  solve();
  for (const Call& call : calls_) {
    if (!call.starts_thread && targets_.lookup(call.at).empty()) unresolved_.push_back(call.at);
  }
  std::sort(started_.begin(), started_.end());
  started_.erase(std::unique(started_.begin(), started_.end()), started_.end());
}

PointsTo::Node PointsTo::fresh() {
  nodes_.emplace_back();
  return static_cast<Node>(nodes_.size() - 1);
}

PointsTo::Node PointsTo::node(const Value* value) {
  value = value->stripPointerCasts();
  if (const auto* alias = dyn_cast<GlobalAlias>(value)) value = alias->getAliasee()->stripPointerCasts();
  auto found = value_nodes_.find(value);
  if (found != value_nodes_.end()) return found->second;
  const Node result = fresh();
  value_nodes_[value] = result;
  if (const auto* global = dyn_cast<GlobalObject>(value)) {
    const ObjectKind kind = isa<Function>(global) ? ObjectKind::Code : ObjectKind::Global;
    add(result, location({object_at(global, kind), 0}));
  } else if (const auto* step = dyn_cast<GEPOperator>(value); step != nullptr && isa<Constant>(value)) {
    const Node base = node(step->getPointerOperand());
    for (const Index& index : indexes_of(*step, *layout_))
      nodes_[base].steps.push_back({result, index.offset, index.stride, index.extent});
    if (!nodes_[base].queued) nodes_[base].queued = true, worklist_.push_back(base);
    nodes_[base].done.clear();
  } else if (const auto* expression = dyn_cast<ConstantExpr>(value)) {
    for (const Use& operand : expression->operands()) copy(node(operand.get()), result);
  }
  return result;
}

uint32_t PointsTo::object_at(const Value* at, ObjectKind kind) {
  if (kind == ObjectKind::Thread) {
    auto [it, fresh] = thread_ids_.try_emplace(at, static_cast<uint32_t>(objects_.size()));
    if (fresh) objects_.push_back({kind, at, UINT64_MAX, {}}), by_object_.emplace_back();
    return it->second;
  }
  auto [it, fresh] = object_ids_.try_emplace(at, static_cast<uint32_t>(objects_.size()));
  if (fresh) {
    objects_.push_back({kind, at, size_of(at, *layout_), {}});
    by_object_.emplace_back();
  }
  return it->second;
}

void PointsTo::build(const Module& module) {
  const DataLayout& layout = module.getDataLayout();
  for (const GlobalVariable& global : module.globals()) {
    const uint32_t object = object_at(&global, ObjectKind::Global);
    if (global.hasInitializer()) initial(object, 0, *global.getInitializer(), layout);
  }
  for (const Function& function : module) {
    for (const BasicBlock& block : function) {
      for (const Instruction& instruction : block) build(instruction);
    }
  }
}

void PointsTo::initial(uint32_t object, uint64_t offset, const Constant& constant, const DataLayout& layout) {
  if (constant.getType()->isPointerTy()) {
    if (!isa<ConstantPointerNull>(constant)) copy(node(&constant), memory(location({object, offset})));
    return;
  }
  if (const auto* structure = dyn_cast<ConstantStruct>(&constant)) {
    const StructLayout* fields = layout.getStructLayout(structure->getType());
    for (unsigned i = 0; i < structure->getNumOperands(); ++i)
      initial(object, offset + fields->getElementOffset(i), *structure->getOperand(i), layout);
  } else if (const auto* array = dyn_cast<ConstantArray>(&constant)) {
    const uint64_t size = layout.getTypeAllocSize(array->getType()->getElementType());
    for (unsigned i = 0; i < array->getNumOperands(); ++i)
      initial(object, offset + i * size, *array->getOperand(i), layout);
  }
}

void PointsTo::build(const GetElementPtrInst& step) {
  const Node base = node(step.getPointerOperand()), result = node(&step);
  for (const Index& index : indexes_of(cast<GEPOperator>(step), step.getDataLayout()))
    nodes_[base].steps.push_back({result, index.offset, index.stride, index.extent});
}

void PointsTo::build(const Instruction& instruction) {
  // Constants that point somewhere (fields of globals) are asked for later.
  for (const Use& operand : instruction.operands()) {
    if (isa<ConstantExpr>(operand.get()) && operand->getType()->isPointerTy()) node(operand.get());
  }
  if (const auto* call = dyn_cast<CallBase>(&instruction)) return build_call(*call);
  if (const auto* step = dyn_cast<GetElementPtrInst>(&instruction)) {
    if (step->getType()->isPointerTy()) build(*step);
    return;
  }
  if (isa<AllocaInst>(instruction)) {
    add(node(&instruction), location({object_at(&instruction, ObjectKind::Stack), 0}));
  } else if (const auto* load = dyn_cast<LoadInst>(&instruction)) {
    if (may_carry_pointer(load->getType())) {
      const Node result = node(load), pointer = node(load->getPointerOperand());
      nodes_[pointer].loads.push_back(result);
    }
  } else if (const auto* store = dyn_cast<StoreInst>(&instruction)) {
    if (may_carry_pointer(store->getValueOperand()->getType()) &&
        !isa<ConstantData>(store->getValueOperand())) {
      const Node value = node(store->getValueOperand()), pointer = node(store->getPointerOperand());
      nodes_[pointer].stores.push_back(value);
    }
  } else if (const auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
    const Node pointer = node(update->getPointerOperand()), value = node(update->getValOperand());
    const Node result = node(update);
    nodes_[pointer].stores.push_back(value);
    nodes_[pointer].loads.push_back(result);
  } else if (const auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    const Node pointer = node(exchange->getPointerOperand()), value = node(exchange->getNewValOperand());
    const Node result = node(exchange);
    nodes_[pointer].stores.push_back(value);
    nodes_[pointer].loads.push_back(result);
  } else if (const auto* result = dyn_cast<ReturnInst>(&instruction)) {
    if (const Value* value = result->getReturnValue();
        value != nullptr && may_carry_pointer(value->getType())) {
      const Node from = node(value);
      auto [it, first] = result_nodes_.try_emplace(instruction.getFunction(), 0);
      if (first) {
        const Node to = fresh();
        result_nodes_[instruction.getFunction()] = to;
      }
      copy(from, result_nodes_[instruction.getFunction()]);
    }
  } else if (may_carry_pointer(instruction.getType()) && !isa<LandingPadInst>(instruction)) {
    // Casts, phis, selects, aggregates, pointer arithmetic on integers: the result may be any of the
    // operands.
    const Node to = node(&instruction);
    for (const Use& operand : instruction.operands()) {
      const Value* from = operand.get();
      if (isa<BasicBlock>(from) || isa<ConstantData>(from) || !may_carry_pointer(from->getType())) continue;
      copy(node(from), to);
    }
  }
}

void PointsTo::add_call(Node callee, const CallBase& at, std::vector<Node> arguments, bool starts_thread,
                        Node result) {
  calls_.push_back({&at, std::move(arguments), starts_thread, result});
  nodes_[callee].calls.push_back(static_cast<uint32_t>(calls_.size() - 1));
  nodes_[callee].done.clear();
  if (!nodes_[callee].queued) nodes_[callee].queued = true, worklist_.push_back(callee);
}

void PointsTo::direct(const CallBase& call, const Function& callee) {
  targets_[&call].insert(&callee);
  for (unsigned i = 0; i < call.arg_size() && i < callee.arg_size(); ++i) {
    const Value* argument = call.getArgOperand(i);
    if (may_carry_pointer(argument->getType()) && !isa<ConstantData>(argument))
      copy(node(argument), node(callee.getArg(i)));
  }
  if (!may_carry_pointer(call.getType())) return;
  auto [it, first] = result_nodes_.try_emplace(&callee, 0);
  if (first) {
    const Node to = fresh();
    result_nodes_[&callee] = to;
  }
  copy(result_nodes_[&callee], node(&call));
}

void PointsTo::build_started(const CallBase& call, const KnownCall& known) {
  if (known.kind != CallKind::StartTeam) {
    const Node id = fresh(), handle = node(call.getArgOperand(0));
    add(id, location({object_at(&call, ObjectKind::Thread), 0}));
    nodes_[handle].stores.push_back(id);
  }
  if (known.kind == CallKind::StartState) {
    // A std::unique_ptr to a state, by reference; the third virtual function of the state runs.
    const Node state = fresh(), table = fresh(), entry = fresh(), run = fresh();
    nodes_[node(call.getArgOperand(static_cast<unsigned>(known.operand)))].loads.push_back(state);
    nodes_[state].loads.push_back(table);
    nodes_[table].steps.push_back({entry, 16, 0, UINT64_MAX});
    nodes_[entry].loads.push_back(run);
    return add_call(run, call, {state}, true, fresh());
  }
  std::vector<Node> arguments;
  if (known.kind == CallKind::StartTeam) arguments = {fresh(), fresh()};  // global and bound thread number
  for (unsigned i = static_cast<unsigned>(known.argument); i < call.arg_size(); ++i)
    arguments.push_back(node(call.getArgOperand(i)));
  add_call(node(call.getArgOperand(static_cast<unsigned>(known.routine))), call, std::move(arguments), true,
           fresh());
}

void PointsTo::build_call(const CallBase& call) {
  if (const Function* callee = call.getCalledFunction(); callee != nullptr && !callee->isDeclaration())
    return direct(call, *callee);
  const KnownCall known = known_call(call);
  switch (known.kind) {
    case CallKind::StartThread:
    case CallKind::StartState:
    case CallKind::StartTeam:
      return build_started(call, known);
    case CallKind::Owns:
      owned_.emplace_back(call.getArgOperand(0), call.getArgOperand(1));
      return;
    case CallKind::Copy: {
      const auto* bytes = dyn_cast<ConstantInt>(call.getArgOperand(2));
      const Node target = node(call.getArgOperand(0)), source = node(call.getArgOperand(1));
      transfers_.push_back({target, source, bytes == nullptr ? UINT64_MAX : bytes->getZExtValue()});
      if (call.getType()->isPointerTy()) copy(target, node(&call));
      return;
    }
    case CallKind::ReturnsFirst:
    case CallKind::Fill:
      if (call.getType()->isPointerTy()) copy(node(call.getArgOperand(0)), node(&call));
      return;
    case CallKind::Reallocate: {
      const Node target = node(&call), source = node(call.getArgOperand(0));
      add(target, location({object_at(&call, ObjectKind::Heap), 0}));
      transfers_.push_back({target, source, UINT64_MAX});
      return;
    }
    case CallKind::Once: {
      const auto* routine = dyn_cast<Function>(call.getArgOperand(static_cast<unsigned>(known.routine)));
      const GlobalVariable* target = call.getModule()->getGlobalVariable("_ZSt11__once_call");
      Node callee = node(call.getArgOperand(static_cast<unsigned>(known.routine)));
      if (routine != nullptr && routine->isDeclaration() && target != nullptr) {
        callee = fresh();  // libstdc++'s __once_proxy calls what that variable points to
        nodes_[node(target)].loads.push_back(callee);
        nodes_[node(target)].done.clear();
        if (!nodes_[node(target)].queued)
          nodes_[node(target)].queued = true, worklist_.push_back(node(target));
      }
      return add_call(callee, call, {}, false, fresh());
    }
    case CallKind::Allocate:
      add(node(&call), location({object_at(&call, ObjectKind::Heap), 0}));
      return;
    case CallKind::Other:
      break;
    default:
      if (const auto* intrinsic = dyn_cast<IntrinsicInst>(&call);
          intrinsic != nullptr && may_carry_pointer(call.getType())) {
        for (const Use& operand : intrinsic->args()) {
          if (may_carry_pointer(operand->getType()) && !isa<ConstantData>(operand.get()))
            copy(node(operand.get()), node(&call));
        }
      }
      return;
  }
  if (call.isInlineAsm()) return;
  if (call.getCalledFunction() == nullptr) {
    std::vector<Node> arguments;
    for (const Use& argument : call.args()) arguments.push_back(node(argument.get()));
    return add_call(node(call.getCalledOperand()), call, std::move(arguments), false,
                    may_carry_pointer(call.getType()) ? node(&call) : fresh());
  }
  // Outside code: what it returns may be new, or an operand; functions passed to it may be called.
  if (call.getType()->isPointerTy()) {
    add(node(&call), location({object_at(&call, ObjectKind::Outside), 0}));
    for (const Use& operand : call.args()) {
      if (operand->getType()->isPointerTy() && !isa<ConstantData>(operand.get()))
        copy(node(operand.get()), node(&call));
    }
  }
  for (const Use& operand : call.args()) {
    if (const auto* callback = dyn_cast<Function>(operand->stripPointerCasts());
        callback != nullptr && !callback->isDeclaration())
      targets_[&call].insert(callback);
  }
}

}  // namespace cleave::static_analysis
