// Which events belong together in a serial order: the units as blocks, every other event on its own; and the
// order among blocks that any execution must keep. Private to check/.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "judge/judge.h"
#include "trace/core/trace.h"

namespace cleave::judge {

enum class BlockId : uint32_t {};

struct Block {
  ThreadId thread;
  EventIndex first, last;
  bool declared = false;  // a unit; else a single event
  UnitNameId name = kNone<UnitNameId>;
};

// Blocks of accesses, forks and joins. Units may nest: for triples in a unit called `level`, units that
// contain such a unit are dissolved (they are another question), of the rest the outermost are blocks.
// O(events) to build.
class Blocks {
 public:
  Blocks(const Trace& trace, std::span<const UnitSpan> units, UnitNameId level);

  // kNone for events that are neither access, fork nor join and lie outside units.
  BlockId of(EventIndex event) const { return of_[raw(event)]; }
  const Block& block(BlockId id) const { return blocks_[raw(id)]; }
  size_t size() const { return blocks_.size(); }

  // The block that must have happened before any block of this thread starts (its fork), or kNone.
  BlockId forked_in(ThreadId thread) const { return forked_in_[raw(thread)]; }
  // The block that can only happen after all blocks of this thread (its join), or kNone.
  BlockId joined_in(ThreadId thread) const { return joined_in_[raw(thread)]; }
  // Whether every serial order has a before b, by program order, joins, then forks. Never true without cause;
  // paths that go down by a fork and up by another thread's join are not seen.
  bool must_precede(BlockId a, BlockId b) const;
  // Blocks with a fork or join, in trace order.
  std::span<const BlockId> life() const { return life_; }

 private:
  void cut(const Trace& trace, std::span<const UnitSpan> units, UnitNameId level);
  void read_thread_life(const Trace& trace);
  bool life_is_cyclic() const;

  std::vector<BlockId> of_;
  std::vector<Block> blocks_;
  std::vector<BlockId> forked_in_, joined_in_;
  std::vector<BlockId> life_;
};

}  // namespace cleave::judge
