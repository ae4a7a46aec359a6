#include "pass/name/names.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>

#include "pass/mark/marks.h"
#include "pass/name/debug_names.h"

namespace cleave {

using namespace llvm;

namespace {

AccessName from_metadata(const MDNode& node) {
  AccessName name;
  if (const auto* text = dyn_cast_or_null<MDString>(node.getOperand(0))) name.variable = text->getString();
  if (const auto* text = dyn_cast_or_null<MDString>(node.getOperand(1))) name.type = text->getString();
  name.object = dyn_cast_or_null<DICompositeType>(node.getOperand(2));
  name.offset = mdconst::extract<ConstantInt>(node.getOperand(3))->getZExtValue();
  name.through_own = !mdconst::extract<ConstantInt>(node.getOperand(4))->isZero();
  return name;
}

// Places of the two ends of a copy are kept apart.
const char* metadata_kind(const Instruction& access, bool write) {
  return isa<AnyMemTransferInst>(access) && !write ? kSourcePlaceMetadata : kPlaceMetadata;
}

StringRef kept(LLVMContext& context, const std::string& text) {
  return MDString::get(context, text)->getString();
}

MDNode* metadata_of(LLVMContext& context, const AccessName& name) {
  auto number = [&](uint64_t value) {
    return ConstantAsMetadata::get(ConstantInt::get(Type::getInt64Ty(context), value));
  };
  return MDNode::get(
      context, {MDString::get(context, name.variable), MDString::get(context, name.type),
                const_cast<DICompositeType*>(name.object), number(name.offset), number(name.through_own)});
}

}  // namespace

MDNode* place_metadata(LLVMContext& context, const AccessName& name) {
  const bool empty = name.variable.empty() && name.object == nullptr && !name.through_own;
  return empty ? nullptr : metadata_of(context, name);
}

MDNode* unnamed_place(LLVMContext& context) { return metadata_of(context, {}); }

void Names::attach(Instruction& access, const Value* pointer, uint64_t bytes, bool write, ThroughOwn& own) {
  std::optional<Place> place = places_->of(pointer);
  const bool through_own = own.reaches(pointer);
  if (!place && !through_own) return;
  FieldName field = place ? field_name(*place, bytes) : FieldName();
  MDNode* node =
      place_metadata(access.getContext(), {field.text, field.type != nullptr ? spelled(field.type) : "",
                                           field.outer, field.outer_offset, through_own});
  if (node == nullptr) return;
  access.setMetadata(metadata_kind(access, write), node);
  const DILocation* location = access.getDebugLoc().get();
  // A local variable that the optimiser takes away must not leave its name to what was reached through it.
  if (!place || location == nullptr || isa<AllocaInst>(getUnderlyingObject(pointer))) return;
  auto [at, fresh] = by_position_.try_emplace(
      {location->getScope(), location->getLine(), location->getColumn(), write}, node);
  if (!fresh && at->second != node) at->second = nullptr;  // several names in one place: no guess
}

void Names::attach_call(const CallBase& call, ThroughOwn& own) {
  if (call.getDebugLoc() && own.called_on(call)) calls_through_own.push_back(call.getDebugLoc().get());
  const Function* callee = call.getCalledFunction();
  const DISubprogram* debug = callee != nullptr ? callee->getSubprogram() : nullptr;
  const DILocation* location = call.getDebugLoc().get();
  if (debug == nullptr || location == nullptr || !is_system(debug->getFile()) || call.arg_empty()) return;
  const Value* object = call.getArgOperand(call.hasStructRetAttr() && call.arg_size() > 1 ? 1 : 0);
  if (!object->getType()->isPointerTy()) return;
  std::optional<Place> place = places_->of(object);
  if (!place || is_system(location->getScope()->getSubprogram()->getFile())) return;
  FieldName field = field_name(*place, 0);
  if (field.text.empty()) return;
  MDNode* node =
      place_metadata(call.getContext(), {field.text, spelled(field.type), field.outer, field.outer_offset});
  auto [at, fresh] =
      by_call_.try_emplace({location->getScope(), location->getLine(), location->getColumn(), false}, node);
  if (!fresh && at->second != node) at->second = nullptr;
}

// A field of the system library's own class, inlined into the user's code: what the user calls the object.
// Only an atomic is known to lie in it by value.
AccessName Names::by_caller(const Instruction& access, AccessName name) const {
  const DILocation* location = access.getDebugLoc().get();
  if (name.object == nullptr || !is_system(name.object->getFile())) return name;
  while (location != nullptr && is_system(location->getScope()->getSubprogram()->getFile())) {
    location = location->getInlinedAt();
  }
  if (location == nullptr) return name;
  auto known = by_call_.find({location->getScope(), location->getLine(), location->getColumn(), false});
  if (known == by_call_.end() || known->second == nullptr) return name;
  AccessName caller = from_metadata(*known->second);
  name.variable = caller.variable;
  if (!name.object->getName().starts_with("atomic<") && !name.object->getName().starts_with("__atomic_"))
    return name;
  name.type = caller.type;
  name.object = caller.object;
  name.offset = caller.offset;
  return name;
}

void Names::take_annotation(Instruction& call) {
  auto& intrinsic = cast<IntrinsicInst>(call);
  StringRef text;
  if (getConstantStringInfo(intrinsic.getArgOperand(1), text) && text.starts_with("cleave.")) {
    if (std::optional<Place> place = places_->of(intrinsic.getArgOperand(0))) {
      FieldName name = field_name(*place, 0);
      if (name.owner != nullptr) annotations.push_back({name.owner, name.owner_offset, text.str()});
    }
    intrinsic.replaceAllUsesWith(intrinsic.getArgOperand(0));
    intrinsic.eraseFromParent();
  }
}

void Names::find(Module& module) {
  places_ = std::make_shared<Places>(module);
  by_position_.clear();
  by_call_.clear();
  std::vector<Instruction*> field_annotations;
  for (Function& function : module) {
    ThroughOwn own(function);
    for (BasicBlock& block : function) {
      for (Instruction& instruction : block) {
        auto* call = dyn_cast<IntrinsicInst>(&instruction);
        if (call != nullptr && call->getIntrinsicID() == Intrinsic::ptr_annotation)
          field_annotations.push_back(call);
        else
          find(instruction, own);
      }
    }
  }
  for (Instruction* call : field_annotations) take_annotation(*call);
}

void Names::find(Instruction& instruction, ThroughOwn& own) {
  const DataLayout& layout = instruction.getModule()->getDataLayout();
  if (auto* load = dyn_cast<LoadInst>(&instruction)) {
    attach(*load, load->getPointerOperand(), layout.getTypeStoreSize(load->getType()), false, own);
  } else if (auto* store = dyn_cast<StoreInst>(&instruction)) {
    attach(*store, store->getPointerOperand(), layout.getTypeStoreSize(store->getValueOperand()->getType()),
           true, own);
  } else if (isa<AtomicRMWInst>(instruction) || isa<AtomicCmpXchgInst>(instruction)) {
    attach(instruction, instruction.getOperand(0),
           layout.getTypeStoreSize(instruction.getOperand(1)->getType()), true, own);
  } else if (auto* memory = dyn_cast<AnyMemIntrinsic>(&instruction)) {
    attach(*memory, memory->getRawDest(), 0, true, own);
    if (auto* copy = dyn_cast<AnyMemTransferInst>(memory)) attach(*copy, copy->getRawSource(), 0, false, own);
  } else if (auto* called = dyn_cast<CallBase>(&instruction)) {
    attach_call(*called, own);
  }
}

AccessName Names::part(LLVMContext& context, AccessName whole, uint64_t offset, uint64_t bytes) {
  if (whole.object == nullptr) return whole;
  whole.offset += offset;
  if (whole.offset >= whole.object->getSizeInBits() / 8) return whole;
  FieldName name = field_name({whole.object, whole.offset, ""}, bytes);
  whole.variable = kept(context, name.text);
  whole.type = kept(context, spelled(name.type));
  return whole;
}

AccessName Names::by_tag(const Instruction& access) const {
  // A struct-path tag {base type, access type, offset} names class and offset.
  const MDNode* tag = access.getMetadata(LLVMContext::MD_tbaa);
  if (places_ == nullptr || tag == nullptr || tag->getNumOperands() < 3 ||
      tag->getOperand(0) == tag->getOperand(1))
    return {};
  const auto* base = dyn_cast_or_null<MDNode>(tag->getOperand(0));
  if (base == nullptr || base->getNumOperands() == 0) return {};
  const auto* text = dyn_cast_or_null<MDString>(base->getOperand(0));
  const auto* offset = mdconst::dyn_extract<ConstantInt>(tag->getOperand(2));
  const DICompositeType* type = text != nullptr ? places_->class_named(text->getString()) : nullptr;
  if (type == nullptr || offset == nullptr) return {};
  return part(access.getContext(), {{}, {}, type, 0}, offset->getZExtValue(), 0);
}

AccessName Names::of(const Instruction& access, const Value* pointer, bool write) const {
  const MDNode* node = access.getMetadata(metadata_kind(access, write));
  if (node == nullptr) return guessed(access, pointer, write);
  AccessName known = from_metadata(*node);
  const bool only_flag = known.through_own && known.variable.empty() && known.object == nullptr;
  if (!only_flag) return by_caller(access, known);
  known = guessed(access, pointer, write);
  known.through_own = true;
  return known;
}

// Of an access that has not kept its name.
AccessName Names::guessed(const Instruction& access, const Value* pointer, bool write) const {
  // A fill that the optimiser made out of several stores stands where one of them stood, and starts
  // elsewhere.
  const DILocation* location = isa<AnyMemSetInst>(access) ? nullptr : access.getDebugLoc().get();
  if (location != nullptr) {
    auto known = by_position_.find({location->getScope(), location->getLine(), location->getColumn(), write});
    if (known != by_position_.end() && known->second != nullptr)
      return by_caller(access, from_metadata(*known->second));
  }
  if (AccessName name = by_tag(access); name.object != nullptr) return by_caller(access, name);
  const auto* variable = dyn_cast<GlobalVariable>(getUnderlyingObject(pointer));
  std::optional<Place> place =
      places_ != nullptr && variable != nullptr ? places_->of(variable) : std::nullopt;
  if (!place) return {};
  APInt offset(64, 0);
  const Value* base = pointer->stripAndAccumulateConstantOffsets(access.getModule()->getDataLayout(), offset,
                                                                 /*AllowNonInbounds=*/true);
  place->offset = offset.getZExtValue();
  // Indexed by something unknown: only an array of one kind of thing says what is there.
  if (base != variable &&
      (as_array(place->type) == nullptr || as_class(as_array(place->type)->getBaseType()) != nullptr)) {
    return {};
  }
  FieldName name = field_name(*place, 0);
  LLVMContext& context = access.getContext();
  return {kept(context, name.text), kept(context, spelled(name.type)), name.outer, name.outer_offset};
}

}  // namespace cleave
