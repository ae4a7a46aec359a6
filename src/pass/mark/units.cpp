#include "pass/mark/units.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/EscapeEnumerator.h>

#include <map>

#include "pass/mark/accessors.h"
#include "pass/mark/marks.h"
#include "pass/name/debug_names.h"
#include "pass/name/tables.h"
#include "pass/record/weight.h"

namespace cleave {

using namespace llvm;

namespace {

// The numbers of UnitSource in trace/core/trace.h, which is the tool's and too large to see from here.
enum Source : uint32_t {
  Annotated = 0,
  Method = 1,
  StructFunction = 2,
  PlainFunction = 3,
  NotAtomic = 4,
  UnitFor = 5,
  Round = kRoundSource,
  MayWait = kMayWaitSource
};

struct Unit {
  Source source;
  Value* object = nullptr;
  const DICompositeType* type = nullptr;
  Accessor accessor = Accessor::None;
  bool only_reads = false;  // and nobody asked for it by name
};

class UnitMarker {
 public:
  explicit UnitMarker(Module& module) : module_(module), context_(module.getContext()), weights_(module) {
    Type* number = Type::getInt32Ty(context_);
    begin_ = declare(kUnitBeginMark, {number, PointerType::get(context_, 0)});
    end_ = declare(kUnitEndMark, {number});
    read_annotations();
  }

  void run() {
    mark_annotated_stretches();
    std::vector<std::pair<Function*, Unit>> units;
    for (Function& function : module_) {
      if (std::optional<Unit> unit = unit_of(function)) units.push_back({&function, *unit});
    }
    for (auto& [function, unit] : units) mark(*function, unit);
    for (Function& function : module_) mark_waits(function);
  }

 private:
  FunctionCallee declare(const char* name, ArrayRef<Type*> parameters) {
    FunctionCallee callee =
        module_.getOrInsertFunction(name, FunctionType::get(Type::getVoidTy(context_), parameters, false));
    auto* function = cast<Function>(callee.getCallee());
    function->addFnAttr(Attribute::NoUnwind);
    function->addFnAttr(Attribute::WillReturn);
    function->addFnAttr(Attribute::NoMerge);
    if (parameters.size() > 1) function->addParamAttr(1, Attribute::NoCapture);
    return callee;
  }

  CallInst* call(IRBuilder<>& builder, FunctionCallee mark, const Unit& unit, ArrayRef<Value*> arguments) {
    CallInst* made = builder.CreateCall(mark, arguments);
    made->addFnAttr(Attribute::NoMerge);
    MemoryEffects hidden = MemoryEffects::inaccessibleMemOnly();
    if (unit.source == PlainFunction)
      made->setMemoryEffects(hidden);
    else if (unit.only_reads)
      made->setMemoryEffects(hidden | MemoryEffects::readOnly());
    return made;
  }

  // @llvm.global.annotations: {function, text, file, line, arguments} each.
  void read_annotations() {
    const GlobalVariable* all = module_.getNamedGlobal("llvm.global.annotations");
    const auto* list = all != nullptr ? dyn_cast<ConstantArray>(all->getInitializer()) : nullptr;
    if (list == nullptr) return;
    for (const Use& entry : list->operands()) {
      const auto* record = dyn_cast<ConstantStruct>(entry.get());
      if (record == nullptr || record->getNumOperands() < 2) continue;
      auto* function = dyn_cast<Function>(record->getOperand(0)->stripPointerCasts());
      StringRef text;
      if (function == nullptr || !getConstantStringInfo(record->getOperand(1), text)) continue;
      if (text == "cleave.atomic") annotated_[function] = Annotated;
      if (text == "cleave.not_atomic") annotated_[function] = NotAtomic;
    }
  }

  // CLEAVE_UNITFOR: an annotated parameter is annotated where it is put into its local variable.
  static Value* unitfor_parameter(Function& function) {
    for (Instruction& instruction : instructions_of(function)) {
      auto* call = dyn_cast<IntrinsicInst>(&instruction);
      StringRef text;
      if (call == nullptr || call->getIntrinsicID() != Intrinsic::var_annotation) continue;
      if (!getConstantStringInfo(call->getArgOperand(1), text) || text != "cleave.unitfor") continue;
      for (User* user : call->getArgOperand(0)->stripPointerCasts()->users()) {
        auto* store = dyn_cast<StoreInst>(user);
        if (store != nullptr && isa<Argument>(store->getValueOperand())) return store->getValueOperand();
      }
    }
    return nullptr;
  }

