// Addresses: computed where everything in them is known; where an array's index depends on symbols, a store
// may go to any element of it (the paper's a[i]), which the solver sees as a store that moves.
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>

#include <algorithm>

#include "feasibility/lift/walker.h"

namespace cleave {

using namespace llvm;

ThreadCursor Walker::widened(const ThreadCursor& index) {
  if (!index.known() || index.width == 64) return index;
  ThreadCursor wide = index;
  wide.width = 64;
  wide.expression = pool().make(index.width < 64 ? Op::SignExtend : Op::Extract, 64, index.expression);
  wide.concrete = static_cast<uint64_t>(sign_extend(index.concrete, index.width));
  return wide;
}

// One index that depends on symbols makes the address that of an element; with several, or on top of an
// address that depends on symbols itself, it is an address like any other.
ThreadCursor Walker::element_address(GetElementPtrInst& gep) {
  const ThreadCursor base = scalar(gep.getPointerOperand());
  const bool base_known = base.known();
  ThreadCursor address = base;
  std::vector<Element> varying;
  Type* container = nullptr;  // what the next index selects from; the first steps over whole objects
  for (auto it = gep_type_begin(gep); it != gep_type_end(gep); ++it) {
    ThreadCursor index = scalar(it.getOperand());
    if (StructType* structure = it.getStructTypeOrNull()) {
      container = it.getIndexedType();
      uint64_t offset = layout()
                            .getStructLayout(structure)
                            ->getElementOffset(static_cast<unsigned>(index.concrete))
                            .getFixedValue();
      if (base_known) address = make(Op::Add, 64, address, known(offset, 64));
      continue;
    }
    const uint64_t stride = it.getSequentialElementStride(layout()).getFixedValue();
    auto* array = dyn_cast_or_null<ArrayType>(container);
    container = it.getIndexedType();
    if (index.known() && !index.invented && !pool().is_constant(index.expression)) {
      varying.push_back({widened(index), array == nullptr ? 0 : array->getNumElements(), stride});
    } else if (!index.known()) {
      pin(index);
    }
    if (base_known)
      address = make(Op::Add, 64, address, make(Op::Multiply, 64, widened(index), known(stride, 64)));
  }
  ThreadCursor result = base_known ? address : ThreadCursor{.width = 64};
  const bool base_fixed =
      base.element == 0 && (!base_known || !base.invented);  // by its value, or kept there by a pin
  result.element = varying.empty() ? base.element : 0;
  if (varying.size() == 1 && base_fixed && varying[0].stride != 0) {
    varying[0].base = base;
    elements_.push_back(varying[0]);
    result.element = static_cast<uint32_t>(elements_.size() - 1);
  } else if (!varying.empty() && !base_known) {
    pin(base);
    for (const Element& element : varying) pin(element.index);
  }
  return result;
}

// An access with this pointer went to `address`: whatever the pointer depends on keeps it there.
void Walker::pin_address(const ThreadCursor& pointer, uint64_t address) {
  if (pointer.known() && !pointer.invented) {
    ++context_.report.values_compared;
    if (pointer.concrete != address) mismatch(pointer.concrete, address);
  }
  pin(pointer);
}

// The same for a store, which may be one that moves. `events` are its events.
void Walker::place_store(const ThreadCursor& pointer, uint64_t address, uint32_t bytes,
                         const std::vector<uint32_t>& events) {
  if (pointer.element == 0 || events.size() != 1 || !context_.stores_move)
    return pin_address(pointer, address);
  if (pointer.known() && pointer.concrete != address) return pin_address(pointer, address);
  const Element element = elements_[pointer.element];
  // One value that was there before the threads were: it does not change, and neither does the index.
  const SymbolId only = pool().only_symbol(element.index.expression);
  const Event* read = only == kNone<SymbolId>
                          ? nullptr
                          : &context_.recorded.trace.event(context_.symbolic.symbol(only).event);
  if (read != nullptr && is_access(read->kind) && context_.settled[read->object])
    return pin_address(pointer, address);
  std::optional<Range> range = range_of(element, address, bytes);
  if (!range) return pin_address(pointer, address);
  ++context_.report.stores_moving;
  pin(element.base);
  ThreadCursor above = make(Op::Subtract, 64, element.index, known(range->first, 64));
  assume(make(Op::UnsignedLess, 1, above, known(range->count, 64)), true);
  for (const MovingStore::Place& place : range->places) context_.moved_over.insert(raw(place.variable));
  context_.symbolic.move(id_of<EventIndex>(events[0]), {element.index.expression, std::move(range->places)});
}

// The indexes that stay within the array: as many as its type says; else the elements on both sides that the
// trace has accesses of, without a gap. Nothing when an element is accessed in parts or with its neighbour,
// or when no other thread touches the array (then the pinned index costs nothing and the solver need not
// know).
std::optional<Walker::Range> Walker::range_of(const Element& element, uint64_t address, uint32_t bytes) {
  constexpr uint64_t kMostElements = 4096;
  if (element.stride < bytes) return std::nullopt;
  const uint64_t index = element.index.concrete;
  auto plain = [&](uint64_t at) -> std::optional<VariableId> {  // the variable that is just this element
    auto it = context_.by_address.find(at);
    if (it == context_.by_address.end() || it->second == kNone<VariableId>) return std::nullopt;
    if (context_.recorded.trace.variable(it->second).size != bytes) return std::nullopt;
    return it->second;
  };
  Range range;
  if (index < element.count && element.count <= kMostElements) {
    range.first = 0;
    range.count = element.count;
  } else {
    uint64_t below = 0, above = 0;
    while (below + above < kMostElements && plain(address - (below + 1) * element.stride)) ++below;
    while (below + above < kMostElements && plain(address + (above + 1) * element.stride)) ++above;
    range.first = index - below;
    range.count = below + above + 1;
  }
  const uint64_t begin = address - (index - range.first) * element.stride,
                 end = begin + range.count * element.stride;
  bool several_threads = false;
  auto it = context_.by_address.upper_bound(begin);
  if (it != context_.by_address.begin()) --it;
  for (; it != context_.by_address.end() && it->first < end; ++it) {
    if (it->second == kNone<VariableId>) return std::nullopt;
    const VariableInfo& variable = context_.recorded.trace.variable(it->second);
    if (it->first + variable.size <= begin) continue;
    if (it->first < begin) return std::nullopt;
    const uint64_t within = (it->first - begin) % element.stride;
    if (within == 0 && variable.size == bytes) {
      range.places.push_back({it->second, range.first + (it->first - begin) / element.stride});
      several_threads = several_threads || context_.shared[raw(it->second)] ||
                        context_.owner[raw(it->second)] != raw(thread_);
    } else if (within < bytes || within + variable.size > element.stride) {
      return std::nullopt;
    }
  }
  if (!several_threads || !plain(address)) return std::nullopt;
  return range;
}

}  // namespace cleave
