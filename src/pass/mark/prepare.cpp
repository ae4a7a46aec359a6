#include "pass/mark/prepare.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "pass/mark/marks.h"

namespace cleave {

using namespace llvm;

namespace {

constexpr uint64_t kLargestInline = 64;  // bytes; beyond that a hook call costs less than its words

void hoist_allocas(Function& function) {
  BasicBlock& entry = function.getEntryBlock();
  SmallVector<AllocaInst*, 16> late;
  bool seen_other = false;
  for (Instruction& instruction : entry) {
    auto* alloca = dyn_cast<AllocaInst>(&instruction);
    if (alloca == nullptr)
      seen_other = true;
    else if (seen_other && isa<ConstantInt>(alloca->getArraySize()))
      late.push_back(alloca);
  }
  auto at = entry.getFirstNonPHIOrDbgOrAlloca();
  for (AllocaInst* alloca : late) alloca->moveBefore(entry, at);
}

void split_invoke_edges(Function& function) {
  SmallVector<InvokeInst*, 8> invokes;
  for (BasicBlock& block : function) {
    if (auto* invoke = dyn_cast<InvokeInst>(block.getTerminator())) invokes.push_back(invoke);
  }
  for (InvokeInst* invoke : invokes) {
    if (invoke->getNormalDest()->getSinglePredecessor() != nullptr) continue;
    SplitEdge(invoke->getParent(), invoke->getNormalDest());
  }
}

// All loads before all stores, so memmove is right too. Pieces are at most eight bytes and named like the
// copy.
void expand(AnyMemIntrinsic& memory, uint64_t bytes, const Names& names) {
  IRBuilder<> builder(&memory);
  builder.SetCurrentDebugLocation(memory.getDebugLoc());
  auto* transfer = dyn_cast<AnyMemTransferInst>(&memory);
  struct Part {
    uint64_t offset;
    unsigned width;
    Value* value;
  };
  SmallVector<Part, 8> parts;
  for (uint64_t at = 0; at < bytes;) {
    unsigned width = 8;
    while (width > bytes - at) width /= 2;
    parts.push_back({at, width, nullptr});
    at += width;
  }
  auto part_at = [&](Value* pointer, uint64_t offset) {
    return offset == 0 ? pointer : builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), pointer, offset);
  };
  LLVMContext& context = memory.getContext();
  auto name_it = [&](Instruction* access, const AccessName& whole, const Part& part) {
    MDNode* place = place_metadata(context, Names::part(context, whole, part.offset, part.width));
    // A fill that the optimiser made out of several stores stands where one of them stood: no guess by its
    // position.
    if (place == nullptr && transfer == nullptr) place = unnamed_place(context);
    access->setMetadata(kPlaceMetadata, place);
  };
  AccessName source = transfer != nullptr ? names.of(memory, transfer->getRawSource(), false) : AccessName{};
  for (Part& part : parts) {
    if (transfer != nullptr) {
      LoadInst* load = builder.CreateAlignedLoad(
          builder.getIntNTy(part.width * 8), part_at(transfer->getRawSource(), part.offset),
          commonAlignment(transfer->getSourceAlign().valueOrOne(), part.offset));
      name_it(load, source, part);
      part.value = load;
    } else {
      Value* byte = cast<AnyMemSetInst>(memory).getValue();
      Value* ones =
          ConstantInt::get(builder.getIntNTy(part.width * 8), APInt::getSplat(part.width * 8, APInt(8, 1)));
      part.value = builder.CreateMul(builder.CreateZExt(byte, ones->getType()), ones);
    }
  }
  AccessName target = names.of(memory, memory.getRawDest(), true);
  for (const Part& part : parts) {
    name_it(builder.CreateAlignedStore(part.value, part_at(memory.getRawDest(), part.offset),
                                       commonAlignment(memory.getDestAlign().valueOrOne(), part.offset)),
            target, part);
  }
  memory.eraseFromParent();
}

void expand_small_memory(Function& function, const Names& names) {
  SmallVector<std::pair<AnyMemIntrinsic*, uint64_t>, 8> small;
  for (BasicBlock& block : function) {
    for (Instruction& instruction : block) {
      auto* memory = dyn_cast<AnyMemIntrinsic>(&instruction);
      if (memory == nullptr || memory->isVolatile() || isa<AtomicMemIntrinsic>(memory)) continue;
      if (memory->getRawDest()->getType()->getPointerAddressSpace() != 0) continue;
      auto* transfer = dyn_cast<AnyMemTransferInst>(memory);
      if (transfer != nullptr && transfer->getRawSource()->getType()->getPointerAddressSpace() != 0) continue;
      auto* length = dyn_cast<ConstantInt>(memory->getLength());
      if (length != nullptr && length->getValue().ule(kLargestInline))
        small.push_back({memory, length->getZExtValue()});
    }
  }
  for (auto [memory, bytes] : small) expand(*memory, bytes, names);
}

}  // namespace

void prepare(Function& function, const Names& names) {
  hoist_allocas(function);
  split_invoke_edges(function);
  expand_small_memory(function, names);
}

}  // namespace cleave