  static iterator_range<BasicBlock::iterator> instructions_of(Function& function) {
    BasicBlock& entry = function.getEntryBlock();
    return make_range(entry.begin(), entry.end());
  }

  static Argument* first_parameter(Function& function) {
    for (Argument& argument : function.args()) {
      if (argument.hasStructRetAttr()) continue;
      return argument.getType()->isPointerTy() && !argument.hasByValAttr() ? &argument : nullptr;
    }
    return nullptr;
  }

  static const DICompositeType* class_of_parameter(const Function& function, const Value* value) {
    const DISubprogram* debug = function.getSubprogram();
    unsigned number = cast<Argument>(value)->getArgNo();
    if (function.arg_size() > 0 && function.getArg(0)->hasStructRetAttr()) --number;
    DITypeRefArray types = debug->getType() != nullptr ? debug->getType()->getTypeArray() : nullptr;
    return number + 1 < types.size() ? as_class(pointee(types[number + 1])) : nullptr;
  }

  std::optional<Unit> unit_of(Function& function) {
    const DISubprogram* debug = function.getSubprogram();
    if (function.isDeclaration() || function.hasAvailableExternallyLinkage() || debug == nullptr)
      return std::nullopt;
    if (function.hasFnAttribute(Attribute::Naked) || function.isPresplitCoroutine()) return std::nullopt;
    const DISubprogram* declaration = debug->getDeclaration() ? debug->getDeclaration() : debug;
    const auto* owner = dyn_cast_or_null<DICompositeType>(declaration->getScope());
    bool has_this = owner != nullptr && is_instance_method(declaration);
    auto asked = annotated_.find(&function);
    if (asked != annotated_.end()) {
      if (has_this) return Unit{asked->second, first_parameter(function), owner};
      Argument* first = first_parameter(function);
      const DICompositeType* type = first != nullptr ? class_of_parameter(function, first) : nullptr;
      return Unit{asked->second, type != nullptr ? first : nullptr, type};
    }
    if (Value* parameter = unitfor_parameter(function)) {
      return Unit{UnitFor, parameter, class_of_parameter(function, parameter)};
    }
    if (is_system(debug->getFile()) || function.getName() == "main") return std::nullopt;
    const bool is_lambda = owner != nullptr && owner->getName().empty();
    // Whoever makes or destroys an object does not touch its fields: its constructors and destructors do,
    // those that nobody wrote too, however small they are.
    if (has_this && !is_lambda && begins_or_ends(declaration->getName(), owner)) {
      if (weights_.of(function) == 0) return std::nullopt;
      return Unit{Method, first_parameter(function), owner};
    }
    if (debug->isArtificial() || weights_.of(function) < 2) return std::nullopt;
    if (owner == nullptr) return unit_of_plain(function, *debug);
    if (is_lambda || !is_visible(declaration, owner))
      return Unit{PlainFunction, has_this ? first_parameter(function) : nullptr, owner};
    return Unit{Method, has_this ? first_parameter(function) : nullptr, owner, accessor_kind(function),
                weights_.only_reads(function)};
  }

  std::optional<Unit> unit_of_plain(Function& function, const DISubprogram& debug) {
    Argument* first = first_parameter(function);
    const DICompositeType* type = first != nullptr ? class_of_parameter(function, first) : nullptr;
    const bool is_c = !isCPlusPlus(static_cast<dwarf::SourceLanguage>(debug.getUnit()->getSourceLanguage()));
    if (is_c && (type != nullptr || is_public_in_file(function))) {
      return Unit{StructFunction, type != nullptr ? first : nullptr, type, accessor_kind(function),
                  weights_.only_reads(function)};
    }
    return Unit{PlainFunction, nullptr, nullptr, accessor_kind(function)};
  }

