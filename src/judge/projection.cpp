#include "judge/projection.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace cleave::judge {
namespace {

class Projector {
 public:
  Projector(const Case& judged, size_t most) : case_(judged), most_(most) {}

  std::optional<Projection> run() {
    if (!reach(case_.blocks.of(case_.triple.first))) return std::nullopt;
    for (BlockId id : case_.blocks.life()) blocks_.push_back(id);
    std::sort(blocks_.begin(), blocks_.end());
    blocks_.erase(std::unique(blocks_.begin(), blocks_.end()), blocks_.end());
    for (BlockId id : blocks_) add_step(id);
    link_threads();
    for (const auto& [variable, location] : locations_) add_conflicts(variable);
    return std::move(out_);
  }

 private:
  bool counts(VariableId variable) const {
    return case_.memory.shared(variable) && case_.memory.explained(variable);
  }

  // Breadth first over units and the locations they touch.
  bool reach(BlockId start) {
    std::unordered_map<uint32_t, bool> reached;
    blocks_.push_back(start);
    reached[raw(start)] = true;
    for (size_t next = 0; next < blocks_.size(); ++next) {
      const Block& block = case_.blocks.block(blocks_[next]);
      for (EventIndex index : case_.memory.accesses(block.thread, block.first, block.last)) {
        const Event& event = case_.trace.event(index);
        if (!counts(event.variable())) continue;
        if (!locations_.try_emplace(event.variable(), static_cast<uint32_t>(locations_.size())).second)
          continue;
        for (EventIndex access : case_.memory.accesses(event.variable())) {
          const BlockId id = case_.blocks.of(access);
          if (reached.try_emplace(raw(id), true).second) blocks_.push_back(id);
        }
        if (blocks_.size() > most_) return false;
      }
    }
    out_.initial.resize(locations_.size());
    out_.final.resize(locations_.size());
    for (const auto& [variable, location] : locations_) {
      out_.initial[location] = number(location, case_.memory.initial(variable));
      out_.final[location] = number(location, case_.memory.final(variable));
    }
    return true;
  }

  uint32_t number(uint32_t location, uint64_t value) {
    return numbers_.try_emplace({location, value}, static_cast<uint32_t>(numbers_.size())).first->second;
  }

  uint32_t dense(ThreadId thread) {
    auto [it, fresh] = threads_.try_emplace(thread, static_cast<uint32_t>(threads_.size()));
    if (fresh) out_.threads.emplace_back();
    return it->second;
  }

  void add_step(BlockId id) {
    const Block& block = case_.blocks.block(id);
    Step step{.block = id, .thread = dense(block.thread)};
    step.touches_begin = static_cast<uint32_t>(out_.touches.size());
    std::map<uint32_t, std::pair<Touch, uint64_t>>
        touched;  // by location, with what the unit itself sees there now
    for (EventIndex index : case_.memory.accesses(block.thread, block.first, block.last)) {
      const Event& event = case_.trace.event(index);
      auto location = locations_.find(event.variable());
      if (location == locations_.end()) continue;
      auto [it, fresh] = touched.try_emplace(location->second, Touch{location->second}, 0);
      auto& [touch, seen] = it->second;
      if (reads(event.kind)) {
        const uint64_t value = case_.memory.value_read(index);
        if (fresh) {
          touch.needs = number(touch.location, value);
          seen = value;
        } else if (seen != value) {
          out_.broken = true;
          out_.broken_block = id;
        }
      }
      if (writes(event.kind)) {
        touch.leaves = number(touch.location, event.value);
        seen = event.value;
      }
    }
    for (const auto& [location, entry] : touched) out_.touches.push_back(entry.first);
    step.touches_end = static_cast<uint32_t>(out_.touches.size());
    step_of_[raw(id)] = static_cast<uint32_t>(out_.steps.size());
    out_.threads[step.thread].push_back(static_cast<uint32_t>(out_.steps.size()));
    out_.steps.push_back(std::move(step));
  }

  void link_threads() {
    for (const auto& [thread, number] : threads_) {
      const BlockId fork = case_.blocks.forked_in(thread), join = case_.blocks.joined_in(thread);
      const auto& own = out_.threads[number];
      if (own.empty()) continue;
      if (fork != kNone<BlockId>) out_.steps[own.front()].waits_for = step_of_.at(raw(fork));
      if (join != kNone<BlockId>) out_.steps[step_of_.at(raw(join))].joins.push_back(number);
    }
    out_.values = static_cast<uint32_t>(numbers_.size());
  }

  // Only neighbouring conflicts: the others follow from them.
  void add_conflicts(VariableId variable) {
    constexpr uint32_t kNobody = UINT32_MAX;
    uint32_t writer = kNobody;
    std::vector<uint32_t> readers;  // since the last write
    auto conflict = [&](uint32_t before, uint32_t after) {
      if (before != kNobody && before != after) out_.conflicts.emplace_back(before, after);
    };
    for (EventIndex index : case_.memory.accesses(variable)) {
      const Event& event = case_.trace.event(index);
      const uint32_t step = step_of_.at(raw(case_.blocks.of(index)));
      conflict(writer, step);
      if (!writes(event.kind)) {
        if (readers.empty() || readers.back() != step) readers.push_back(step);
        continue;
      }
      for (uint32_t reader : readers) conflict(reader, step);
      readers.clear();
      writer = step;
    }
  }

  const Case& case_;
  size_t most_;
  std::vector<BlockId> blocks_;
  std::map<VariableId, uint32_t> locations_;
  std::map<ThreadId, uint32_t> threads_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> numbers_;
  std::unordered_map<uint32_t, uint32_t> step_of_;
  Projection out_;
};

}  // namespace

std::optional<Projection> project(const Case& judged, size_t most) { return Projector(judged, most).run(); }

}  // namespace cleave::judge
