#include "judge/version_chain.h"

#include <algorithm>

namespace cleave::judge {
namespace {

constexpr int kLinks = 512;
constexpr size_t kLooked = 4096;  // accesses of one value; beyond that nothing is concluded

}  // namespace

Effect VersionChain::effect_of(BlockId block, EventIndex access) const {
  const auto& own = case_.memory.values_of(variable_).by_thread.at(case_.trace.event(access).thread);
  auto begin = std::lower_bound(own.begin(), own.end(), access);
  while (begin != own.begin() && case_.blocks.of(*(begin - 1)) == block) --begin;
  Effect effect;
  if (reads(case_.trace.event(*begin).kind)) effect.needs = case_.memory.value_read(*begin);
  for (auto it = begin; it != own.end() && case_.blocks.of(*it) == block; ++it) {
    if (writes(case_.trace.event(*it).kind)) effect.leaves = case_.trace.event(*it).value;
  }
  return effect;
}

std::optional<EventIndex> VersionChain::access_in(BlockId block) const {
  const Block& span = case_.blocks.block(block);
  const auto& by_thread = case_.memory.values_of(variable_).by_thread;
  auto own = by_thread.find(span.thread);
  if (own == by_thread.end()) return std::nullopt;
  auto it = std::lower_bound(own->second.begin(), own->second.end(), span.first);
  if (it == own->second.end() || *it > span.last) return std::nullopt;
  return *it;
}

std::optional<EventIndex> VersionChain::only_leaver(uint64_t value) const {
  const auto& written = case_.memory.values_of(variable_).written;
  auto it = written.find(value);
  if (it == written.end() || it->second.size() > kLooked) return std::nullopt;
  std::optional<EventIndex> leaver;
  for (EventIndex write : it->second) {
    const BlockId block = case_.blocks.of(write);
    if (effect_of(block, write).leaves != value) continue;
    if (leaver && case_.blocks.of(*leaver) != block) return std::nullopt;
    leaver = write;
  }
  return leaver;
}

bool VersionChain::anyone_leaves(uint64_t value) const {
  const auto& written = case_.memory.values_of(variable_).written;
  auto it = written.find(value);
  if (it == written.end()) return false;
  if (it->second.size() > kLooked) return true;
  return std::any_of(it->second.begin(), it->second.end(), [&](EventIndex write) {
    return effect_of(case_.blocks.of(write), write).leaves == value;
  });
}

bool VersionChain::already_replaced(BlockId earlier, BlockId later) const {
  const std::optional<EventIndex> replacing = access_in(earlier), reading = access_in(later);
  if (!replacing || !reading) return false;
  const Effect effect = effect_of(earlier, *replacing);
  const std::optional<uint64_t> wanted = effect_of(later, *reading).needs;
  if (!effect.leaves || !wanted || effect.leaves == wanted) return false;
  if (*wanted == case_.memory.initial(variable_) || !only_leaver(*wanted)) return false;
  std::optional<uint64_t> value = effect.needs;
  for (int link = 0; value && link < kLinks; ++link) {
    if (value == wanted) return true;
    if (*value == case_.memory.initial(variable_)) return false;
    const std::optional<EventIndex> leaver = only_leaver(*value);
    if (!leaver || case_.blocks.of(*leaver) == later) return false;
    value = effect_of(case_.blocks.of(*leaver), *leaver).needs;
  }
  return false;
}

bool VersionChain::thread_saw(uint64_t value, BlockId before) const {
  const auto& read = case_.memory.values_of(variable_).read;
  auto readers = read.find(value);
  if (readers == read.end() || readers->second.size() > kLooked) return false;
  const Block& limit = case_.blocks.block(before);
  return std::any_of(readers->second.begin(), readers->second.end(), [&](EventIndex index) {
    if (index >= limit.first) return false;
    const BlockId reader = case_.blocks.of(index);
    return case_.blocks.must_precede(reader, before) && effect_of(reader, index).needs == value;
  });
}

bool VersionChain::exposes_intermediate(BlockId block) const {
  const std::optional<EventIndex> start = access_in(block);
  if (!start) return false;
  const Values& values = case_.memory.values_of(variable_);
  const auto& own = values.by_thread.at(case_.blocks.block(block).thread);
  for (auto it = std::lower_bound(own.begin(), own.end(), *start); it != own.end(); ++it) {
    if (case_.blocks.of(*it) != block) break;
    const Event& event = case_.trace.event(*it);
    if (!writes(event.kind) || event.value == case_.memory.initial(variable_)) continue;
    if (anyone_leaves(event.value)) continue;
    auto readers = values.read.find(event.value);
    if (readers == values.read.end() || readers->second.size() > kLooked) continue;
    for (EventIndex index : readers->second) {
      const BlockId reader = case_.blocks.of(index);
      if (reader != block && effect_of(reader, index).needs == event.value) return true;
    }
  }
  return false;
}

bool VersionChain::excluded_below(BlockId earlier, BlockId later) const {
  const std::optional<EventIndex> start = access_in(earlier), overwriting = access_in(later);
  if (!start || !overwriting || !effect_of(later, *overwriting).leaves) return false;
  BlockId current = earlier;
  std::optional<uint64_t> value = effect_of(earlier, *start).leaves;
  for (int link = 0; value && link < kLinks; ++link) {
    // `later` comes after `current`. Can it come before the next in the chain?
    const std::optional<EventIndex> leaver = only_leaver(*value);
    if (!leaver || case_.blocks.of(*leaver) != current || *value == case_.memory.initial(variable_))
      return false;
    const auto& read = case_.memory.values_of(variable_).read;
    auto readers = read.find(*value);
    std::optional<BlockId> replacing;
    std::optional<uint64_t> replaced_by;
    if (readers != read.end()) {
      if (readers->second.size() > kLooked) return false;
      for (EventIndex index : readers->second) {
        const BlockId reader = case_.blocks.of(index);
        const Effect effect = effect_of(reader, index);
        if (reader == current || effect.needs != *value) continue;
        if (reader == later) return false;
        if (case_.blocks.must_precede(later, reader)) return true;
        if (effect.leaves && effect.leaves != *value && !replacing) {
          replacing = reader;
          replaced_by = effect.leaves;
        }
      }
    }
    if (!replacing) return case_.final_writes && case_.memory.final(variable_) == *value;
    current = *replacing;
    value = replaced_by;
  }
  return false;
}

bool VersionChain::excluded_above(BlockId earlier, BlockId later) const {
  const std::optional<EventIndex> start = access_in(later), overwriting = access_in(earlier);
  if (!start || !overwriting || !effect_of(earlier, *overwriting).leaves) return false;
  std::optional<uint64_t> value = effect_of(later, *start).needs;
  for (int link = 0; value && link < kLinks; ++link) {
    // `earlier` comes before the reader of `value`, and does not leave it. Can it come after who left it?
    const bool initial = *value == case_.memory.initial(variable_);
    if (initial) return !anyone_leaves(*value);
    const std::optional<EventIndex> leaver = only_leaver(*value);
    if (!leaver) return false;
    const BlockId block = case_.blocks.of(*leaver);
    if (block == earlier) return false;
    if (case_.blocks.must_precede(block, earlier) || thread_saw(*value, earlier)) return true;
    value = effect_of(block, *leaver).needs;
  }
  return false;
}

}  // namespace cleave::judge