  // A C file takes the part of a class for its statics, and what other files may call the part of its public
  // methods. Not who only calls such functions, as a driver in the same file does; and not the routine of a
  // thread or a callback, which is known by its address.
  static bool is_public_in_file(const Function& function) {
    if (function.hasLocalLinkage() || function.hasAddressTaken()) return false;
    auto is_static = [](const Use& operand) {
      const auto* variable = operand->getType()->isPointerTy()
                                 ? dyn_cast<GlobalVariable>(getUnderlyingObject(operand.get(), 0))
                                 : nullptr;
      return variable != nullptr && variable->hasLocalLinkage() && !variable->isConstant();
    };
    return any_of(instructions(function), [&](const Instruction& instruction) {
      const auto* call = dyn_cast<CallBase>(&instruction);
      if (call != nullptr && only_locks(*call)) return false;
      return instruction.mayReadOrWriteMemory() && any_of(instruction.operands(), is_static);
    });
  }

  // Constructors and destructors: Order, Order<int>, ~Order.
  static bool begins_or_ends(StringRef name, const DICompositeType* owner) {
    return name.starts_with("~") || name.split('<').first == owner->getName().split('<').first;
  }

  static bool isCPlusPlus(dwarf::SourceLanguage language) { return dwarf::isCPlusPlus(language); }

  static bool is_instance_method(const DISubprogram* declaration) {
    if (declaration->getType() == nullptr) return false;
    DITypeRefArray types = declaration->getType()->getTypeArray();
    return types.size() > 1 && types[1] != nullptr && (types[1]->getFlags() & DINode::FlagObjectPointer);
  }

  static bool is_visible(const DISubprogram* declaration, const DICompositeType* owner) {
    switch (declaration->getFlags() & DINode::FlagAccessibility) {
      case DINode::FlagPublic:
      case DINode::FlagProtected:
        return true;
      case DINode::FlagPrivate:
        return false;
      default:
        return owner->getTag() != dwarf::DW_TAG_class_type;
    }
  }

  // The unit's number as an operand.
  Value* describe(StringRef name, Source source, const DISubprogram* function, const DICompositeType* type,
                  Accessor accessor = Accessor::None) {
    Type* number = Type::getInt32Ty(context_);
    NamedMDNode* list = module_.getOrInsertNamedMetadata(kUnitList);
    list->addOperand(MDNode::get(
        context_, {MDString::get(context_, name), ConstantAsMetadata::get(ConstantInt::get(number, source)),
                   const_cast<DISubprogram*>(function), const_cast<DICompositeType*>(type),
                   ConstantAsMetadata::get(ConstantInt::get(number, static_cast<uint32_t>(accessor)))}));
    return ConstantInt::get(number, list->getNumOperands() - 1);
  }

  void mark(Function& function, const Unit& unit) {
    const DISubprogram* debug = function.getSubprogram();
    if (unit.source == Method || unit.source == StructFunction || unit.source == PlainFunction)
      mark_rounds(function, *debug);
    Value* number = describe(qualified_name(debug), unit.source, debug, unit.type, unit.accessor);
    BasicBlock& entry = function.getEntryBlock();
    IRBuilder<> builder(&*entry.getFirstNonPHIOrDbgOrAlloca());
    auto* here = DILocation::get(context_, debug->getScopeLine(), 0, const_cast<DISubprogram*>(debug));
    builder.SetCurrentDebugLocation(here);
    Value* object =
        unit.object != nullptr ? unit.object : ConstantPointerNull::get(PointerType::get(context_, 0));
    call(builder, begin_, unit, {number, object});
    EscapeEnumerator ways_out(function, "cleave.unit.end", !function.doesNotThrow());
    while (IRBuilder<>* at = ways_out.Next()) {
      CallInst* end = call(*at, end_, unit, {number});
      if (!end->getDebugLoc()) end->setDebugLoc(here);
    }
  }

  // A loop that may call accessors, or takes locks: who does so round after round need not be atomic over all
  // of them.
  void mark_rounds(Function& function, const DISubprogram& debug) {
    mark_loops(function, debug, Round, [&](const Loop& loop) {
      return calls_in(loop, [&](const CallBase& call) { return may_access(call) || lockers_.locks(call); });
    });
  }

  // The innermost loops in which a thread may wait on a condition variable, the library's `wait` with a
  // predicate among them: what it did before need not be atomic with what it does after, whether it has to
  // wait this time or not.
  void mark_waits(Function& function) {
    const DISubprogram* debug = function.getSubprogram();
    if (function.isDeclaration() || debug == nullptr) return;
    mark_meetings(function, *debug);
    mark_loops(function, *debug, MayWait, [](const Loop& loop) {
      return calls_in(loop, waits) &&
             none_of(loop.getSubLoops(), [](const Loop* inner) { return calls_in(*inner, waits); });
    });
  }

