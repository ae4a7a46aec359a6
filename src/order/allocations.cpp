#include "order/allocations.h"

#include <algorithm>

namespace cleave::order {

Allocations::Earlier Allocations::step(EventNumber e, const Event& event) {
  const uint32_t thread = raw(event.thread);
  if (is_access(event.kind)) {
    if (event.object >= block_of_.size()) block_of_.resize(trace_.variables().size(), kUnknown);
    uint32_t& block = block_of_[event.object];
    // A variable lives as long as its block, so the first answer holds.
    if (block == kUnknown) block = find_block(event.variable());
    if (block == kNowhere || blocks_[block - kFirst].thread == thread) return {};
    return before_use(blocks_[block - kFirst], thread);
  }
  const Position at = positions_.of(e);
  switch (event.kind) {
    case EventKind::Acquire:
      take(thread, {event.object, false});
      break;
    case EventKind::AcquireShared:
      take(thread, {event.object, true});
      break;
    case EventKind::Release:
    case EventKind::ReleaseShared:
      give(thread, event.object, at);
      break;
    case EventKind::Wait:
      give(thread, event.object2, at);
      break;
    case EventKind::Wake:
      take(thread, {event.object2, false});
      break;
    case EventKind::Alloc:
      allocate(event, at);
      break;
    case EventKind::Free:
      free(event);
      break;
    default:
      break;
  }
  return {};
}

void Allocations::give(uint32_t thread, uint32_t lock, Position at) {
  std::vector<Use>& held = held_[thread];
  auto last = std::find_if(held.rbegin(), held.rend(), [lock](const Use& use) { return use.lock == lock; });
  if (last == held.rend()) return;
  held.erase(std::next(last).base());
  given_[key(thread, lock)].push_back(at);
}

void Allocations::allocate(const Event& event, Position at) {
  const uint32_t thread = raw(event.thread), block = static_cast<uint32_t>(blocks_.size()) + kFirst;
  const uint64_t address = trace_.object(event.allocation()).address;
  blocks_.push_back({thread, at, event.value, held_[thread]});
  of_object_[event.object] = block;
  if (address != 0) at_address_[address] = block;
}

void Allocations::free(const Event& event) {
  of_object_.erase(event.object);
  at_address_.erase(trace_.object(event.allocation()).address);
}

uint32_t Allocations::find_block(VariableId id) const {
  const VariableInfo& variable = trace_.variable(id);
  if (variable.address == 0) {  // of a text trace
    auto found =
        variable.object == cleave::kNone<ObjectId> ? of_object_.end() : of_object_.find(raw(variable.object));
    return found == of_object_.end() ? kNowhere : found->second;
  }
  auto after = at_address_.upper_bound(variable.address);
  if (after == at_address_.begin()) return kNowhere;
  const auto& [address, block] = *std::prev(after);
  return variable.address - address < blocks_[block - kFirst].bytes ? block : kNowhere;
}

// Of two sections of one lock that are not both shared, the one with the allocation is over before the other
// begins.
Allocations::Earlier Allocations::before_use(const Block& block, uint32_t thread) const {
  Earlier earlier{block.thread, block.at};
  for (const Use& theirs : block.held) {
    for (const Use& ours : held_[thread]) {
      if (ours.lock != theirs.lock || (ours.shared && theirs.shared)) continue;
      auto given = given_.find(key(block.thread, theirs.lock));
      if (given == given_.end()) continue;
      auto first = std::upper_bound(given->second.begin(), given->second.end(), block.at);
      if (first != given->second.end()) earlier.upto = std::max(earlier.upto, *first);
    }
  }
  return earlier;
}

}  // namespace cleave::order
