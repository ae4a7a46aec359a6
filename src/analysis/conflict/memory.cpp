#include "analysis/conflict/memory.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>

namespace cleave::conflict {

bool Memory::any_live(const Graph& graph, const Event& event) {
  VariableState& state = at(event.variable());
  if (graph.alive(state.writer.node)) return true;
  if (!writes(event.kind)) return false;
  if (graph.alive(state.reader.node)) return true;
  if (state.more == 0) return false;
  const std::vector<Touch>& more = more_[state.more - 1];
  return std::any_of(more.begin(), more.end(), [&](const Touch& reader) { return graph.alive(reader.node); });
}

NodeRef Memory::holder(const Graph& graph, const Event& event) const {
  if (raw(event.variable()) >= states_.size()) return {};
  const VariableState& state = states_[raw(event.variable())];
  if (graph.open_in(state.writer.node, event.thread)) return state.writer.node;
  if (graph.open_in(state.reader.node, event.thread)) return state.reader.node;
  if (state.more == 0) return {};
  const std::vector<Touch>& more = more_[state.more - 1];
  size_t left = writes(event.kind) ? more.size() : std::min(more.size(), kReadersAsked);
  for (auto reader = more.rbegin(); left > 0; ++reader, --left) {
    if (graph.open_in(reader->node, event.thread)) return reader->node;
  }
  return {};
}

uint32_t Memory::take_more() {
  if (free_more_.empty()) {
    more_.emplace_back();
    return static_cast<uint32_t>(more_.size());
  }
  uint32_t index = free_more_.back();
  free_more_.pop_back();
  return index;
}

// `comes` takes the place of the reader in the state's line; that one goes to the others. Readers that are
// dead go, and so does what `comes` read before: of few at once, of many when they have become twice as many.
void Memory::keep_reader(const Graph& graph, VariableState& state, NodeRef comes) {
  constexpr size_t kFew = 16;
  if (state.more == 0) state.more = take_more();
  std::vector<Touch>& more = more_[state.more - 1];
  if (more.size() <= kFew) {
    std::erase_if(more,
                  [&](const Touch& reader) { return reader.node == comes || !graph.alive(reader.node); });
  } else if (more.size() == more.capacity()) {
    keep_last_reads(graph, more);
    if (more.size() > more.capacity() / 2) more.reserve(2 * more.capacity());
  }
  more.push_back(state.reader);
}

// What a unit that can still matter has read last. O(readers), expected.
void Memory::keep_last_reads(const Graph& graph, std::vector<Touch>& readers) {
  boost::unordered_flat_set<uint32_t> seen;
  auto kept = readers.rbegin();
  for (auto reader = readers.rbegin(); reader != readers.rend(); ++reader) {
    if (graph.alive(reader->node) && seen.insert(reader->node.index).second) *kept++ = *reader;
  }
  readers.erase(readers.begin(), kept.base());
}

void Memory::copy(VariableId whole, VariableId part) {
  reserve(std::max(raw(whole), raw(part)) + size_t{1});
  VariableState state = at(whole);
  VariableState& target = at(part);
  forget_readers(target, [](const Touch&) {});
  if (state.more != 0) {
    uint32_t list = take_more();
    more_[list - 1] = more_[state.more - 1];
    state.more = list;
  }
  target = state;
  target.named = false;
}

}  // namespace cleave::conflict