  // Barriers, latches and semaphores of the standard library, which are made of atomics: threads wait for one
  // another there too.
  void mark_meetings(Function& function, const DISubprogram& debug) {
    Value* number = nullptr;
    for (Instruction& instruction : make_early_inc_range(instructions(function))) {
      auto* meeting = dyn_cast<CallBase>(&instruction);
      if (meeting == nullptr || !meets(*meeting)) continue;
      if (number == nullptr) number = describe(qualified_name(&debug), MayWait, &debug, nullptr);
      IRBuilder<> builder(meeting);
      call(builder, begin_, {PlainFunction},
           {number, ConstantPointerNull::get(PointerType::get(context_, 0))});
      call(builder, end_, {PlainFunction}, {number});
    }
  }

  static bool meets(const CallBase& call) {
    const Function* callee = call.getCalledFunction();
    if (callee == nullptr) return false;
    StringRef name = callee->getName();
    if (!name.starts_with("_ZNSt") && !name.starts_with("_ZNKSt")) return false;
    if (name.contains("7barrierI") || name.contains("5latch"))
      return name.contains("15arrive_and_wait") || name.contains("E4wait") || name.contains("latch4wait");
    return name.contains("18counting_semaphoreI") && name.contains("7acquire");
  }

  template <typename Test>
  static bool calls_in(const Loop& loop, Test test) {
    return any_of(loop.blocks(), [&](const BasicBlock* block) {
      return any_of(*block, [&](const Instruction& instruction) {
        const auto* call = dyn_cast<CallBase>(&instruction);
        return call != nullptr && test(*call);
      });
    });
  }

  static bool waits(const CallBase& call) {
    const Function* callee = call.getCalledFunction();
    if (callee == nullptr) return false;
    StringRef name = callee->getName();
    for (const char* function : {"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait",
                                 "cnd_wait", "cnd_timedwait"})
      if (name == function) return true;
    return name.starts_with("_ZNSt") && name.contains("condition_variable") && name.contains("wait");
  }

  template <typename Test>
  void mark_loops(Function& function, const DISubprogram& debug, Source source, Test wanted) {
    if (!has_loop(function)) return;
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    Value* number = nullptr;
    for (Loop* loop : loops.getLoopsInPreorder()) {
      BasicBlock* header = loop->getHeader();
      if (header->isEHPad() || !wanted(*loop)) continue;
      if (number == nullptr) number = describe(qualified_name(&debug), source, &debug, nullptr);
      IRBuilder<> builder(header, header->getFirstInsertionPt());
      builder.SetCurrentDebugLocation(
          DILocation::get(context_, debug.getScopeLine(), 0, const_cast<DISubprogram*>(&debug)));
      call(builder, begin_, {PlainFunction},
           {number, ConstantPointerNull::get(PointerType::get(context_, 0))});
      call(builder, end_, {PlainFunction}, {number});
    }
  }

  void mark_annotated_stretches() {
    replace_calls("__cleave_annotation_begin", [&](CallInst& old, IRBuilder<>& builder) {
      StringRef name;
      if (!getConstantStringInfo(old.getArgOperand(0), name)) name = "unit";
      Value* number = describe(name, Annotated, old.getFunction()->getSubprogram(), nullptr);
      call(builder, begin_, {Annotated}, {number, ConstantPointerNull::get(PointerType::get(context_, 0))});
    });
    replace_calls("__cleave_annotation_end", [&](CallInst&, IRBuilder<>& builder) {
      call(builder, end_, {Annotated}, {builder.getInt32(UINT32_MAX)});
    });
  }

  template <typename Replace>
  void replace_calls(StringRef name, Replace replace) {
    Function* function = module_.getFunction(name);
    if (function == nullptr) return;
    for (User* user : make_early_inc_range(function->users())) {
      auto* call = dyn_cast<CallInst>(user);
      if (call == nullptr || call->getCalledOperand() != function) continue;
      IRBuilder<> builder(call);
      replace(*call, builder);
      call->eraseFromParent();
    }
  }

  Module& module_;
  LLVMContext& context_;
  Weights weights_;
  Lockers lockers_;
  FunctionCallee begin_, end_;
  std::map<const Function*, Source> annotated_;
};

}  // namespace

void mark_units(Module& module) { UnitMarker(module).run(); }

}  // namespace cleave
